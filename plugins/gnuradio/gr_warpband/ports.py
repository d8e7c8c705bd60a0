"""A conversion as a block: of streams, or of PDUs."""
import numpy as np
import pmt
from gnuradio import gr

# Those of pmt_to_python mix up int8 and uint8.
VECTORS = [(np.uint8, pmt.is_u8vector, pmt.u8vector_elements, pmt.init_u8vector),
           (np.int8, pmt.is_s8vector, pmt.s8vector_elements, pmt.init_s8vector),
           (np.int32, pmt.is_s32vector, pmt.s32vector_elements, pmt.init_s32vector),
           (np.float32, pmt.is_f32vector, pmt.f32vector_elements, pmt.init_f32vector),
           (np.complex64, pmt.is_c32vector, pmt.c32vector_elements, pmt.init_c32vector)]


def to_array(vector):
    for dtype, fits, elements, _ in VECTORS:
        if fits(vector):
            return np.array(elements(vector), dtype)
    raise ValueError("the PDU's vector is not allowed: expected one of u8, s8, s32, f32 or c32")


def to_pmt(value):
    if isinstance(value, np.ndarray):
        for dtype, _, _, make in VECTORS:
            if value.dtype == dtype:
                return make(value.size, value.ravel().tolist())
    return pmt.to_pmt(value)


class stream_block(gr.sync_block):
    """Items of streams in, items of streams out."""

    def __init__(self, *arguments, **settings):
        self.conversion = self.conversion_type(*arguments, **settings)
        ports = [[(dtype, (length,)) for _, dtype, length in side] for side in (self.conversion.inputs, self.conversion.outputs)]
        gr.sync_block.__init__(self, name=self.conversion.name, in_sig=ports[0], out_sig=ports[1])

    def work(self, input_items, output_items):
        self.conversion.convert(input_items, output_items)
        return len(output_items[0])


class pdu_block(gr.basic_block):
    """PDUs on port "in", PDUs on port "out". A PDU has one item or more; with several inputs each item has those of all, one after the other."""

    def __init__(self, *arguments, **settings):
        self.conversion = self.conversion_type(*arguments, **settings)
        gr.basic_block.__init__(self, name=self.conversion.name + " (PDU)", in_sig=None, out_sig=None)
        self.message_port_register_in(pmt.intern("in"))
        self.message_port_register_out(pmt.intern("out"))
        self.set_msg_handler(pmt.intern("in"), self._handle)

    def _handle(self, message):
        metadata = pmt.make_dict()
        try:
            if not pmt.is_pair(message) or not (pmt.is_null(pmt.car(message)) or pmt.is_dict(pmt.car(message))):
                raise ValueError("a message is not allowed: expected a PDU, a pair of metadata and a vector")
            if not pmt.is_null(pmt.car(message)):
                metadata = pmt.car(message)
            vector, facts = self._convert(to_array(pmt.cdr(message)), metadata)
        except (ValueError, TypeError, RuntimeError) as error:
            self.logger.error(str(error))
            _, dtype, _ = self.conversion.outputs[0]
            vector, facts = np.empty(0, dtype), {"error": str(error)}
        for name, value in facts.items():
            metadata = pmt.dict_add(metadata, pmt.intern(name), to_pmt(value))
        self.message_port_pub(pmt.intern("out"), pmt.cons(metadata, to_pmt(vector)))

    def _convert(self, values, metadata):
        inputs, outputs = self.conversion.inputs, self.conversion.outputs
        name, dtype, length = inputs[0]
        if dtype is np.int8 and values.dtype == np.uint8:  # the chars of GNU Radio's own blocks
            values = values.view(np.int8)
        if values.dtype != dtype:
            raise ValueError(f"{name} = a vector of {values.dtype} is not allowed: expected {np.dtype(dtype)}")
        item = length * len(inputs)
        if values.size == 0 or values.size % item:
            raise ValueError(f"{name} = a vector of {values.size} is not allowed: expected a multiple of {item}")
        values = values.reshape(-1, len(inputs), length)
        results = [np.empty((len(values), size), kind) for _, kind, size in outputs]
        request = {key: pmt.to_python(pmt.dict_ref(metadata, pmt.intern(key), pmt.PMT_NIL)) for key in ("rv", "first", "noise_var")
                   if pmt.dict_has_key(metadata, pmt.intern(key))}
        facts = self.conversion.convert([np.ascontiguousarray(values[:, i]) for i in range(len(inputs))], results, request)
        return results[0], facts


def both(conversion):
    """The conversion's blocks of streams and of PDUs."""
    body = {"conversion_type": conversion, "__module__": "gr_warpband"}
    if hasattr(conversion, "set_noise_var"):
        body["set_noise_var"] = lambda self, noise_var: self.conversion.set_noise_var(noise_var)
    name = conversion.__name__
    return (type(name, (stream_block,), {**body, "__doc__": conversion.__doc__}),
            type(name + "_pdu", (pdu_block,), {**body, "__doc__": f"The block ``{name}`` for PDUs.\n\n{conversion.__doc__}"}))

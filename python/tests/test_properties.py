"""Everything that takes arrays, with batches of any shape in any layout that has a view; and what it says of others."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warpband as wb

ONE = wb.cpu(threads=1)
CONV, LDPC, OFDM = wb.conv_80211(), wb.wifi_ldpc(n=648), wb.OfdmNumerology(fft_size=16, subcarriers=11, cyclic_prefix=3,
                                                                         first_cyclic_prefix=4, symbols_per_slot=2)
C64, F32, U8, F16 = "complex64", "float32", "uint8", "float16"


def case(call, *arguments):
    """A call and its arrays: name, type and the shape of an item. Without a shape every number is an item."""
    return call, [(name, dtype, shape) for name, dtype, shape in arguments]


def detector(kind, rx=3, **more):
    made = getattr(wb, kind)(streams=2, rx_antennas=rx, qam=4, executor=ONE, **more)
    return case(lambda h, y, n0, **more: made(h, y, n0, outputs=("llr", "bits", "status"), **more), ("channel", C64, (rx, 2)), ("received", C64, (rx,)),
                ("noise_var", F32, ()))


def all_of(made, **given):
    return lambda *arrays, **more: made(*arrays, **given, **more)


UPLINK = wb.MassiveUplink(antennas=9, users=3, qam=16, executor=ONE)
DOWNLINK = wb.MassiveDownlink(antennas=9, users=3, executor=ONE)
GOLDEN = {"type": "golden", "qam": 4, "executor": ONE}
TRANSPORT = {"transport_bits": 30, "coded_bits": 120, "executor": ONE}
APSK16 = wb.Constellation(type="16apsk", ring_ratios=[2.7], executor=ONE)
BCJR = wb.BcjrDecoder(code=CONV, k=10, executor=ONE)
PRIOR = wb.ML(streams=2, rx_antennas=2, qam=4, executor=ONE)
SOFT_OSD = ("bits", "soft", "iterations", "status")
SOFT = ("bits", "soft", "extrinsic", "iterations", "status")
DETECTORS = ("ML", "MatchedFilter", "ZeroForcing", "MMSE", "OnePassTrellis", "MultiPassTrellis", "KBest", "NWay", "Sphere", "PIC", "EP")
TDL = wb.TdlChannel(profile="epa", subcarriers=3, symbols=2, streams=2, rx_antennas=2, executor=ONE)
WIMAX = wb.WimaxFrame(profile="mobile_128", frame_ms=2, downlink_share=0.4, map_modulation="qpsk", map_repetition=1, executor=ONE)
SPARSE = wb.ParityCheckMatrix(matrix=[[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1]])
CASES = {
    **{kind: detector(kind) for kind in DETECTORS},
    "ML with priors": case(lambda h, y, n0, p, **more: PRIOR(h, y, n0, prior=p, **more), ("channel", C64, (2, 2)), ("received", C64, (2,)),
                           ("noise_var", F32, ()), ("prior", F32, (4,))),
    "MassiveUplink": case(all_of(UPLINK, outputs=("llr", "equalized", "sinr", "status", "llr_int8")), ("channel", C64, (9, 3)),
                          ("received", C64, (9,)), ("noise_var", F32, ())),
    "MassiveUplink of halves": case(UPLINK, ("channel", F16, (9, 3, 2)), ("received", F16, (9, 2)), ("noise_var", F32, ())),
    "MassiveDownlink": case(all_of(DOWNLINK, outputs=("precoded", "status")), ("channel", C64, (9, 3)), ("sent", C64, (3,)),
                            ("noise_var", F32, ())),
    "MassiveDownlink of halves": case(DOWNLINK, ("channel", F16, (9, 3, 2)), ("sent", C64, (3,)), ("noise_var", F32, ())),
    "StbcEncoder": case(wb.StbcEncoder(**GOLDEN), ("bits", U8, (8,))),
    "StbcEncoder of symbols": case(wb.StbcEncoder(**GOLDEN).encode_symbols, ("symbols", C64, (4,))),
    "StbcDecoder": case(all_of(wb.StbcDecoder(**GOLDEN, rx_antennas=3), outputs=("llr", "bits", "status")), ("channel", C64, (3, 2)),
                        ("received", C64, (2, 3)), ("noise_var", F32, ())),
    "TurboEncoder": case(wb.TurboEncoder(k=40, executor=ONE), ("bits", U8, (40,))),
    "TurboDecoder": case(all_of(wb.TurboDecoder(k=40, iterations=2, executor=ONE), outputs=SOFT), ("llr", F32, (132,))),
    "TurboDecoder in int16": case(all_of(wb.TurboDecoder(k=40, precision="int16", algorithm="max-log-map", executor=ONE),
                                         outputs=("bits", "iterations", "status")), ("llr", F32, (132,))),
    "LdpcEncoder": case(wb.LdpcEncoder(code=LDPC, executor=ONE), ("bits", U8, (LDPC.k,))),
    "LdpcDecoder": case(all_of(wb.LdpcDecoder(code=LDPC, iterations=3, executor=ONE), outputs=SOFT), ("llr", F32, (648,))),
    "LdpcDecoder in int8": case(wb.LdpcDecoder(code=LDPC, iterations=3, precision="int8", executor=ONE), ("llr", F32, (648,))),
    "SparseLdpcEncoder": case(wb.SparseLdpcEncoder(matrix=SPARSE, executor=ONE), ("bits", U8, (3,))),
    "SparseLdpcDecoder": case(all_of(wb.SparseLdpcDecoder(matrix=SPARSE, iterations=3, executor=ONE), outputs=SOFT), ("llr", F32, (6,))),
    "BchEncoder": case(wb.BchEncoder(field_degree=4, corrects=2, n=15, executor=ONE), ("bits", U8, (7,))),
    "BchDecoder": case(all_of(wb.BchDecoder(field_degree=4, corrects=2, n=15, executor=ONE), outputs=("bits", "corrected", "status")),
                       ("received", U8, (15,))),
    "BpOsd": case(all_of(wb.BpOsd(pcm=SPARSE, error_rate=0.1, max_iter=3, executor=ONE), outputs=SOFT_OSD), ("syndrome", U8, (4,))),
    "BpOsd.words": case(all_of(wb.BpOsd(pcm=SPARSE, max_iter=3, executor=ONE).words, outputs=SOFT_OSD), ("llr", F32, (6,))),
    "ConvEncoder": case(wb.ConvEncoder(code=CONV, k=10, executor=ONE), ("bits", U8, (10,))),
    "ViterbiDecoder": case(all_of(wb.ViterbiDecoder(code=CONV, k=10, executor=ONE), outputs=("bits", "metric", "status")),
                           ("llr", F32, (32,))),
    "BcjrDecoder": case(lambda llr, prior, **more: BCJR(llr, prior=prior, outputs=("soft", "extrinsic"), **more),
                        ("llr", F32, (32,)), ("prior", F32, (10,))),
    "CrcAttacher": case(wb.CrcAttacher(n=20, crc="crc8", executor=ONE), ("bits", U8, (20,))),
    "CrcAttacher.check": case(wb.CrcAttacher(n=7, crc=(0b111, 2), executor=ONE).check, ("bits", U8, (9,))),
    "LteTransportEncoder": case(wb.LteTransportEncoder(**TRANSPORT), ("bits", U8, (30,))),
    "LteTransportDecoder": case(all_of(wb.LteTransportDecoder(**TRANSPORT, iterations=2),
                                       outputs=("bits", "ok", "block_ok", "iterations", "status")), ("llr", F32, (120,))),
    "QamMapper": case(wb.QamMapper(qam=16, executor=ONE), ("bits", U8, None)),
    "Demapper": case(all_of(wb.Demapper(qam=4, executor=ONE)), ("received", C64, None), ("noise_var", F32, None)),
    "Constellation.map": case(APSK16.map, ("bits", U8, None)),
    "Constellation.demap": case(all_of(APSK16.demap), ("received", C64, None), ("noise_var", F32, None)),
    "OfdmModulator": case(wb.OfdmModulator(numerology=OFDM, executor=ONE), ("values", C64, (2, 11))),
    "OfdmDemodulator": case(wb.OfdmDemodulator(numerology=OFDM, executor=ONE), ("samples", C64, (OFDM.samples_per_slot,))),
    "qr": case(lambda a, y, **more: wb.qr(a, y=y, outputs=("q", "r", "z", "status"), method="householder", executor=ONE, **more),
               ("a", C64, (4, 3)), ("y", C64, (4,))),
    "qr of real numbers": case(all_of(wb.qr, executor=ONE), ("a", F32, (16, 16))),
    "cholesky": case(lambda a, b, **more: wb.cholesky(a, b=b, outputs=("r", "x", "status"), executor=ONE, **more), ("a", C64, (3, 3)),
                     ("b", C64, (3,))),
    "effective_sinr": case(lambda sinrs, **more: wb.effective_sinr(sinrs, outputs=("effective", "status"), decibel=True, mixed=[4, 16, 64, 4, 16],
                                                            executor=ONE, **more), ("sinrs", F32, (5,))),
    "awgn": case(all_of(wb.awgn, noise_var=0.5, seed=1, executor=ONE), ("sent", C64, None)),
    "binary_channel": case(all_of(wb.binary_channel, kind="bec", probability=0.3, seed=1, executor=ONE), ("bits", U8, None)),
    "Impairments": case(all_of(wb.Impairments(cfo_hz=1e5, delay_samples=0.3, linewidth_hz=50, noise_var=0.1, converter_bits=9, executor=ONE),
                               outputs=("received", "erased")), ("samples", C64, (40,))),
    "rayleigh": case(all_of(wb.rayleigh, seed=1, executor=ONE), ("sent", C64, None)),
    "mimo_rayleigh": case(all_of(wb.mimo_rayleigh, rx_antennas=2, seed=1, executor=ONE), ("sent", C64, (3,))),
    "KroneckerChannel": case(all_of(wb.KroneckerChannel(streams=3, rx_antennas=4, tx_correlation=np.full((3, 3), 1.0), executor=ONE),
                                    seed=1), ("sent", C64, (3,))),
    "TdlChannel": case(all_of(TDL, seed=1), ("sent", C64, (2, 3, 2))),
    "WimaxFrame.receive": case(all_of(WIMAX.receive, outputs=("bits_1", "llr_1", "map_status", "channel", "noise_var")),
                               ("received", C64, (8, 72, 2)), ("noise_var", F32, ())),
}


def numbers(rng, name, dtype, shape):
    if name == "noise_var":
        return rng.uniform(0.2, 2, shape).astype(dtype)
    if dtype == U8:
        return rng.integers(0, 2, shape, dtype=np.uint8)
    x = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return np.asarray(x if dtype == C64 else x.real, dtype)


def laid_out(array, axes, layout):
    """The same numbers, the last `axes` of which are an item, elsewhere in memory."""
    batch, item = array.shape[:array.ndim - axes], array.shape[array.ndim - axes:]
    if layout == "every second" and batch:
        return np.repeat(array, 2, len(batch) - 1)[(slice(None),) * (len(batch) - 1) + (slice(None, None, 2),)]
    if layout == "part of a wider one" and item:
        return np.pad(array, [(0, 0)] * len(batch) + [(1, 2)] + [(0, 0)] * (axes - 1))[(slice(None),) * len(batch) + (slice(1, -2),)]
    if layout == "batch fastest" and item and array.dtype != np.float16:
        order = list(range(len(batch), array.ndim)) + list(range(len(batch)))
        return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))
    return np.array(array, order="C")


LAYOUTS = st.sampled_from(["contiguous", "every second", "part of a wider one", "batch fastest"])


def tuple_of(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2 ** 32), batch=st.lists(st.integers(0, 4), max_size=3), data=st.data())
def test_any_batch_in_any_layout(name, seed, batch, data):
    """The items of a batch of any shape are those of one long contiguous batch."""
    call, arguments = CASES[name]
    rng, batch = np.random.default_rng(seed), tuple(batch)
    if arguments[0][2] is None:  # every number is an item
        batch = (*batch, 8)
    count = int(np.prod(batch))
    arrays = [numbers(rng, argument, dtype, batch + (shape or ())) for argument, dtype, shape in arguments]
    flat = [a.reshape((count,) + (shape or ())) for a, (_, _, shape) in zip(arrays, arguments)]
    wanted = tuple_of(call(*flat))
    layouts = st.just("contiguous") if name == "TdlChannel" else LAYOUTS  # its items are the resource elements of all blocks
    got = tuple_of(call(*(laid_out(a, len(shape or ()), data.draw(layouts)) for a, (_, _, shape) in zip(arrays, arguments))))
    for one, other in zip(got, wanted, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == (batch + other.shape[1:] if arguments[0][2] is not None else batch[:-1] + (one.shape[-1],))
        assert one.ravel().tobytes() == other.ravel().tobytes()


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_other_types_and_shapes_are_told_by_name(name, data):
    call, arguments = CASES[name]
    rng, batch = np.random.default_rng(1), (3,) if arguments[0][2] is not None else (3, 8)
    arrays = [numbers(rng, argument, dtype, batch + (shape or ())) for argument, dtype, shape in arguments]
    index = data.draw(st.integers(0, len(arguments) - 1))
    argument, dtype, shape = arguments[index]
    if shape and argument != "sent" and name != "Impairments" and data.draw(st.booleans()):
        axis = data.draw(st.integers(1, len(shape)))
        bad = np.repeat(arrays[index], 2, axis)
    else:
        allowed = {U8: ["bool"], F32: ["int8"] if argument == "llr" else []}.get(dtype, [])
        other = data.draw(st.sampled_from(["float64", "complex128", "int32", "int64", "float32", "uint16", "int8"])
                          .filter(lambda d: d != dtype and d not in allowed))
        bad = (arrays[index].real if other[0] != "c" else arrays[index]).astype(other)
    arrays[index] = bad
    with pytest.raises(ValueError, match=f"{argument} = .* is not allowed: expected|{argument}.*shape"):
        call(*arrays, strict=True)


FORMS = {
    "wide": lambda a: a.astype({"c": "complex128", "f": "float64", "u": "int64"}[a.dtype.kind]),
    "other byte order": lambda a: a.astype(a.dtype.newbyteorder(">")),
    "Fortran": np.asfortranarray,
    "reversed twice": lambda a: a[..., ::-1].copy()[..., ::-1],
    "list": lambda a: a.tolist(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_arrays_of_numpy_are_taken_as_they_are(name, form):
    call, arguments = CASES[name]
    rng, batch = np.random.default_rng(1), (3, 2) if arguments[0][2] is not None else (3, 8)
    arrays = [numbers(rng, argument, dtype, batch + (shape or ())) for argument, dtype, shape in arguments]
    halves = any(dtype == F16 for _, dtype, _ in arguments)
    given = [a if halves and form in ("wide", "list") else FORMS[form](a) for a in arrays]
    for one, other in zip(tuple_of(call(*given)), tuple_of(call(*arrays)), strict=True):
        assert type(one) is np.ndarray and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    if any(type(a) is list or a.dtype != b.dtype for a, b in zip(given, arrays)):
        with pytest.raises((TypeError, ValueError), match="expected"):
            call(*given, strict=True)

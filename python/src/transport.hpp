#pragma once
// What the decoders of transport blocks have in common.
#include <warpband/fec/transport/transport.hpp>

namespace wb::python {

/// Combines a transmission and decodes. What is refused leaves the decoder and a caller's memory as they
/// were. A call with memory of the caller ends the series that the decoder keeps, so that no later call adds
/// to the caller's blocks.
template <class Decoder, class Output>
void decode_transmission(Decoder& decoder, executor& exec, const llr_batch& llr, int rv, bool first,
                         const harq_memory& memory, const Output& out) {
  const bool of_caller = memory.data.data != nullptr;
  check_range("rv", rv, 0, 3);
  check_shape("llr", llr, llr.items, static_cast<std::size_t>(decoder.config().coded_bits));
  if (of_caller) decoder.check_memory(memory);
  if (first || of_caller) decoder.reset();
  if (!of_caller) {
    decoder.combine(exec, llr, rv);
    decoder.decode(exec, out);
    return;
  }
  try {
    if (!first) decoder.resume(exec, memory);
    decoder.combine(exec, llr, rv);
    decoder.keep(exec, memory);
    decoder.decode(exec, out);
  } catch (...) {
    decoder.reset();
    throw;
  }
  decoder.reset();
}

}  // namespace wb::python

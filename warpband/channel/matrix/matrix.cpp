#include <warpband/channel/matrix/matrix.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(matrix_channel)

namespace {

void run(executor& exec, view<const std::complex<float>> channel, view<const std::complex<float>> in,
         view<std::complex<float>> out, std::size_t shared, float scale, bool adjoint) {
  const std::size_t vectors = in.items;
  if (shared < 1 || shared > 1 << 24)
    throw argument_error("vectors_per_channel", std::to_string(shared), "1 to " + std::to_string(1 << 24));
  if (vectors % shared != 0)
    throw shape_error("in", shape_text(vectors, in.elements),
                      "a multiple of vectors_per_channel = " + std::to_string(shared));
  constexpr std::size_t max_elements = 1 << 15;
  if (in.elements < 1 || in.elements > max_elements || out.elements < 1 || out.elements > max_elements)
    throw shape_error("in", shape_text(vectors, in.elements), "1 to 32768 elements on both sides");
  check_shape("in", in, vectors, in.elements);
  check_shape("out", out, vectors, out.elements);
  check_shape("channel", channel, vectors / shared, in.elements * out.elements);
  const int inputs = static_cast<int>(in.elements), outputs = static_cast<int>(out.elements);
  const matrix_channel_args a{adjoint ? inputs : outputs,
                              adjoint ? outputs : inputs,
                              shared,
                              scale,
                              adjoint,
                              as_pairs(channel),
                              as_pairs(in),
                              as_pairs(out)};
  exec.run(matrix_channel_kernels(), &a, vectors);
}

}  // namespace

void apply_channel(executor& exec, view<const std::complex<float>> channel,
                   view<const std::complex<float>> in, view<std::complex<float>> out,
                   std::size_t vectors_per_channel, float scale) {
  run(exec, channel, in, out, vectors_per_channel, scale, false);
}
void apply_adjoint_channel(executor& exec, view<const std::complex<float>> channel,
                           view<const std::complex<float>> in, view<std::complex<float>> out,
                           std::size_t vectors_per_channel, float scale) {
  run(exec, channel, in, out, vectors_per_channel, scale, true);
}

}  // namespace wb

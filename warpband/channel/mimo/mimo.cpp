#include <warpband/channel/mimo/mimo.hpp>

#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>

namespace wb {

WB_DECLARE_KERNEL(mimo_rayleigh)

void apply_mimo_rayleigh(executor& exec, view<const std::complex<float>> in, view<std::complex<float>> out,
                         view<std::complex<float>> channel, std::size_t uses_per_channel, random_range range,
                         rician_amplitudes rice) {
  const std::size_t uses = in.items, shared = uses_per_channel;
  if (shared < 1 || shared > 1 << 24)
    throw argument_error("uses_per_channel", std::to_string(shared), "1 to " + std::to_string(1 << 24));
  if (in.elements < 1 || in.elements > 64)
    throw shape_error("in", shape_text(uses, in.elements), "rows of 1 to 64 streams");
  if (out.elements < 1 || out.elements > 512)
    throw shape_error("out", shape_text(out.items, out.elements), "rows of 1 to 512 antennas");
  if (uses % shared != 0)
    throw shape_error("in", shape_text(uses, in.elements),
                      "a multiple of uses_per_channel = " + std::to_string(shared));
  check_shape("in", in, uses, in.elements);
  check_shape("out", out, uses, out.elements);
  check_shape("channel", channel, uses / shared, in.elements * out.elements);
  check_apart({{"out", out}, {"channel", channel}});
  const mimo_rayleigh_args a{static_cast<int>(in.elements),
                             static_cast<int>(out.elements),
                             shared,
                             as_pairs(in),
                             as_pairs(out),
                             as_pairs(channel),
                             range.seed,
                             range.first,
                             range.point,
                             rice};
  exec.run(mimo_rayleigh_kernels(), &a, uses / shared);
}

void draw_mimo_rayleigh(executor& exec, view<std::complex<float>> channel, int streams, random_range range,
                        rician_amplitudes rice) {
  check_range("streams", streams, 1, 64);
  const std::size_t n = static_cast<std::size_t>(streams);
  if (channel.elements < n || channel.elements % n != 0 || channel.elements / n > 512)
    throw shape_error("channel", shape_text(channel.items, channel.elements),
                      "rows of 1 to 512 antennas of " + std::to_string(streams) + " streams");
  check_shape("channel", channel, channel.items, channel.elements);
  mimo_rayleigh_args a;
  a.streams = streams;
  a.rx_antennas = static_cast<int>(channel.elements / n);
  a.channel = as_pairs(channel);
  a.seed = range.seed;
  a.first = range.first;
  a.point = range.point;
  a.rice = rice;
  exec.run(mimo_rayleigh_kernels(), &a, channel.items);
}

}  // namespace wb

#include <warpband/air/binary.hpp>

namespace wb {
namespace {

template <class Config>
air_kind binary_air(std::string text, binary_channel (*channel)(double)) {
  return {.name = std::string(air_name<Config>),
          .text = std::move(text),
          .keys = {},
          .serves = [](const air_antennas& a) { return a.system == air_system::single; },
          .fading = [](const box&) { return air_fading::none; },
          .of_bits = [channel](const box&, double probability) { return channel(probability); },
          .make = {}};
}

}  // namespace

air_kind bsc_air() {
  return binary_air<bsc_config>("The binary symmetric channel: a bit is flipped with sweep.probability.",
                                binary_symmetric_channel);
}
air_kind bec_air() {
  return binary_air<bec_config>("The binary erasure channel: a bit is erased with sweep.probability.",
                                binary_erasure_channel);
}
air_kind z_air() {
  return binary_air<z_config>("The Z-channel: a 1 becomes 0 with sweep.probability, a 0 stays.", z_channel);
}

}  // namespace wb

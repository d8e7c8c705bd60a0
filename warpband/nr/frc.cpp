#include <warpband/nr/frc.hpp>

#include <warpband/core/error.hpp>
#include <warpband/core/setting.hpp>

namespace wb {
namespace {

struct carrier_size {
  int spacing_khz, resource_blocks;
};

}  // namespace

nr_channel_config nr_reference_channel::channel() const {
  return {.carrier = {.spacing_khz = spacing_khz, .resource_blocks = resource_blocks},
          .layers = layers,
          .dmrs = {.additional_positions = additional_positions},
          .transform_precoding = transform_precoding};
}

const std::vector<nr_reference_channel>& nr_reference_channels() {
  static const std::vector<nr_reference_channel> channels = [] {
    std::vector<nr_reference_channel> list;
    const auto add = [&](const std::string& table, int number, carrier_size size, int layers, int more,
                         int mcs) {
      list.push_back({"G-FR1-" + table + "-" + std::to_string(number), size.spacing_khz, size.resource_blocks,
                      layers, more, mcs, false});
    };
    const carrier_size first[] = {{15, 25}, {30, 11}, {60, 11}, {15, 106}, {30, 51},
                                  {60, 24}, {15, 15}, {30, 6},  {60, 6}};
    for (int i = 0; i < 9; i++) add("A1", i + 1, first[i], 1, 1, 4);
    for (int i = 0; i < 6; i++) add("A2", i + 1, first[i], 1, 1, 16);
    const carrier_size carriers[] = {{15, 25}, {15, 52}, {15, 106}, {30, 24}, {30, 51}, {30, 106}, {30, 273}};
    // Seven carriers with DMRS in one position, then in two; then with two layers.
    for (int i = 0; i < 28; i++) add("A3", i + 1, carriers[i % 7], i / 14 + 1, i / 7 % 2, 2);
    for (int i = 0; i < 28; i++) add("A4", i + 1, carriers[i % 7], i / 14 + 1, i / 7 % 2, 16);
    for (int i = 0; i < 2; i++) {
      add("A3", 31 + i, i == 0 ? carriers[0] : carriers[3], 1, 1, 2);
      list.back().transform_precoding = true;
    }
    // Four layers; the standard leaves numbers out.
    const carrier_size four[] = {{15, 25}, {30, 24}, {30, 273}};
    const int of_a3[] = {39, 41, 42}, of_a7[] = {1, 3, 4};
    for (int i = 0; i < 3; i++) add("A3", of_a3[i], four[i], 4, 1, 2);
    for (int i = 0; i < 3; i++) add("A7", of_a7[i], four[i], 4, 1, 12);
    for (int i = 0; i < 14; i++) add("A5", i + 1, carriers[i % 7], 1, i / 7, 20);
    return list;
  }();
  return channels;
}

const nr_reference_channel& nr_reference_channel_named(const std::string& name) {
  for (const nr_reference_channel& r : nr_reference_channels())
    if (same_word(r.name, name)) return r;
  throw argument_error("frc", as_message(setting_value(name)),
                       "\"G-FR1-A1-1\" to -9, A2-1 to -6, A3-1 to -28, -31, -32, -39, -41, -42, A4-1 to -28, "
                       "A5-1 to -14, A7-1, -3, -4");
}

}  // namespace wb

// Slots of PUSCH.
#include <warpband/receive/pusch.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpband/c/device.hpp>
#include <warpband/c/errors.hpp>
#include <warpband/c/packed_rows.hpp>
#include <warpband/c/settings_text.hpp>
#include <warpband/c/transfer.hpp>

namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

/// Takes the settings with a prefix out of a list, without it.
pairs taken(pairs& given, std::string_view prefix) {
  pairs of_prefix, rest;
  for (auto& [name, value] : given) {
    const bool begins = name.starts_with(prefix);
    (begins ? of_prefix : rest).emplace_back(begins ? name.substr(prefix.size()) : name, std::move(value));
  }
  given = std::move(rest);
  return of_prefix;
}

/// The channel with its MCS.
const std::vector<wb::setting_of<wb::pusch_chain_config>>& slot_settings() {
  using config = wb::pusch_chain_config;
  static const auto settings = [] {
    auto list = wb::within<config>([](config& c) -> auto& { return c.channel; }, wb::nr_channel_settings());
    list.push_back(wb::integer("mcs_table", &config::mcs_table, 1, 3, "Table of the MCS."));
    list.push_back(wb::integer("mcs", &config::mcs, 0, 31, "Index of the MCS."));
    return list;
  }();
  return settings;
}

wb::pusch_chain_config config_of(const char* settings, std::uint32_t rx_antennas) {
  wb::pusch_chain_config c;
  pairs given = wb::c::settings_of_text(settings);
  const pairs estimator = taken(given, "estimator."), detector = taken(given, "detector."),
              decoder = taken(given, "decoder.");
  for (auto it = given.begin(); it != given.end(); ++it)
    if (it->first == "detector") {
      c.detector.type = it->second;
      given.erase(it);
      break;
    }
  c.detector.rx_antennas = rx_antennas > INT32_MAX ? INT32_MAX : static_cast<int>(rx_antennas);
  wb::c::take_settings(slot_settings(), given, {"channel"}, c);
  wb::c::take_settings(wb::estimator_settings(), estimator, {}, c.estimator, "estimator.");
  wb::c::take_settings(wb::settings_of(c.detector.kind()), detector,
                       {"type", "streams", "rx_antennas", "qam"}, c.detector, "detector.");
  wb::c::take_settings(wb::ldpc_decoder_settings(), decoder, {}, c.decoder, "decoder.");
  return c;
}

}  // namespace

/// Threads: one at a time.
struct wb_pusch {
 public:
  wb_pusch(wb_device& device, const wb::pusch_chain_config& config)
      : lane_(device), chain_(wb::make_pusch_chain(config)) {}
  std::size_t elements() const noexcept { return chain_->inputs()[0].rows; }
  std::size_t transport_bits() const noexcept { return chain_->outputs()[0].elements; }

  void run(std::size_t slots, const float* received, const float* noise_var, std::uint8_t* bits,
           std::uint8_t* ok, std::uint8_t* status) {
    wb::executor& exec = lane_.exec();
    const std::size_t rx = chain_->inputs()[0].elements;
    wb::c::product("slots", slots, 8 * (elements() * rx + transport_bits()));
    if (slots > most_slots_) {
      run_ = nullptr;
      most_slots_ = 0;
      run_ = chain_->attach(exec, slots);
      most_slots_ = slots;
    }
    wb::frame_arrays arrays;
    arrays.inputs[0] = received_.input(exec, received, slots * elements(), rx).data;
    arrays.inputs[1] = noise_var_.input(exec, noise_var, 1, 1).data;
    const auto bits_of = bits_.room(exec, slots, transport_bits());
    const auto ok_of = wb::make_view(ok_.room(exec, slots), slots);
    const auto status_of = wb::make_view(status_.room(exec, slots), slots);
    arrays.outputs[0] = bits_of.data;
    arrays.outputs[1] = ok_of.data;
    arrays.outputs[2] = status_of.data;
    arrays.items = arrays.frame_items = slots;
    for (std::size_t stage = 0; stage < chain_->stages().size(); stage++) run_(stage, arrays);
    if (ok != nullptr) ok_.fetch(exec, ok, ok_of);
    if (status != nullptr) status_.fetch(exec, status, status_of);
    bits_.fetch(exec, bits, bits_of);
    exec.sync();
  }

 private:
  wb::c::kept_lane lane_;
  std::unique_ptr<wb::frame_receiver> chain_;
  wb::frame_run run_;
  std::size_t most_slots_ = 0;
  wb::c::transfer<std::complex<float>> received_;
  wb::c::transfer<float> noise_var_;
  wb::c::packed_rows bits_;
  wb::c::transfer<std::uint8_t> ok_, status_;
};

extern "C" {

wb_status wb_pusch_open(wb_device* device, const char* settings, uint32_t rx_antennas, wb_pusch** pusch) {
  return wb::c::guarded([&] {
    wb::c::check_given("pusch", pusch);
    *pusch = nullptr;
    wb::c::check_given("device", device);
    *pusch = new wb_pusch(*device, config_of(settings, rx_antennas));
  });
}
void wb_pusch_close(wb_pusch* pusch) { delete pusch; }
size_t wb_pusch_elements(const wb_pusch* pusch) { return pusch == nullptr ? 0 : pusch->elements(); }
size_t wb_pusch_transport_bits(const wb_pusch* pusch) {
  return pusch == nullptr ? 0 : pusch->transport_bits();
}
wb_status wb_pusch_run(wb_pusch* pusch, size_t slots, const float* received, const float* noise_var,
                       uint8_t* bits, uint8_t* ok, uint8_t* status) {
  return wb::c::guarded([&] {
    wb::c::check_given("pusch", pusch);
    if (slots == 0) return;
    wb::c::check_given("received", received);
    wb::c::check_given("noise_var", noise_var);
    pusch->run(slots, received, noise_var, bits, ok, status);
  });
}

}  // extern "C"

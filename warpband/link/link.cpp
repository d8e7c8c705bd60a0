#include <warpband/link/link.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <warpband/code/dvb_s2.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/modem/qam/qam.hpp>

namespace wb {
namespace {

/// Information is measured where a frame's LLRs are there, and once.
void check_information(const link_config& c) {
  const auto refuse = [](const std::string& kind) {
    throw argument_error("mutual_information", "true", "false with " + kind);
  };
  if (c.receiver) refuse("a receiver in a loop, whose EXIT chart shows the information");
  if (is_transport(c.code)) refuse("code.type = \"" + c.code.type + "\"");
  if (const std::string uncoded(c.antennas.kind().decides_uncoded); !uncoded.empty() && is_uncoded(c.code))
    refuse(uncoded + ", which is decided without LLRs");
}

/// Bits have a probability and no constellation, symbols have an SNR.
void check_axis(const link_config& c) {
  const bool of_bits = is_of_bits(c.channel), over_probability = c.axis == snr_axis::probability;
  const std::string with = " with channel.type = \"" + c.channel.type + '"';
  if (of_bits != over_probability)
    throw argument_error("axis", '"' + std::string(name_of(c.axis)) + '"',
                         (of_bits ? "\"probability\"" : "\"ebn0_db\", \"snr_db\" or \"esn0_db\"") + with);
  if (of_bits && (c.constellation || c.qam != 2))
    throw argument_error("modulation", '"' + name_of_modulation(c) + '"', "\"bpsk\"" + with);
}

/// The settings of the code where the standard says how its frames are sent in these symbols.
const dvb_s2_settings* frame_of_dvb_s2(const link_config& c) {
  const bool named = c.constellation && c.constellation->type != "points";
  return named && c.code.type == "dvb-s2" ? &c.code.settings.get<dvb_s2_settings>() : nullptr;
}

void complete_constellation(link_config& c) {
  if (!c.constellation) return;
  constellation_config& points = *c.constellation;
  const antenna_kind& kind = c.antennas.kind();
  if (!kind.takes_constellations)
    throw argument_error("modulation", '"' + points.type + '"',
                         "square QAM with antennas of kind \"" + std::string(kind.name) + '"');
  try {
    points = without_idle(constellation_settings(), points);
    if (const dvb_s2_settings* frame = frame_of_dvb_s2(c)) {
      const std::vector<double> ratios = dvb_s2_ring_ratios(points.type, frame->rate);
      if (points.ring_ratios.empty()) points.ring_ratios = ratios;
    }
    (void)constellation(points);  // throws
  } catch (const argument_error& error) {
    if (error.argument() == "rate") throw argument_error("code.rate", error.value(), error.allowed());
    if (error.argument() == "type") throw argument_error("modulation", error.value(), error.allowed());
    throw;
  }
}

}  // namespace

const char* name_of(snr_axis a) noexcept {
  constexpr const char* names[] = {"ebn0_db", "snr_db", "esn0_db", "probability"};
  return names[static_cast<std::size_t>(a)];
}
const char* title_of(snr_axis a) noexcept {
  constexpr const char* titles[] = {"Eb/N0", "SNR", "Es/N0", "probability"};
  return titles[static_cast<std::size_t>(a)];
}
const char* unit_of(snr_axis a) noexcept { return a == snr_axis::probability ? "" : " dB"; }

// ---- what kinds complete

code_config mapped_code(const link_config& c) { return mapped_to(c.code, bits_per_symbol(c), streams_of(c)); }

air_antennas complete_channel(link_config& c) {
  air_antennas antennas = air_antennas_of(c);
  complete(c.channel, antennas);
  return antennas;
}

void complete_uses(link_config& c) {
  const int streams = streams_of(c);
  if (is_transport(c.code)) {
    if (streams > 4)
      throw argument_error("streams", std::to_string(streams), "1 to 4 with \"" + c.code.type + "\"");
    c.code = mapped_code(c);
  }
  c.code = completed(c.code);
  complete_channel(c);
}

void refuse_loop(const link_config& c, const std::string& allowed) {
  throw argument_error("outer", std::to_string(c.receiver->outer), allowed);
}

void check_bit_loop(const link_config& c, const std::string& setting) {
  if (is_uncoded(c.code) || is_transport(c.code))
    refuse_loop(c, "unset with code.type = \"" + c.code.type + "\"");
  if (c.receiver->outer == 1) return;
  if (!setting.empty()) refuse_loop(c, "1 with " + setting + ", which takes no a-priori LLRs");
  if (!gives_extrinsic(c.code)) refuse_loop(c, "1 with a decoder that gives no extrinsic LLRs of coded bits");
}

link_config completed(const link_config& config) {
  link_config c = config;
  bits_per_symbol(c.qam);
  complete_constellation(c);
  const antenna_kind& kind = c.antennas.kind();
  kind.complete(c);
  if (c.receiver) {
    check_settings(receiver_settings(), *c.receiver);
    kind.check_loop(c);
  }
  check_axis(c);
  if (c.mutual_information) check_information(c);
  return c;
}

// ---- sizes

int bits_per_symbol(const link_config& c) {
  return c.constellation ? bits_per_symbol(*c.constellation) : bits_per_symbol(c.qam);
}
std::string name_of_modulation(const link_config& c) {
  return c.constellation ? c.constellation->type : name_of_modulation(c.qam);
}
std::vector<std::int32_t> bit_order_of(const link_config& c) {
  const dvb_s2_settings* frame = frame_of_dvb_s2(c);
  return frame != nullptr ? dvb_s2_bit_order(*frame, bits_per_symbol(c)) : std::vector<std::int32_t>{};
}

int streams_of(const link_config& c) noexcept { return c.antennas.kind().streams(c); }
int rx_antennas_of(const link_config& c) noexcept { return c.antennas.kind().rx_antennas(c); }
bool erases_uses(const link_config& c) noexcept { return c.antennas.kind().erases_uses; }
int outer_iterations(const link_config& c) noexcept { return c.receiver ? c.receiver->outer : 1; }
int most_iterations(const link_config& c) {
  const bool given = c.receiver && c.receiver->inner;
  return outer_iterations(c) * most_iterations(given ? with_iterations(c.code, *c.receiver->inner) : c.code);
}
air_antennas air_antennas_of(const link_config& c) {
  air_antennas a{.tx = streams_of(c), .rx = rx_antennas_of(c), .uses = uses_per_frame(c)};
  c.antennas.kind().describe(c, a);
  return a;
}
bool has_codewords(const link_config& c) noexcept { return c.antennas.kind().many_codewords; }
std::size_t codewords_per_frame(const link_config& c) noexcept { return c.antennas.kind().codewords(c); }
std::size_t bits_per_frame(const link_config& c) { return sizes_of(c.code).k * codewords_per_frame(c); }

double code_rate(const link_config& c) {
  const code_sizes sizes = sizes_of(mapped_code(c));
  return static_cast<double>(sizes.k) / static_cast<double>(sizes.n);
}

std::size_t resource_elements(const link_config& c) {
  const std::size_t m = as_size(bits_per_symbol(c)), n = sizes_of(mapped_code(c)).n;
  return c.antennas.kind().uses_for(c, (n + m - 1) / m);
}
std::size_t uses_per_frame(const link_config& c) { return c.antennas.kind().uses(c); }
std::size_t symbols_per_frame(const link_config& c) {
  return uses_per_frame(c) * as_size(c.antennas.kind().symbols_per_use(c));
}

noise_level noise_level_at(const link_config& c, double point_db) {
  const antenna_kind& kind = c.antennas.kind();
  if (c.axis == snr_axis::probability) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none, none};
  }
  const double bits = code_rate(c) * bits_per_symbol(c) * kind.symbols_per_use(c) / rx_antennas_of(c);
  noise_level n;
  if (c.axis == snr_axis::esn0_db) {
    n.esn0_db = point_db;
    n.snr_db = point_db + 10 * std::log10(kind.sent_power(c));
    n.ebn0_db = n.snr_db - 10 * std::log10(bits);
    return n;
  }
  if (c.axis == snr_axis::ebn0_db) {
    n.ebn0_db = point_db;
    n.snr_db = point_db + 10 * std::log10(bits);
  } else {
    n.ebn0_db = point_db - 10 * std::log10(bits);
    n.snr_db = point_db;
  }
  n.esn0_db = n.snr_db - 10 * std::log10(kind.sent_power(c));
  return n;
}

double noise_var_at(const link_config& c, double point_db) {
  return c.antennas.kind().symbol_energy(c) * std::pow(10, -noise_level_at(c, point_db).esn0_db / 10);
}

}  // namespace wb

#include <warpband/link/link.hpp>

#include <algorithm>
#include <cmath>

#include <warpband/code/uncoded.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/count.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/massive/cluster/cluster_settings.hpp>
#include <warpband/massive/massive_settings.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/transport_loop.hpp>

namespace wb {
namespace {

constexpr int uses_per_codeword = 2;  // of a space-time code

std::size_t quotient(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

/// The code, which of transport blocks depends on the symbols that its bits are mapped to.
code_config code_of(const link_config& c) { return mapped_to(c.code, bits_per_symbol(c.qam), streams_of(c)); }

/// The channel; what the antennas leave to it is in the result.
air_antennas complete_channel(link_config& c) {
  air_antennas antennas = air_antennas_of(c);
  complete(c.channel, antennas);
  return antennas;
}

/// One antenna, or streams: code and channel.
void complete_uses(link_config& c) {
  const int streams = streams_of(c);
  check_range("streams", streams, 1,
              std::holds_alternative<detector_config>(c.antennas) ? most_soft_streams : 8);
  check_range("rx_antennas", rx_antennas_of(c), streams, 16);
  if (is_transport(c.code)) {
    if (streams > 4)
      throw argument_error("streams", std::to_string(streams), "1 to 4 with \"" + c.code.type + "\"");
    c.code = code_of(c);
  }
  c.code = completed(c.code);
  complete_channel(c);
}

void complete(link_config& c, single_antenna&) { complete_uses(c); }

void complete(link_config& c, detector_config& detector) {
  complete_uses(c);
  if (c.qam == 2)
    throw argument_error("modulation", "\"bpsk\"",
                         "\"qpsk\" to \"256qam\" with several antennas or a detector");
  detector.qam = c.qam;
  detector = completed(detector);
}

void complete(link_config& c, stbc_config& code) {
  if (c.qam != 4 && c.qam != 16 && c.qam != 64)
    throw argument_error("modulation", "\"" + name_of_modulation(c.qam) + "\"",
                         "\"qpsk\", \"16qam\" or \"64qam\" with a space-time code");
  if (is_transport(c.code))
    throw argument_error("code.type", "\"" + c.code.type + "\"", "another one with a space-time code");
  code.qam = c.qam;
  check(code);
  c.code = completed(c.code);
  complete_channel(c);
}

void complete(link_config& c, massive_link_config& m) {
  const auto refuse = [](const char* argument, const std::string& value, const std::string& allowed) {
    throw argument_error(argument, value, allowed + " with massive MIMO");
  };
  const bool up = m.direction == massive_direction::uplink;
  if (c.qam == 2) refuse("modulation", "\"bpsk\"", "\"qpsk\" to \"256qam\"");
  if (is_transport(c.code)) refuse("code.type", "\"" + c.code.type + "\"", "another one");
  m.subcarriers = complete_channel(c).grid.subcarriers;
  check_range("subcarriers", m.subcarriers, 1, 4096);
  check_range("symbols", m.symbols, 1, 64);
  if (!up && m.sinr)
    refuse("sinr", *m.sinr == massive_sinr::exact ? "exact" : "approximate", "none downlink");
  if (up && m.demapper != demap_algorithm::max_log) refuse("demapper", name_of(m.demapper), "none uplink");
  if (up && !m.sinr) m.sinr = is_iterative(m.solver) ? massive_sinr::approximate : massive_sinr::exact;
  if (up)
    check(clustered_uplink_of(m, c.qam));
  else
    check(clustered_downlink_of(m));
  const int bits = m.subcarriers * bits_per_symbol(c.qam);
  if (const auto* open = c.code.settings.find<uncoded_settings>(); open != nullptr && open->k == 0)
    c.code.edit<uncoded_settings>().k = bits;
  c.code = completed(c.code);
  if (const std::size_t n = sizes_of(c.code).n; n > size(bits))
    throw argument_error("subcarriers", std::to_string(m.subcarriers),
                         "at least " + std::to_string(quotient(n, size(bits_per_symbol(c.qam)))) +
                             ", as a codeword of " + std::to_string(n) + " bits is sent in one OFDM symbol");
}

/// Slots of 5G NR: code, constellation and grid follow from theirs.
void complete(link_config& c, nr_link_config& nr) {
  if (c.code.type != "nr-dlsch")
    throw argument_error("code.type", "\"" + c.code.type + "\"", "\"nr-dlsch\" in slots of 5G NR");
  nr = completed(nr);
  c.qam = qam_of(nr);
  c.code = completed(code_of(nr, c.code));
  try {
    complete_channel(c);
  } catch (const argument_error& error) {
    if (error.argument() != "streams") throw;
    throw argument_error(nr.precoder == nr_precoding::codebook ? "ports" : "layers", error.value(),
                         error.allowed());
  }
}

/// What a loop of detector and decoder takes, of a link that is completed but for it.
void check_receiver(const link_config& c) {
  const receiver_config& receiver = *c.receiver;
  if (const auto* nr = std::get_if<nr_link_config>(&c.antennas))
    return check_transport_loop(receiver, nr->detector);
  check_settings(receiver_settings(), receiver);
  const auto refuse = [&](const std::string& allowed) {
    throw argument_error("outer", std::to_string(receiver.outer), allowed);
  };
  const auto* detector = std::get_if<detector_config>(&c.antennas);
  const auto* space_time = std::get_if<stbc_config>(&c.antennas);
  if (std::holds_alternative<single_antenna>(c.antennas))
    refuse("unset without a detector of streams, a space-time code or massive MIMO");
  if (const auto* massive = std::get_if<massive_link_config>(&c.antennas);
      massive != nullptr && massive->direction == massive_direction::downlink)
    refuse("unset with massive.direction = \"downlink\"");
  if (is_uncoded(c.code) || is_transport(c.code)) refuse("unset with code.type = \"" + c.code.type + "\"");
  if (receiver.outer == 1) return;
  if (space_time != nullptr && !takes_prior(*space_time))
    refuse("1 with stbc.search = \"slicing\", which takes no a-priori LLRs");
  if (detector != nullptr && !takes_prior(*detector))
    refuse("1 with detector.type = \"" + detector->type + "\", which takes no a-priori LLRs");
  if (!gives_extrinsic(c.code)) refuse("1 with a decoder that gives no extrinsic LLRs of coded bits");
}

/// Information is measured where a frame's LLRs are there, and once.
void check_information(const link_config& c) {
  const auto refuse = [](const std::string& what) {
    throw argument_error("mutual_information", "true", "false with " + what);
  };
  if (c.receiver) refuse("a receiver in a loop, whose EXIT chart shows the information");
  if (is_transport(c.code)) refuse("code.type = \"" + c.code.type + "\"");
  if (std::holds_alternative<stbc_config>(c.antennas) && is_uncoded(c.code))
    refuse("an uncoded space-time code, which is decided without LLRs");
}

/// Symbols of a use: r_s of the signal-to-noise ratios.
int symbols_per_use(const link_config& c) {
  const auto* code = std::get_if<stbc_config>(&c.antennas);
  return code != nullptr ? code->code.symbols() / uses_per_codeword : streams_of(c);
}

}  // namespace

const std::vector<setting_of<massive_link_config>>& massive_link_settings() {
  using c = massive_link_config;
  static const std::vector<setting_of<c>> all{
      solver_setting(&c::solver),
      words("direction", &c::direction,
            {{"uplink", massive_direction::uplink}, {"downlink", massive_direction::downlink}},
            "uplink: y = H x + n at the base station and Es = 1 for each user; rx_antennas of ebn0_db and "
            "snr_db are the antennas, streams the users. downlink: y = H^H x' + n, each vector x' has energy "
            "1, Es = 1 / users for each user, and snr_db = 10 log10(1 / N0). The regularisation is users N0. "
            "Each user knows exactly its gain on every subcarrier and the mean power of its interference. It "
            "is told the factor that normalised a vector (docs/conventions.md). No pilots are sent or "
            "counted."),
      antennas_setting<c>(),
      users_setting<c>(),
      iterations_setting<c>(),
      words("sinr", &c::sinr, {{"exact", massive_sinr::exact}, {"approximate", massive_sinr::approximate}},
            "Where the SINR that scales LLRs comes from. exact: from the inverse of the Gram matrix. "
            "approximate: from its diagonal, all that cg and jacobi-cg have. Left out: exact where the "
            "solver has it.")
          .only_with("direction", {"uplink"}),
      integer(
          "subcarriers", &c::subcarriers, 1, 4096,
          "Subcarriers of an OFDM symbol. The bits of a codeword fill them from the first on, and zeros "
          "fill the rest. Without a code, code.k left out is all their bits. Left out with channel.type = "
          "\"file\": all subcarriers of the file.",
          "an integer from 1 to 4096, enough for a codeword"),
      integer("symbols", &c::symbols, 1, 64,
              "OFDM symbols of a frame. They share one channel estimate per subcarrier."),
      clusters_setting<c>().left_out_by_default(),
      cluster_method_setting(&c::clustering).left_out_by_default()};
  return all;
}

const char* name_of(snr_axis a) noexcept { return a == snr_axis::ebn0_db ? "ebn0_db" : "snr_db"; }
const char* title_of(snr_axis a) noexcept { return a == snr_axis::ebn0_db ? "Eb/N0" : "SNR"; }
const char* name_of(massive_direction d) noexcept {
  return d == massive_direction::uplink ? "uplink" : "downlink";
}

uplink_config uplink_of(const massive_link_config& c, int qam) {
  return {.antennas = c.antennas,
          .users = c.users,
          .qam = qam,
          .mode = c.solver,
          .iterations = c.iterations,
          .sinr = *c.sinr};
}
downlink_config downlink_of(const massive_link_config& c) {
  return {.antennas = c.antennas, .users = c.users, .mode = c.solver, .iterations = c.iterations};
}
clustered_uplink_config clustered_uplink_of(const massive_link_config& c, int qam) {
  return {.detector = uplink_of(c, qam), .clusters = c.clusters, .method = c.clustering};
}
clustered_downlink_config clustered_downlink_of(const massive_link_config& c) {
  return {.precoder = downlink_of(c), .clusters = c.clusters, .method = c.clustering};
}

link_config completed(const link_config& config) {
  link_config c = config;
  bits_per_symbol(c.qam);
  std::visit([&](auto& antennas) { complete(c, antennas); }, c.antennas);
  if (c.receiver) check_receiver(c);
  if (c.mutual_information) check_information(c);
  return c;
}

int streams_of(const link_config& c) noexcept {
  if (const auto* detector = std::get_if<detector_config>(&c.antennas)) return detector->streams;
  if (const auto* massive = std::get_if<massive_link_config>(&c.antennas)) return massive->users;
  if (const auto* nr = std::get_if<nr_link_config>(&c.antennas)) return nr->detector.streams;
  return std::holds_alternative<stbc_config>(c.antennas) ? uses_per_codeword : 1;
}
int rx_antennas_of(const link_config& c) noexcept {
  if (const auto* detector = std::get_if<detector_config>(&c.antennas)) return detector->rx_antennas;
  if (const auto* code = std::get_if<stbc_config>(&c.antennas)) return code->rx_antennas;
  if (const auto* nr = std::get_if<nr_link_config>(&c.antennas)) return nr->detector.rx_antennas;
  const auto* massive = std::get_if<massive_link_config>(&c.antennas);
  return massive != nullptr && massive->direction == massive_direction::uplink ? massive->antennas : 1;
}
bool erases_uses(const link_config& c) noexcept {
  return !std::holds_alternative<single_antenna>(c.antennas);
}
int outer_iterations(const link_config& c) noexcept { return c.receiver ? c.receiver->outer : 1; }
int most_iterations(const link_config& c) {
  const bool given = c.receiver && c.receiver->inner != 0;
  return outer_iterations(c) * most_iterations(given ? with_iterations(c.code, c.receiver->inner) : c.code);
}
air_antennas air_antennas_of(const link_config& c) {
  air_antennas a{.tx = streams_of(c), .rx = rx_antennas_of(c)};
  if (const auto* nr = std::get_if<nr_link_config>(&c.antennas)) {
    const bool up = nr->channel.direction == nr_direction::uplink;
    a.system = up ? air_system::pusch : air_system::pdsch;
    a.tx = nr->channel.antenna_ports;
    a.grid = nr->channel.carrier.grid();
    a.uses = a.grid.elements();
    a.needs_profile = nr->csi == csi_type::lmmse;
    return a;
  }
  a.uses = uses_per_frame(c);
  if (std::holds_alternative<detector_config>(c.antennas)) a.system = air_system::streams;
  if (std::holds_alternative<stbc_config>(c.antennas)) {
    a.system = air_system::space_time;
    a.together = uses_per_codeword;
  }
  if (const auto* massive = std::get_if<massive_link_config>(&c.antennas)) {
    a.system = air_system::massive;
    a.rx = massive->antennas;
    a.grid.subcarriers = massive->subcarriers;
    a.grid.symbols = massive->symbols;
    a.together = size(massive->symbols);
  }
  return a;
}
std::size_t codewords_per_frame(const link_config& c) noexcept {
  const auto* massive = std::get_if<massive_link_config>(&c.antennas);
  return massive != nullptr ? massive->codewords() : 1;
}
std::size_t bits_per_frame(const link_config& c) { return sizes_of(c.code).k * codewords_per_frame(c); }

double code_rate(const link_config& c) {
  const code_sizes sizes = sizes_of(code_of(c));
  return static_cast<double>(sizes.k) / static_cast<double>(sizes.n);
}

std::size_t resource_elements(const link_config& c) {
  const std::size_t m = size(bits_per_symbol(c.qam)), n = sizes_of(code_of(c)).n;
  if (const auto* massive = std::get_if<massive_link_config>(&c.antennas))
    return quotient(n, m) * size(massive->symbols);  // of all OFDM symbols, those that carry bits
  if (const auto* code = std::get_if<stbc_config>(&c.antennas))
    return quotient(n, m * size(code->code.symbols())) * uses_per_codeword;
  return quotient(n, m * size(streams_of(c)));
}

std::size_t uses_per_frame(const link_config& c) {
  if (const auto* massive = std::get_if<massive_link_config>(&c.antennas))
    return size(massive->subcarriers * massive->symbols);
  const std::size_t uses = resource_elements(c);
  return std::holds_alternative<nr_link_config>(c.antennas) ? uses : whole_uses(c.channel, uses);
}
std::size_t symbols_per_frame(const link_config& c) { return uses_per_frame(c) * size(symbols_per_use(c)); }

noise_level noise_level_at(const link_config& c, double point_db) {
  const double bits = code_rate(c) * bits_per_symbol(c.qam) * symbols_per_use(c) / rx_antennas_of(c);
  noise_level n;
  if (c.axis == snr_axis::ebn0_db) {
    n.ebn0_db = point_db;
    n.snr_db = point_db + 10 * std::log10(bits);
  } else {
    n.ebn0_db = point_db - 10 * std::log10(bits);
    n.snr_db = point_db;
  }
  const auto* nr = std::get_if<nr_link_config>(&c.antennas);
  n.esn0_db = n.snr_db - 10 * std::log10(nr != nullptr ? sent_power(*nr) : streams_of(c));
  return n;
}

double noise_var_at(const link_config& c, double point_db) {
  const auto* massive = std::get_if<massive_link_config>(&c.antennas);
  const bool down = massive != nullptr && massive->direction == massive_direction::downlink;
  return (down ? 1.0 / massive->users : 1) * std::pow(10, -noise_level_at(c, point_db).esn0_db / 10);
}

}  // namespace wb

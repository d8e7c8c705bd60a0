#include <warpband/air/file.hpp>

#include <algorithm>
#include <cmath>
#include <new>

#include <warpband/channel/file/csi_file.hpp>
#include <warpband/channel/recorded/recorded.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/core/decimal.hpp>

namespace wb {
namespace {

const std::vector<setting_of<csi_channel_config>>& settings() {
  using c = csi_channel_config;
  static const std::vector<setting_of<c>> entries{
      text(
          "file", &c::name,
          "Path of an HDF5 or .npy file of channel estimates; a relative path starts at the scenario's "
          "folder. Each frame takes the next snapshot of the file, and after the last the first again; every "
          "point of a sweep takes the same. The first antennas, users and subcarriers of a snapshot serve as "
          "the true channel.")
          .without_default(),
      boolean(
          "power_control", &c::power_control,
          "true: the mean power of each user's channel is 1 in every frame. false: over all its snapshots."),
      words("fading", &c::fading, {{"block", fading_type::block}, {"fast", fading_type::fast}},
            "block: a frame has one snapshot, its uses the subcarriers of the file in turn. fast: every use, "
            "with a space-time code every codeword, has the next H of the file, subcarrier by subcarrier and "
            "snapshot by snapshot; not with massive MIMO or slots.")
          .left_out_by_default(),
      number("spacing_khz", &c::spacing_khz, 0, 1e4,
             "Spacing of the file's subcarriers, for slots of 5G NR: H of a slot's subcarriers are "
             "interpolated linearly. Left out: that of the slot.",
             true)
          .without_default()};
  return entries;
}

#if WARPBAND_HDF5

bool takes_grid(const air_antennas& a) { return a.system == air_system::massive || a.in_slots(); }
/// Rows of a snapshot that a frame has in turn.
std::size_t rows_of(const csi_channel_config& c, const air_antennas& a) {
  return takes_grid(a) ? as_size(a.grid.subcarriers) : c.subcarriers;
}
/// Which of the file's subcarriers row k is, in parts.
double place_of(const csi_channel_config& c, const air_antennas& a, std::size_t k) {
  const double in_link = static_cast<double>(k);
  return c.spacing_khz ? in_link * a.grid.spacing_hz / (1e3 * *c.spacing_khz) : in_link;
}

/// [snapshots, rows, antennas, users].
std::vector<std::complex<float>> table_of(const csi_channel_config& c, const air_antennas& a) try {
  const csi_file file(c.path);
  const std::size_t all_users = file.streams(), item = file.rx_antennas() * all_users;
  if (file.snapshots() != c.snapshots || file.subcarriers() != c.subcarriers ||
      file.rx_antennas() != c.antennas || all_users != c.users)
    throw file_error(c.path, "it has changed since the link was set up");
  const std::size_t antennas = as_size(a.rx), users = as_size(a.tx), rows = rows_of(c, a),
                    of_snapshot = rows * antennas * users;
  std::vector<std::complex<float>> h(file.snapshots() * of_snapshot), whole(file.subcarriers() * item);
  std::vector<std::uint8_t> status(file.subcarriers());
  std::vector<double> power(users);
  double good = 0;  // entries of each user that are not erased
  const auto scale = [&](std::size_t first, std::size_t count) {
    for (double& p : power) p = p > 0 ? std::sqrt(good / p) : 0;
    for (std::size_t i = first * of_snapshot; i < (first + count) * of_snapshot; i++)
      h[i] = std::complex<float>(std::complex<double>(h[i]) * power[i % users]);
    power.assign(users, 0);
    good = 0;
  };
  for (std::size_t n = 0; n < file.snapshots(); n++) {
    file.read(n, 1, whole.data(), status.data());
    std::complex<float>* to = h.data() + n * of_snapshot;
    for (std::size_t k = 0; k < rows; k++) {
      const double place = place_of(c, a, k), part = place - std::floor(place);
      const auto low = static_cast<std::size_t>(place), high = part > 0 ? low + 1 : low;
      const bool erased = status[low] != 0 || status[high] != 0;
      if (!erased) good += static_cast<double>(antennas);
      for (std::size_t b = 0; b < antennas; b++)
        for (std::size_t u = 0; u < users; u++, to++) {
          const std::size_t entry = b * all_users + u;
          if (erased) continue;  // 0
          *to = whole[low * item + entry];
          if (part > 0)
            *to = std::complex<float>((1 - part) * std::complex<double>(*to) +
                                      part * std::complex<double>(whole[high * item + entry]));
          power[u] += std::norm(std::complex<double>(*to));
        }
    }
    if (c.power_control) scale(n, 1);
  }
  if (!c.power_control) scale(0, file.snapshots());
  return h;
} catch (const std::bad_alloc&) {
  throw file_error(c.path, "its " + std::to_string(c.snapshots) + " snapshots do not fit into memory");
}

/// Snapshots, kept on the executor.
class recorded_matrices final : public air {
 public:
  recorded_matrices(const air_antennas& a, const csi_channel_config& c)
      : air(a),
        fast_(c.fading == fading_type::fast),
        rows_(fast_ ? 1 : rows_of(c, a)),
        matrices_(rows_ == 1 && !fast_ ? 1 : a.uses / a.together),
        table_(table_of(c, a)) {}
  std::size_t matrices() const noexcept override { return matrices_; }
  void draw(executor& exec, values h, random_range range) override {
    const std::size_t entries = antennas_.entries();
    const symbols table = make_view(table_.on(exec), table_.host().size() / entries, entries);
    if (fast_)
      draw_recorded(exec, table, h, {.first = range.first * matrices_});
    else
      draw_recorded(exec, table, h, {.first = range.first, .per_frame = matrices_, .rows = rows_});
  }

 private:
  bool fast_;
  std::size_t rows_, matrices_;
  resident<std::complex<float>> table_;
};

void look_into(csi_channel_config& c) {
  if (c.path.empty()) throw argument_error("file", "\"\"", "the path of a file with channel estimates");
  if (c.snapshots > 0) return;
  const csi_file file(c.path);
  c.layout = name_of(file.layout());
  c.snapshots = file.snapshots();
  c.subcarriers = file.subcarriers();
  c.antennas = file.rx_antennas();
  c.users = file.streams();
  c.remark = file.remark();
}

/// A slot's subcarriers must lie among the file's.
void check_band(const csi_channel_config& c, const air_antennas& a) {
  const std::size_t rows = as_size(a.grid.subcarriers);
  if (place_of(c, a, rows - 1) <= static_cast<double>(c.subcarriers - 1)) return;
  const std::string has = ", and it has " + std::to_string(c.subcarriers);
  throw argument_error("file", '"' + (c.name.empty() ? c.path : c.name) + '"',
                       c.spacing_khz
                           ? "one with the slot's band of " +
                                 decimal(1e-3 * a.grid.spacing_hz * static_cast<double>(rows - 1)) + " kHz" +
                                 has + " subcarriers of " + decimal(*c.spacing_khz) + " kHz"
                           : "one with the slot's " + std::to_string(rows) + " subcarriers" + has);
}

void complete_file(box& b, air_antennas& a) {
  csi_channel_config c = held<csi_channel_config>(b);
  look_into(c);
  if (takes_grid(a) && c.fading == fading_type::fast)
    throw argument_error("fading", "\"fast\"", "\"block\" with massive MIMO and in slots of 5G NR");
  if (a.needs_profile)
    throw argument_error("csi", "\"lmmse\"",
                         "\"perfect\" or \"ls\" with channel.type = \"file\", whose delays are not known");
  if (c.spacing_khz && !a.in_slots())
    throw argument_error("spacing_khz", decimal(*c.spacing_khz), "unset but in slots of 5G NR");
  const auto check = [&](const char* argument, int wanted, std::size_t available, const char* axis) {
    if (wanted > 0 && as_size(wanted) > available)
      throw argument_error(argument, std::to_string(wanted),
                           "at most " + std::to_string(available) + ", the " + axis + " of " + c.path);
  };
  const bool massive = a.system == air_system::massive;
  if (massive && a.grid.subcarriers == 0)
    a.grid.subcarriers = static_cast<int>(std::min<std::size_t>(c.subcarriers, 4096));
  check(massive ? "antennas" : "rx_antennas", a.rx, c.antennas, "antennas");
  check(massive ? "users" : "streams", a.tx, c.users, massive ? "users" : "transmit antennas");
  if (massive) check("subcarriers", a.grid.subcarriers, c.subcarriers, "subcarriers");
  if (a.in_slots()) check_band(c, a);
  b = box(std::move(c));
}

std::unique_ptr<air> make_file(const box& b, const air_antennas& a) {
  return std::make_unique<recorded_matrices>(a, held<csi_channel_config>(b));
}

#else

void complete_file(box&, air_antennas&) {
  throw argument_error("channel.type", "\"file\"", "another one, as this build is without HDF5");
}
std::unique_ptr<air> make_file(const box& b, const air_antennas& a) {
  box copy = b;
  air_antennas antennas = a;
  complete_file(copy, antennas);
  return nullptr;
}

#endif

air_values results(const box& b) {
  const csi_channel_config& c = held<csi_channel_config>(b);
  const auto number = [](std::size_t n) { return setting_value(static_cast<std::int64_t>(n)); };
  air_values values(settings(), c);
  if (c.name.empty()) values.set("file", setting_value(c.path));
  values.set("layout", setting_value(c.layout));
  values.set("snapshots", number(c.snapshots));
  values.set("subcarriers", number(c.subcarriers));
  values.set("antennas", number(c.antennas));
  values.set("users", number(c.users));
  return values;
}

}  // namespace

air_kind file_air() {
  return {.name = "file",
          .text = "Channel estimates that were measured or computed elsewhere (docs/files.md).",
          .keys = boxed(settings()),
          .serves = [](const air_antennas&) { return true; },
          .complete = complete_file,
          .results = results,
          .make = make_file};
}

}  // namespace wb

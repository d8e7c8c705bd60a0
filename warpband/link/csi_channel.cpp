#include <warpband/link/csi_channel.hpp>

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

#include <warpband/channel/file/csi_file.hpp>
#include <warpband/core/count.hpp>
#include <warpband/link/massive_channel.hpp>
#include <warpband/link/regroup/regroup.hpp>

namespace wb {

const std::vector<setting_of<csi_channel_config>>& csi_channel_settings() {
  using c = csi_channel_config;
  static const std::vector<setting_of<c>> all{
      text("file", &c::name,
           "Path of an HDF5 file of channel estimates; a relative path starts at the scenario's folder. Each "
           "frame takes the next snapshot of the file, and after the last the first again; every point of a "
           "sweep takes the same. The first antennas, users and subcarriers of a snapshot serve as the true "
           "channel.")
          .without_default(),
      boolean(
          "power_control", &c::power_control,
          "true: the mean power of each user's channel is 1 in every frame. false: over all its snapshots.")};
  return all;
}

#if !WARPBAND_HDF5

void complete_csi(csi_channel_config&, int, int, int&) {
  throw argument_error("channel.type", "\"file\"", "another one, as this build is without HDF5");
}
std::unique_ptr<massive_channel> make_csi_channel(const csi_channel_config& config, int antennas, int users,
                                                  int subcarriers) {
  csi_channel_config c = config;
  complete_csi(c, antennas, users, subcarriers);
  return nullptr;
}

#else

namespace {

/// Snapshots, kept on the executor.
class csi_matrices final : public massive_channel {
 public:
  csi_matrices(const csi_channel_config& c, std::size_t antennas, std::size_t users, std::size_t subcarriers)
      : subcarriers_(subcarriers),
        entries_(antennas * users),
        snapshots_(c.snapshots),
        table_(read(c, antennas, users, subcarriers)) {}
  std::size_t matrices() const noexcept override { return subcarriers_; }
  void draw(executor& exec, view<std::complex<float>> h, random_range range) override {
    const std::complex<float>* table = table_.on(exec);
    const std::size_t frames = h.items / subcarriers_, of_frame = subcarriers_ * entries_;
    for (std::size_t done = 0; done < frames;) {
      const std::size_t from = static_cast<std::size_t>((range.first + done) % snapshots_),
                        count = std::min(frames - done, snapshots_ - from);
      regroup(exec, make_view(table + from * of_frame, entries_, count * subcarriers_),
              make_view(h.data + done * of_frame, entries_, count * subcarriers_), static_cast<int>(entries_),
              1);
      done += count;
    }
  }

 private:
  /// [snapshots, subcarriers, antennas, users].
  static std::vector<std::complex<float>> read(const csi_channel_config& c, std::size_t antennas,
                                               std::size_t users, std::size_t subcarriers) try {
    const csi_file file(c.path);
    const std::size_t all_users = file.streams(), item = file.rx_antennas() * all_users;
    if (file.snapshots() != c.snapshots || file.subcarriers() != c.subcarriers ||
        file.rx_antennas() != c.antennas || all_users != c.users)
      throw file_error(c.path, "it has changed since the link was set up");
    const std::size_t of_snapshot = subcarriers * antennas * users;
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
      for (std::size_t k = 0; k < subcarriers; k++) {
        if (status[k] == 0) good += static_cast<double>(antennas);
        for (std::size_t b = 0; b < antennas; b++)
          for (std::size_t u = 0; u < users; u++, to++) {
            *to = whole[k * item + b * all_users + u];  // erased: 0
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

  std::size_t subcarriers_, entries_, snapshots_;
  resident<std::complex<float>> table_;
};

}  // namespace

void complete_csi(csi_channel_config& c, int antennas, int users, int& subcarriers) {
  if (c.path.empty()) throw argument_error("file", "\"\"", "the path of a file with channel estimates");
  if (c.snapshots == 0) {
    const csi_file file(c.path);
    c.layout = name_of(file.layout());
    c.snapshots = file.snapshots();
    c.subcarriers = file.subcarriers();
    c.antennas = file.rx_antennas();
    c.users = file.streams();
    c.remark = file.remark();
  }
  if (subcarriers == 0) subcarriers = static_cast<int>(std::min<std::size_t>(c.subcarriers, 4096));
  const auto check = [&](const char* argument, int wanted, std::size_t there, const char* what) {
    if (wanted > 0 && size(wanted) > there)
      throw argument_error(argument, std::to_string(wanted),
                           "at most " + std::to_string(there) + ", the " + what + " of " + c.path);
  };
  check("antennas", antennas, c.antennas, "antennas");
  check("users", users, c.users, "users");
  check("subcarriers", subcarriers, c.subcarriers, "subcarriers");
}

std::unique_ptr<massive_channel> make_csi_channel(const csi_channel_config& c, int antennas, int users,
                                                  int subcarriers) {
  return std::make_unique<csi_matrices>(c, size(antennas), size(users), size(subcarriers));
}

#endif

}  // namespace wb

#include <warpband/air/air.hpp>

#include <algorithm>

#include <warpband/air/awgn.hpp>
#include <warpband/air/binary.hpp>
#include <warpband/air/cdl.hpp>
#include <warpband/air/file.hpp>
#include <warpband/air/kronecker.hpp>
#include <warpband/air/rayleigh.hpp>
#include <warpband/air/rician.hpp>
#include <warpband/air/tdl.hpp>
#include <warpband/channel/matrix/matrix.hpp>
#include <warpband/channel/recorded/recorded.hpp>

namespace wb {
namespace {

const air_kind& kind_of(const air_config& c) { return airs().get(c.type); }

std::string words_for(const air_antennas& a) {
  const char* with = a.system == air_system::single       ? "with one antenna"
                     : a.system == air_system::streams    ? "with several antennas or a detector"
                     : a.system == air_system::space_time ? "with a space-time code"
                     : a.system == air_system::massive    ? "with massive MIMO"
                     : a.system == air_system::pusch      ? "in slots of 5G NR"
                                                          : "with nr.channel = \"pdsch\"";
  return std::string(with) + (a.in_slots() && a.entries() > 1 ? " and several antennas" : "");
}

/// A channel whose uses share H, with an H for each of them.
class separate_air final : public air {
 public:
  separate_air(std::unique_ptr<air> shared, const air_antennas& a) : air(a), shared_(std::move(shared)) {}
  std::size_t matrices() const noexcept override { return antennas_.uses; }
  std::size_t bytes_per_frame() const noexcept override {
    return shared_->bytes_per_frame() + 8 * antennas_.entries() * shared_->matrices();
  }
  void allocate(executor& exec, std::size_t frames) override {
    shared_->allocate(exec, frames);
    h_ = exec.make<std::complex<float>>(frames * shared_->matrices(), antennas_.entries());
  }
  void draw(executor& exec, values h, random_range range) override {
    const std::size_t frames = h.items / antennas_.uses, matrices = frames * shared_->matrices();
    const values drawn = make_view(h_.data(), matrices, antennas_.entries());
    shared_->draw(exec, drawn, range);
    draw_recorded(exec, drawn, h, {.per_frame = h.items / matrices});
  }
  channel_statistics statistics() const override { return shared_->statistics(); }

 private:
  std::unique_ptr<air> shared_;
  array<std::complex<float>> h_;
};

}  // namespace

kind_list<air_kind>& airs() {
  static kind_list<air_kind> kinds(
      "channel.type", {awgn_air(), rayleigh_air(), rician_air(), tdl_air(), cdl_air(), kronecker_air(),
                       file_air(), bsc_air(), bec_air(), z_air()});
  return kinds;
}

void air::send(executor& exec, symbols x, values y, values h, random_range frames) {
  draw(exec, h, frames);
  apply_channel(exec, h, x, y, x.items / h.items);
}

void air_values::set(const std::string& name, air_value value) {
  const auto found = std::find_if(begin(), end(), [&](const auto& entry) { return entry.first == name; });
  if (found == end())
    emplace_back(name, std::move(value));
  else
    found->second = std::move(value);
}
void air_values::erase_name(const std::string& name) {
  std::erase_if(*this, [&](const auto& entry) { return entry.first == name; });
}

void complete(air_config& c, air_antennas& a) {
  const air_kind& kind = kind_of(c);
  if (!kind.serves(a)) {
    std::vector<std::string> names;
    for (const air_kind& k : airs())
      if (k.serves(a)) names.emplace_back(k.name);
    throw argument_error("channel.type", '"' + c.type + '"', among(names) + ' ' + words_for(a));
  }
  if (a.csi_delay != 0 && !kind.ages)
    throw argument_error("csi_delay", std::to_string(a.csi_delay), "0 with channel.type = \"" + c.type + '"');
  if (kind.complete) kind.complete(c.settings, a);
}

std::size_t whole_uses(const air_config& c, const air_antennas& a) {
  const air_kind& kind = kind_of(c);
  return kind.whole_uses ? kind.whole_uses(c.settings, a) : a.uses;
}
air_fading fading_of(const air_config& c) {
  const air_kind& kind = kind_of(c);
  return kind.fading ? kind.fading(c.settings) : air_fading::other;
}
air_values results_of(const air_config& c) {
  const air_kind& kind = kind_of(c);
  return kind.results ? kind.results(c.settings) : air_values{};
}

bool is_of_bits(const air_config& c) { return static_cast<bool>(kind_of(c).of_bits); }
binary_channel bits_at(const air_config& c, double probability) {
  return kind_of(c).of_bits(c.settings, probability);
}

std::unique_ptr<air> make_air(const air_config& c, const air_antennas& a, bool separate) {
  const air_kind& kind = kind_of(c);
  if (!kind.make) throw argument_error("channel.type", '"' + c.type + '"', "a channel of symbols");
  auto made = kind.make(c.settings, a);
  if (!separate || made->matrices() == 0 || made->matrices() == a.uses) return made;
  return std::make_unique<separate_air>(std::move(made), a);
}

}  // namespace wb

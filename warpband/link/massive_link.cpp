#include <warpband/link/massive_link.hpp>

#include <cmath>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/cdl/cdl.hpp>
#include <warpband/channel/matrix/matrix.hpp>
#include <warpband/channel/mimo/mimo.hpp>
#include <warpband/channel/tdl/tdl.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/link/chain.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/gain/gain.hpp>
#include <warpband/link/regroup/regroup.hpp>
#include <warpband/massive/massive_settings.hpp>

namespace wb {

const std::vector<setting_of<massive_link_config>>& massive_link_settings() {
  using c = massive_link_config;
  static const std::vector<setting_of<c>> all{
      solver_setting(&c::solver),
      words("direction", &c::direction,
            {{"uplink", massive_direction::uplink}, {"downlink", massive_direction::downlink}},
            "uplink: y = H x + n at the base station and Es = 1 for each user; rx_antennas of ebn0_db and "
            "snr_db are the antennas, streams the users. downlink: precoding of unit power, y = sqrt(U) H^H "
            "x' + n; Eb and the SNR are those of all that is sent, and each user knows its gain for an OFDM "
            "symbol and the power of each vector, which is normalised."),
      antennas_setting<c>(),
      users_setting<c>(),
      iterations_setting<c>(),
      words("sinr", &c::sinr, {{"exact", massive_sinr::exact}, {"approximate", massive_sinr::approximate}},
            "What LLRs are weighted with, from the inverse or from the diagonal of the Gram matrix; cg and "
            "jacobi-cg have the latter only. Left out: exact where the solver has it.")
          .only_with("direction", {"uplink"}),
      integer(
          "subcarriers", &c::subcarriers, 1, 4096,
          "Of an OFDM symbol, downlink 24 or more, from which users learn their gains. A codeword's bits "
          "lie on them from the first on; zeros fill the last. Uncoded code.k left out is all their bits. "
          "With channel.type = \"file\" left out: all of the file's.",
          "an integer from 1 to 4096, enough for a codeword"),
      integer("symbols", &c::symbols, 1, 64,
              "OFDM symbols of a frame. They share one channel estimate per subcarrier.")};
  return all;
}

namespace {

using complex_view = view<std::complex<float>>;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

uplink_config detector_of(const massive_link_config& c, int qam) {
  return {.antennas = c.antennas,
          .users = c.users,
          .qam = qam,
          .mode = c.solver,
          .iterations = c.iterations,
          .sinr = *c.sinr};
}
downlink_config precoder_of(const massive_link_config& c) {
  return {.antennas = c.antennas, .users = c.users, .mode = c.solver, .iterations = c.iterations};
}

/// Independent entries; fast: on every subcarrier other ones.
class rayleigh_matrices final : public massive_channel {
 public:
  rayleigh_matrices(const massive_link_config& c, bool block) : config_(c), block_(block) {}
  std::size_t matrices() const noexcept override { return block_ ? 1 : size(config_.subcarriers); }
  void draw(executor& exec, complex_view h, random_range range) override {
    range.first *= matrices();
    draw_mimo_rayleigh(exec, h, config_.users, range);
  }
  void send(executor& exec, view<const std::complex<float>> x, complex_view y, complex_view h,
            random_range range) override {
    range.first *= matrices();
    apply_mimo_rayleigh(exec, x, y, h, x.items / h.items, range);
  }

 private:
  massive_link_config config_;
  bool block_;
};

/// Tapped delay lines, one for each pair of antennas, drawn for a user and up to 16 antennas at a time, which
/// have blocks of their own.
class tdl_matrices final : public massive_channel {
 public:
  tdl_matrices(const massive_link_config& c, const tdl_config& line) : config_(c), whole_(of(line, most)) {
    if (c.antennas % most != 0) rest_.emplace(of(line, c.antennas % most));
  }
  std::size_t matrices() const noexcept override { return size(config_.subcarriers); }
  void draw(executor& exec, complex_view h, random_range range) override {
    const std::size_t entries = size(config_.antennas * config_.users);
    for (int user = 0; user < config_.users; user++)
      for (int first = 0; first < config_.antennas; first += most) {
        const int antennas = std::min(most, config_.antennas - first);
        const std::uint64_t number = size(user) << 5 | size(first / most);  // below 2^11
        random_range of_pair = range;
        of_pair.first |= number << 48;
        const complex_view part{h.data + size(first * config_.users + user), size(antennas), h.items,
                                size(config_.users), entries};
        (antennas == most ? whole_ : *rest_).response(exec, part, of_pair);
      }
  }

 private:
  static constexpr int most = 16;
  static tdl_config of(tdl_config c, int antennas) {
    c.streams = 1;
    c.rx_antennas = antennas;
    c.grid.symbols = 1;  // those of a frame share H
    return c;
  }
  massive_link_config config_;
  tdl_channel whole_;
  std::optional<tdl_channel> rest_;
};

/// Clustered delay lines; a frame is a drop of theirs.
class cdl_matrices final : public massive_channel {
 public:
  explicit cdl_matrices(const cdl_config& c) : channel_(c) {}
  std::size_t matrices() const noexcept override { return size(channel_.config().grid.subcarriers); }
  std::size_t bytes_per_frame() const noexcept override {  // of a drop's rays, 20 a cluster at most
    const cdl_config& c = channel_.config();
    return 4 * (3 * (20 * c.profile.clusters.size() + 1) + 1) * size(c.users);
  }
  void draw(executor& exec, complex_view h, random_range range) override {
    channel_.response(exec, h, range);
  }

 private:
  cdl_channel channel_;
};

}  // namespace

const char* name_of(massive_direction d) noexcept {
  return d == massive_direction::uplink ? "uplink" : "downlink";
}

void massive_channel::send(executor& exec, view<const std::complex<float>> x, complex_view y, complex_view h,
                           random_range range) {
  draw(exec, h, range);
  apply_channel(exec, h, x, y, x.items / h.items);
}

std::unique_ptr<massive_channel> make_massive_channel(const link_config& link) {
  if (link.channel == channel_type::cdl) return std::make_unique<cdl_matrices>(link.cdl);
  if (link.channel == channel_type::tdl) return std::make_unique<tdl_matrices>(*link.massive, link.tdl);
  if (link.channel == channel_type::file) return make_csi_channel(link);
  return std::make_unique<rayleigh_matrices>(*link.massive, link.fading == fading_type::block);
}

void complete_massive(link_config& c) {
  massive_link_config& m = *c.massive;
  const auto refuse = [](const char* argument, const std::string& value, const std::string& allowed) {
    throw argument_error(argument, value, allowed + " with massive MIMO");
  };
  if (c.streams != 1) refuse("streams", std::to_string(c.streams), "none, but massive.users,");
  if (c.rx_antennas != 1) refuse("rx_antennas", std::to_string(c.rx_antennas), "none, but massive.antennas,");
  if (c.detector) refuse("detector.type", name_of(c.detector->type), "none, but massive.solver,");
  if (c.space_time) refuse("stbc.type", "a space-time code", "none");
  if (c.channel == channel_type::awgn)
    refuse("channel.type", "\"awgn\"", "\"rayleigh\", \"tdl\", \"cdl\" or \"file\"");
  if (c.qam == 2) refuse("modulation", "\"bpsk\"", "\"qpsk\" to \"256qam\"");
  if (c.code.type == code_type::lte_transport) refuse("code.type", "\"lte-transport\"", "another one");
  if (c.channel == channel_type::file) complete_csi(c);
  check_range("subcarriers", m.subcarriers, 1, 4096);
  // A gain that is fitted to n symbols takes 1/n of the noise for signal.
  if (m.direction == massive_direction::downlink && m.subcarriers < 24)
    refuse("subcarriers", std::to_string(m.subcarriers), "at least 24 downlink");
  check_range("symbols", m.symbols, 1, 64);
  if (!m.sinr) m.sinr = is_iterative(m.solver) ? massive_sinr::approximate : massive_sinr::exact;
  if (m.direction == massive_direction::uplink)
    (void)uplink_detector(detector_of(m, c.qam));  // throws for what it does not allow
  else
    (void)downlink_precoder(precoder_of(m));
  if (c.channel == channel_type::tdl) {
    c.tdl.streams = c.tdl.rx_antennas = 1;
    c.tdl.grid.subcarriers = m.subcarriers;
    c.tdl.grid.symbols = m.symbols;
    if (c.tdl.doppler_hz != 0)
      refuse("doppler_hz", decimal(c.tdl.doppler_hz), "0, as a frame's symbols share one channel estimate,");
    check(c.tdl);
  }
  if (c.channel == channel_type::cdl) {
    c.cdl.antennas = m.antennas;
    c.cdl.users = m.users;
    c.cdl.grid.subcarriers = m.subcarriers;
    c.cdl.grid.symbols = 1;  // those of a frame share H
    if (c.cdl.speed_kmh != 0)
      refuse("speed_kmh", decimal(c.cdl.speed_kmh), "0, as a frame's symbols share one channel estimate,");
    check(c.cdl);
  }
  const int bits = m.subcarriers * bits_per_symbol(c.qam);
  if (c.code.type == code_type::none && c.code.k == 0) c.code.k = bits;
  c.code = completed(c.code);
  if (const std::size_t n = sizes_of(c.code).n; n > size(bits)) {
    const std::size_t each = size(bits_per_symbol(c.qam));
    throw argument_error("subcarriers", std::to_string(m.subcarriers),
                         "at least " + std::to_string((n + each - 1) / each) + ", as a codeword of " +
                             std::to_string(n) + " bits is sent in one OFDM symbol");
  }
}

massive_link::massive_link(const link_config& link)
    : config_(*link.massive),
      mapper_(link.qam),
      demapper_(link.qam, link.demapper),
      channel_(make_massive_channel(link)) {
  if (config_.direction == massive_direction::uplink)
    detector_.emplace(detector_of(config_, link.qam));
  else
    precoder_.emplace(precoder_of(config_));
}

std::size_t massive_link::bytes_per_frame() const noexcept {
  const std::size_t users = size(config_.users), antennas = size(config_.antennas),
                    vectors = size(config_.subcarriers * config_.symbols), m = size(mapper_.bits());
  return channel_->bytes_per_frame() + 8 * channel_->matrices() * users * antennas +
         vectors * (8 * antennas + users * (16 + (detector_ ? 4 * m : 16)) + 1);
}

void massive_link::allocate(executor& exec, std::size_t frames) {
  using cf = std::complex<float>;
  const std::size_t users = size(config_.users), antennas = size(config_.antennas),
                    vectors = frames * size(config_.subcarriers * config_.symbols);
  symbols_ = exec.make<cf>(users, vectors);
  sent_ = exec.make<cf>(users, vectors);
  antennas_ = exec.make<cf>(antennas, vectors);
  h_ = exec.make<cf>(antennas * users, frames * channel_->matrices());
  status_ = exec.make<std::uint8_t>(1, vectors);
  if (detector_) {
    llr_ = exec.make<float>(users * size(mapper_.bits()), vectors);
  } else {
    received_ = exec.make<cf>(users, vectors);
    noise_var_ = exec.make<float>(users, vectors);
    factors_ = exec.make<float>(users, vectors);
  }
  const std::uint8_t zero = 0;
  zero_ = exec.make<std::uint8_t>(1, 1);
  exec.upload(zero_.data(), &zero, 1);
  exec.sync();
}

void massive_link::transmit(executor& exec, const std::uint8_t* bits, float* llr, const float* noise_var,
                            float n0, std::int32_t* erased, std::size_t frames, random_range range) {
  const std::size_t of_frame = size(config_.subcarriers * config_.symbols), users = size(config_.users),
                    symbols = frames * of_frame * users;
  mapper_.run(exec, make_view(bits, size(mapper_.bits()), symbols), make_view(symbols_.data(), symbols));
  const std::size_t cells = of_frame * users;
  regroup(exec, view<const std::complex<float>>(make_view(symbols_.data(), cells, frames)),
          make_view(sent_.data(), cells, frames), config_.symbols * config_.users, config_.subcarriers);
  if (detector_)
    receive_uplink(exec, llr, noise_var, n0, frames, range);
  else
    receive_downlink(exec, llr, noise_var, n0, frames, range);
  static_assert(status_erased == 1);
  count_errors(exec, view<const std::uint8_t>{zero_.data(), of_frame, frames, 0, 0},
               view<const std::uint8_t>(make_view(status_.data(), of_frame, frames)),
               make_view(erased, frames));
}

void massive_link::receive_uplink(executor& exec, float* llr, const float* noise_var, float n0,
                                  std::size_t frames, random_range range) {
  const std::size_t of_frame = size(config_.subcarriers * config_.symbols), users = size(config_.users),
                    antennas = size(config_.antennas), vectors = frames * of_frame,
                    matrices = frames * channel_->matrices(), m = size(mapper_.bits());
  const auto y = make_view(antennas_.data(), antennas, vectors);
  const auto h = make_view(h_.data(), antennas * users, matrices);
  channel_->send(exec, make_view(sent_.data(), users, vectors), y, h, range);
  const auto entries = make_view(antennas_.data(), vectors * antennas);
  add_awgn(exec, entries, entries, n0, {range.seed, range.first * of_frame * antennas, range.point});
  detector_->run(exec,
                 {.channel = h,
                  .received = y,
                  .noise_var = {noise_var, 1, matrices, 1, 0},
                  .symbols = static_cast<int>(vectors / matrices)},
                 {.llr = make_view(llr_.data(), users * m, vectors),
                  .equalized = {},
                  .sinr = {},
                  .status = make_view(status_.data(), vectors)});
  const std::size_t cells = of_frame * users * m;
  regroup(exec, view<const float>(make_view(llr_.data(), cells, frames)), make_view(llr, cells, frames),
          config_.subcarriers, config_.symbols * config_.users, mapper_.bits());
}

void massive_link::receive_downlink(executor& exec, float* llr, const float* noise_var, float n0,
                                    std::size_t frames, random_range range) {
  const std::size_t of_frame = size(config_.subcarriers * config_.symbols), users = size(config_.users),
                    antennas = size(config_.antennas), vectors = frames * of_frame,
                    matrices = frames * channel_->matrices(), m = size(mapper_.bits()),
                    symbols = vectors * users;
  const auto x = make_view(antennas_.data(), antennas, vectors);
  const auto h = make_view(h_.data(), antennas * users, matrices);
  channel_->draw(exec, h, range);
  precoder_->run(exec,
                 {.channel = h,
                  .sent = make_view(sent_.data(), users, vectors),
                  .noise_var = {noise_var, 1, matrices, 1, 0},
                  .symbols = static_cast<int>(vectors / matrices)},
                 x, make_view(status_.data(), vectors));
  apply_adjoint_channel(exec, h, x, make_view(received_.data(), users, vectors), vectors / matrices,
                        std::sqrt(static_cast<float>(config_.users)));
  // Power is normalised vector by vector: as a part of the signal, which the users are told.
  vector_factors(exec, make_view(sent_.data(), users, vectors), make_view(received_.data(), users, vectors),
                 make_view(noise_var_.data(), users, vectors));
  const auto entries = make_view(received_.data(), symbols);
  add_awgn(exec, entries, entries, n0, {range.seed, range.first * of_frame * users, range.point});
  // From here on codeword after codeword again; sent_ is free.
  const std::size_t cells = of_frame * users, subcarriers = size(config_.subcarriers);
  regroup(exec, view<const std::complex<float>>(make_view(received_.data(), cells, frames)),
          make_view(sent_.data(), cells, frames), config_.subcarriers, config_.symbols * config_.users);
  regroup(exec, view<const float>(make_view(noise_var_.data(), cells, frames)),
          make_view(factors_.data(), cells, frames), config_.subcarriers, config_.symbols * config_.users, 1);
  const std::size_t rows = symbols / subcarriers;
  fit_gains(exec, make_view(symbols_.data(), subcarriers, rows),
            make_view(factors_.data(), subcarriers, rows), make_view(sent_.data(), subcarriers, rows),
            make_view(received_.data(), subcarriers, rows), make_view(noise_var_.data(), subcarriers, rows));
  demapper_.run(exec,
                {.received = make_view(received_.data(), symbols),
                 .channel = {},
                 .noise_var = make_view(noise_var_.data(), symbols)},
                make_view(llr, m, symbols));
}

}  // namespace wb

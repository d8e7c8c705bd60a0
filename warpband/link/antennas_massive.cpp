// Massive MIMO in a link (docs/li-thesis.md): B antennas of a base station, U users, and OFDM. A frame is a
// drop: U users and their channels, for `symbols` OFDM symbols that share one channel estimate per
// subcarrier. Every user sends, or receives, one codeword in every OFDM symbol, coded bits on subcarriers
// from the first on; zeros fill the last of them. Frames are independent of each other; codewords of a frame
// are not.
//
//   uplink     y = H x + n
//   downlink   precoder (massive/downlink), each vector with energy 1, y = H^H x' + n, division by the gain.
//              Users know what link/gain/gain.hpp says: their gains and the mean power of the
//              interference, exactly, and the factor that normalised each vector
//
// With csi = "ls" the base station has an estimate in the place of H. Sequences of P pilots of energy Es are
// orthogonal between users. Noise of variance N0 then leaves an independent error of CN(0, N0 / (P Es)) in
// each entry. The link draws this error in the place of the pilots.
//
// With a csi_delay that H, known exactly or estimated, is one that the channel had before. It is H' = c H +
// sqrt(1 - c^2) W, with W drawn as H and c the correlation over the delay (`air::correlation`). H and H' are
// complex normal, so that c says all of how they depend on each other. The H of the data are those without a
// delay.
//
// A codeword is number (frame * symbols + symbol) * users + user, a vector number (frame * subcarriers +
// subcarrier) * symbols + symbol.
#include <cmath>
#include <optional>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/matrix/matrix.hpp>
#include <warpband/code/uncoded.hpp>
#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/decimal.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/gain/gain.hpp>
#include <warpband/link/link_settings.hpp>
#include <warpband/link/regroup/regroup.hpp>
#include <warpband/massive/cluster/cluster.hpp>
#include <warpband/massive/massive_settings.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/receive/codewords.hpp>
#include <warpband/receive/open_loop.hpp>

namespace wb {
namespace {

using cf = std::complex<float>;

const massive_link_config& massive_of(const link_config& c) { return c.antennas.get<massive_link_config>(); }
bool is_uplink(const link_config& c) { return massive_of(c).direction == massive_direction::uplink; }

/// What both directions have: symbols of the users, in order of vectors, and their channels.
class massive_antennas : public antenna_system {
 public:
  explicit massive_antennas(const link_config& link)
      : config_(massive_of(link)),
        seed_(link.seed),
        users_(as_size(config_.users)),
        antennas_(as_size(config_.antennas)),
        subcarriers_(as_size(config_.subcarriers)),
        vectors_(subcarriers_ * as_size(config_.symbols)),
        rows_(config_.codewords()),
        noise_(link),
        mapper_(link.qam),
        air_(make_air(link.channel, air_antennas_of(link))) {}

  std::size_t items_per_frame() const noexcept override { return std::min(vectors_, rows_); }

  std::size_t bytes_per_frame() const noexcept override {
    return air_->bytes_per_frame() +
           8 * (1 + as_size(estimates()) + as_size(ages())) * air_->matrices() * users_ * antennas_ +
           vectors_ * (8 * antennas_ + 16 * users_ + 1) + bytes_of_clusters();
  }

  void allocate(executor& exec, std::size_t frames) override {
    const std::size_t vectors = frames * vectors_;
    symbols_ = exec.make<cf>(vectors, users_);
    sent_ = exec.make<cf>(vectors, users_);
    samples_ = exec.make<cf>(vectors, antennas_);
    h_ = exec.make<cf>((ages() ? 2 : 1) * frames * air_->matrices(), antennas_ * users_);
    if (ages()) weights_ = exec.make_from(weights_of(air_->correlation()));
    if (estimates()) estimates_ = exec.make<cf>(frames * air_->matrices(), antennas_ * users_);
    air_->allocate(exec, frames);
    noise_.allocate(exec);
  }

  samples send(executor& exec, const std::uint8_t* bits, const frame_batch& batch) override {
    const std::size_t cells = vectors_ * users_, symbols = batch.frames * cells;
    noise_.set(exec, batch.point_db);
    mapper_.run(exec, make_view(bits, symbols, as_size(mapper_.bits())), make_view(symbols_.data(), symbols));
    regroup(exec, view<const cf>(make_view(symbols_.data(), batch.frames, cells)),
            make_view(sent_.data(), batch.frames, cells), static_cast<int>(rows_), config_.subcarriers);
    pass(exec, batch);
    return received(batch.frames);
  }

 protected:
  /// Queues: vectors in sent_ through the channel.
  virtual void pass(executor& exec, const frame_batch& batch) = 0;
  virtual samples received(std::size_t frames) const = 0;

  bool ages() const noexcept { return config_.csi_delay > 0; }
  bool estimates() const noexcept { return ages() || config_.csi == massive_csi::ls; }
  /// H as the base station knows it.
  view<const cf> known(std::size_t frames) const noexcept {
    return make_view(estimates() ? estimates_.data() : h_.data(), frames * air_->matrices(),
                     antennas_ * users_);
  }
  /// Queues: makes that of what is in h_.
  void estimate(executor& exec, const frame_batch& batch) {
    if (ages()) age(exec, batch);
    if (config_.csi != massive_csi::ls) return;
    const std::size_t of_frame = air_->matrices() * antennas_ * users_, entries = batch.frames * of_frame;
    const auto base = make_view(ages() ? estimates_.data() : h_.data(), entries);
    random_range random = batch.random(seed_, of_frame);
    random.point ^= 1U << 30;  // no other point has it: there are no transmissions
    const float n0 =
        config_.pilot_snr_db ? static_cast<float>(std::pow(10, -*config_.pilot_snr_db / 10)) : noise_.n0();
    add_awgn(exec, view<const cf>(base), make_view(estimates_.data(), entries),
             n0 / static_cast<float>(config_.pilots.value_or(config_.users)), random);
  }

  /// Queues: the H of csi_delay symbols before that of h_. W is behind H, so that both are a vector of two
  /// for each entry.
  void age(executor& exec, const frame_batch& batch) {
    const std::size_t matrices = batch.frames * air_->matrices(), entries = matrices * antennas_ * users_;
    random_range random = batch.random(seed_);
    random.point ^= 1U << 29;  // as that of the pilots' noise
    air_->draw(exec, make_view(h_.data() + entries, matrices, antennas_ * users_), random);
    apply_channel(exec, {weights_.data(), 2, entries, 1, 0}, {h_.data(), 2, entries, entries, 1},
                  make_view(estimates_.data(), entries), 1);
  }
  static std::vector<cf> weights_of(double correlation) {
    return {static_cast<float>(correlation), static_cast<float>(std::sqrt(1 - correlation * correlation))};
  }

  bool is_clustered() const noexcept {
    return config_.clusters > 1 || config_.cluster_method != massive_cluster_method::exact;
  }
  /// At most: sums over the antennas of each cluster or its estimates, and what conjugate gradients keep.
  std::size_t bytes_of_clusters() const noexcept {
    if (!is_clustered()) return 0;
    return as_size(config_.clusters) * users_ * (4 * users_ * air_->matrices() + 13 * vectors_) +
           60 * users_ * vectors_;
  }

  massive_link_config config_;
  std::uint64_t seed_;
  std::size_t users_, antennas_, subcarriers_;
  std::size_t vectors_, rows_;  // of a frame: vectors, codewords
  noise_of_link noise_;
  qam_mapper mapper_;
  std::unique_ptr<air> air_;
  // Of codewords; of vectors; what base stations receive or send.
  array<cf> symbols_, sent_, samples_, h_, estimates_;
  array<cf> weights_;  // of H and W in an H of before
};

class uplink_antennas final : public massive_antennas {
 public:
  using massive_antennas::massive_antennas;

  std::size_t bytes_per_frame() const noexcept override {  // and LLRs of vectors, which a detector keeps
    return massive_antennas::bytes_per_frame() + vectors_ * users_ * 4 * as_size(mapper_.bits());
  }

 private:
  void pass(executor& exec, const frame_batch& batch) override {
    const std::size_t vectors = batch.frames * vectors_, matrices = batch.frames * air_->matrices();
    const auto y = make_view(samples_.data(), vectors, antennas_);
    const auto h = make_view(h_.data(), matrices, antennas_ * users_);
    air_->send(exec, make_view(sent_.data(), vectors, users_), y, h, batch.random(seed_));
    noise_.add(exec, samples_.data(), vectors_ * antennas_, batch);
    estimate(exec, batch);
  }

  samples received(std::size_t frames) const override {
    const std::size_t vectors = frames * vectors_;
    return {.channel = known(frames),
            .items_per_channel = vectors_ / air_->matrices(),
            .received = make_view(samples_.data(), vectors, antennas_),
            .noise_var = noise_.variances(vectors)};
  }
};

class downlink_antennas final : public massive_antennas {
 public:
  explicit downlink_antennas(const link_config& link)
      : massive_antennas(link), precoder_(precoder_of(config_).precoder) {
    if (is_clustered()) clustered_.emplace(precoder_of(config_));
    if (config_.cluster_method == massive_cluster_method::local_mmse) parts_ = config_.clusters;
  }

  std::size_t bytes_per_frame() const noexcept override {
    const std::size_t references = air_->matrices() * users_;
    return massive_antennas::bytes_per_frame() + vectors_ * (users_ * 24 + 4) +
           references * (8 * antennas_ + 16 * users_ + 12 + 4 + 1);
  }

  void allocate(executor& exec, std::size_t frames) override {
    massive_antennas::allocate(exec, frames);
    const std::size_t vectors = frames * vectors_, matrices = frames * air_->matrices();
    status_ = exec.make<std::uint8_t>(vectors, 1);
    received_ = exec.make<cf>(vectors, users_);
    noise_vars_ = exec.make<float>(vectors, users_);
    variances_ = exec.make<float>(vectors, users_);
    factors_ = exec.make<float>(vectors, 1);
    const std::vector<cf> once = reference_vectors(config_.users);
    std::vector<cf> repeated;
    for (std::size_t i = 0; i < matrices; i++) repeated.insert(repeated.end(), once.begin(), once.end());
    references_ = exec.make_from(repeated);
    precoded_ = exec.make<cf>(matrices * users_, antennas_);
    heard_ = exec.make<cf>(matrices * users_, users_);
    reference_factors_ = exec.make<float>(matrices * users_, 1);
    gains_ = exec.make<cf>(matrices, users_);
    interference_ = exec.make<float>(matrices, users_);
  }

 private:
  /// Sends m itself.
  static clustered_downlink_config precoder_of(const massive_link_config& c) {
    clustered_downlink_config precoder = clustered_downlink_of(c);
    precoder.precoder.normalization = massive_normalization::unscaled;
    return precoder;
  }

  void pass(executor& exec, const frame_batch& batch) override {
    const std::size_t vectors = batch.frames * vectors_, matrices = batch.frames * air_->matrices();
    const auto h = make_view(h_.data(), matrices, antennas_ * users_);
    const auto x = make_view(samples_.data(), vectors, antennas_);
    air_->draw(exec, h, batch.random(seed_));
    estimate(exec, batch);
    precode(exec, known(batch.frames), make_view(sent_.data(), vectors, users_), x,
            make_view(status_.data(), vectors));
    normalize_vectors(exec, x, parts_, make_view(factors_.data(), vectors));
    apply_adjoint_channel(exec, h, x, make_view(received_.data(), vectors, users_), vectors / matrices);
    noise_.add(exec, received_.data(), vectors_ * users_, batch);
    learn_gains(exec, h, known(batch.frames));
    divide(exec, batch.frames);
  }

  void precode(executor& exec, view<const cf> h, view<const cf> sent, view<cf> precoded,
               view<std::uint8_t> status) {
    const downlink_input in{.channel = h,
                            .sent = sent,
                            .noise_var = noise_.variances(h.items),
                            .symbols = static_cast<int>(sent.items / h.items)};
    if (clustered_)
      clustered_->run(exec, in, precoded, status);
    else
      precoder_.run(exec, in, precoded, status);
  }

  /// Gains of all matrices from reference vectors. Vectors that the precoder erases are zeros, as their
  /// gains.
  void learn_gains(executor& exec, view<const cf> h, view<const cf> of_station) {
    const std::size_t matrices = h.items, vectors = matrices * users_;
    const auto x = make_view(precoded_.data(), vectors, antennas_);
    const auto y = make_view(heard_.data(), vectors, users_);
    view<float> factor = {};
    precode(exec, of_station, make_view(references_.data(), vectors, users_), x, {});
    if (parts_ > 1) {  // else all parts of a vector have one factor, which need not be multiplied with
      normalize_vectors(exec, x, parts_, make_view(reference_factors_.data(), vectors));
      factor = make_view(reference_factors_.data(), matrices, users_);
    }
    apply_adjoint_channel(exec, h, x, y, users_);
    effective_gains(exec, make_view(references_.data(), 1, users_ * users_),
                    make_view(heard_.data(), matrices, users_ * users_), factor,
                    make_view(gains_.data(), matrices, users_),
                    make_view(interference_.data(), matrices, users_));
  }

  /// Users: codeword after codeword again, for which sent_ is free.
  void divide(executor& exec, std::size_t frames) {
    const std::size_t cells = vectors_ * users_, matrices = frames * air_->matrices(),
                      of_matrix = frames * vectors_ / matrices;
    const auto y = make_view(received_.data(), matrices, of_matrix * users_);
    divide_by_gains(exec, make_view(gains_.data(), matrices, users_),
                    make_view(interference_.data(), matrices, users_),
                    make_view(factors_.data(), matrices, of_matrix), noise_.variances(matrices), y, y,
                    make_view(noise_vars_.data(), matrices, of_matrix * users_));
    regroup(exec, view<const cf>(make_view(received_.data(), frames, cells)),
            make_view(sent_.data(), frames, cells), config_.subcarriers, static_cast<int>(rows_));
    regroup(exec, view<const float>(make_view(noise_vars_.data(), frames, cells)),
            make_view(variances_.data(), frames, cells), config_.subcarriers, static_cast<int>(rows_), 1);
  }

  samples received(std::size_t frames) const override {
    const std::size_t symbols = frames * vectors_ * users_;
    return {.received = make_view(sent_.data(), symbols),
            .noise_var = make_view(variances_.data(), symbols),
            .status = make_view(status_.data(), frames * vectors_)};
  }

  downlink_precoder precoder_;
  std::optional<clustered_downlink_precoder> clustered_;  // in its place
  int parts_ = 1;                                         // of a vector, each with a power of its own
  array<cf> received_, references_, precoded_, heard_, gains_;
  array<float> factors_, reference_factors_, interference_;
  array<float> noise_vars_, variances_;  // of vectors, of codewords
  array<std::uint8_t> status_;
};

/// The massive-MIMO uplink, whole or in clusters, with LLRs codeword after codeword.
class codeword_uplink final : public soft_detector {
 public:
  codeword_uplink(const massive_link_config& c, int qam)
      : config_(c), m_(bits_per_symbol(qam)), detector_(uplink_of(c, qam)) {
    if (c.clusters > 1 || c.cluster_method != massive_cluster_method::exact)
      clustered_.emplace(clustered_uplink_of(c, qam));
  }
  std::size_t bits_per_use() const noexcept override { return static_cast<std::size_t>(config_.users * m_); }
  bool takes_prior() const noexcept override { return false; }
  void run(executor& exec, const detector_input& in, const detector_output& out) const override {
    const std::size_t vectors = in.received.items, n = bits_per_use(),
                      of_frame = static_cast<std::size_t>(config_.subcarriers * config_.symbols);
    view<const float> n0 = in.noise_var;  // one of each channel matrix
    n0.items = in.channel.items;
    n0.item_stride *= in.uses_per_channel;
    const auto llr =
        make_view(reinterpret_cast<float*>(llr_.on(exec, vectors * n * sizeof(float))), vectors, n);
    const uplink_input frames{in.channel, in.received, n0, static_cast<int>(in.uses_per_channel)};
    const uplink_output found{.llr = llr, .llr_int8 = {}, .equalized = {}, .sinr = {}, .status = out.status};
    if (clustered_)
      clustered_->run(exec, frames, found);
    else
      detector_.run(exec, frames, found);
    const std::size_t cells = of_frame * n, count = vectors / of_frame;
    regroup(exec, view<const float>(make_view(llr.data, count, cells)), make_view(out.llr.data, count, cells),
            config_.subcarriers, static_cast<int>(config_.codewords()), m_);
  }

 private:
  massive_link_config config_;
  int m_;
  uplink_detector detector_;
  std::optional<clustered_uplink_detector> clustered_;  // in its place
  kept_workspace llr_;
};

void add_massive_keys(config::schema& s, const std::vector<setting_condition>& allowed) {
  config::add_table(
      s, "massive.solver", massive_link_settings(), allowed,
      "Massive MIMO is a base station of many antennas and U users in fading, OFDM, and one codeword for "
      "each user and OFDM symbol, so that code.k is that of a codeword (docs/li-thesis.md). A frame is a "
      "drop: one set of users and their channels. Errors of its codewords are not independent, so "
      "confidence intervals are computed from the differences between frames. Rayleigh fading is \"fast\" "
      "where each subcarrier has an H of its own, \"block\" where all have one; tdl takes subcarriers and "
      "symbols from here, and a Doppler shift with csi_delay alone.");
  s.add("modem", config::demapper_settings(), {}, "",
        {config::made_choice(s, "massive.solver"), {"massive.direction", {"downlink"}}});
}

void read_massive(const config::link_keys& keys, link_config& c) {
  massive_link_config m;
  keys.take("massive", massive_link_settings(), m);
  const config::place solver = keys.tree().where("massive.solver");
  if (is_iterative(m.solver)) {
    if (!keys.tree().has("massive.iterations"))
      keys.refuse(solver.line, "massive.iterations is missing with massive.solver = " +
                                   as_message(find_setting(massive_link_settings(), "solver")->get(m)));
    if (keys.tree().level("massive.sinr") < solver.level) m.sinr.reset();  // of another solver
  }
  if (c.channel.type == "file" && !keys.tree().has("massive.subcarriers")) m.subcarriers = 0;
  if (m.direction == massive_direction::downlink) m.demapper = keys.demapper();
  if (is_uncoded(c.code) && m.subcarriers != 0 && !keys.tree().has("code.k"))
    c.code.set("k", std::int64_t{m.subcarriers * bits_per_symbol(c.qam)});
  c.antennas = m;
}

void complete_massive(link_config& c) {
  auto& m = c.antennas.edit<massive_link_config>();
  const auto refuse = [](const char* argument, const std::string& value, const std::string& allowed) {
    throw argument_error(argument, value, allowed + " with massive MIMO");
  };
  const bool up = is_uplink(c);
  const int m_bits = bits_per_symbol(c.qam);
  check_modulation(c.qam, "massive MIMO");
  if (is_transport(c.code)) refuse("code.type", "\"" + c.code.type + "\"", "another one");
  m.subcarriers = complete_channel(c).grid.subcarriers;
  check_range("subcarriers", m.subcarriers, 1, 4096);
  check_range("symbols", m.symbols, 1, 64);
  check_range("csi_delay", m.csi_delay, 0, 100000);
  if (m.csi == massive_csi::perfect && (m.pilots || m.pilot_snr_db))
    refuse(m.pilots ? "pilots" : "pilot_snr_db",
           m.pilots ? std::to_string(*m.pilots) : decimal(*m.pilot_snr_db), "none of csi perfect");
  if (m.pilots) check_range("pilots", *m.pilots, m.users, 4096);
  if (m.pilot_snr_db) check_number("pilot_snr_db", *m.pilot_snr_db, -100, 300);
  if (!up && m.sinr)
    refuse("sinr", *m.sinr == massive_sinr::exact ? "exact" : "approximate", "none downlink");
  if (up && m.demapper != demap_algorithm::max_log) refuse("demapper", name_of(m.demapper), "none uplink");
  if (up && !m.sinr) m.sinr = is_iterative(m.solver) ? massive_sinr::approximate : massive_sinr::exact;
  if (up)
    check(clustered_uplink_of(m, c.qam));
  else
    check(clustered_downlink_of(m));
  const int bits = m.subcarriers * m_bits;
  if (const auto* open = c.code.settings.find<uncoded_settings>(); open != nullptr && !open->k)
    c.code.edit<uncoded_settings>().k = bits;
  c.code = completed(c.code);
  if (const std::size_t n = sizes_of(c.code).n; n > as_size(bits))
    throw argument_error("subcarriers", std::to_string(m.subcarriers),
                         "at least " + std::to_string((n + as_size(m_bits) - 1) / as_size(m_bits)) +
                             ", as a codeword of " + std::to_string(n) + " bits is sent in one OFDM symbol");
}

void describe_massive(const link_config& c, air_antennas& a) {
  const massive_link_config& m = massive_of(c);
  a.system = air_system::massive;
  a.rx = m.antennas;
  a.grid.subcarriers = m.subcarriers;
  a.grid.symbols = m.symbols;
  a.together = as_size(m.symbols);
  a.csi_delay = m.csi_delay;
}

named_values results(const link_config& c) {
  named_values values;
  if (!is_uplink(c)) values.emplace_back("modem.demapper", name_of(massive_of(c).demapper));
  add_values(values, "massive", massive_link_settings(), massive_of(c));
  for (auto& [name, value] : values)
    if (name == "massive.solver") value = name_of(massive_of(c).solver);  // as results have always spelt it
  return values;
}

/// "cg I = 3", "cholesky, approximate SINR".
std::string massive_name(const link_antennas& a) {
  const auto& m = a.get<massive_link_config>();
  std::string name = name_of(m.solver);
  if (is_iterative(m.solver)) return name + " I = " + std::to_string(m.iterations.value());
  return m.sinr == massive_sinr::approximate ? name + ", approximate SINR" : name;
}

/// Gram matrix, its inverse and the products of vectors, for each use.
std::uint64_t work(const link_config& c) {
  const auto antennas = as_size(massive_of(c).antennas), users = as_size(massive_of(c).users);
  return uses_per_frame(c) * antennas * users * (users / 4 + 20);
}

/// A frame of the loop is a drop. The interleaver also brings the codewords of all users into the order of
/// vectors.
std::unique_ptr<receiver> make_loop(const link_config& c) {
  const massive_link_config& m = massive_of(c);
  const user_codewords frame{as_size(m.users), as_size(m.symbols), as_size(m.subcarriers),
                             as_size(bits_per_symbol(c.qam))};
  receiver_config loop = *c.receiver;
  loop.interleaver = receiver_interleaver::none;
  loop.permutation = order_of(frame, interleaver_of(*c.receiver, sizes_of(c.code).n));
  auto decoder =
      make_codewords_decoder(make_soft_decoder(c.code, loop.inner), frame.codewords(), frame.places());
  return make_bit_loop(c, make_soft_detector(uplink_of(m, c.qam)), std::move(decoder), loop, frame.symbols);
}

/// Solvers of the detector, with iterations and SINRs: those that the link takes.
std::vector<link_antennas> uplink_candidates(const link_config& c) {
  if (!is_uplink(c))
    throw argument_error("massive.direction", "downlink", "uplink: a receiver of the downlink has no choice");
  (void)completed(c);  // throws argument_error
  const massive_link_config& given = massive_of(c);
  std::vector<link_antennas> candidates{c.antennas};
  const auto add = [&](massive_solver solver, std::optional<int> iterations,
                       std::optional<massive_sinr> sinr) {
    massive_link_config m = given;
    m.solver = solver, m.iterations = iterations, m.sinr = sinr;
    if (!has_residual(solver)) m.residual = least_massive_residual;
    link_config tried = c;
    tried.antennas = m;
    const std::string name = massive_name(tried.antennas);
    for (const link_antennas& other : candidates)
      if (massive_name(other) == name) return;
    try {
      (void)completed(tried);
      candidates.push_back(tried.antennas);
    } catch (const argument_error&) {  // clusters do not take it
    }
  };
  for (const massive_solver solver : {massive_solver::mf, massive_solver::zf, massive_solver::cholesky})
    for (const massive_sinr sinr : {massive_sinr::exact, massive_sinr::approximate}) add(solver, {}, sinr);
  for (const massive_solver solver : {massive_solver::cg, massive_solver::jacobi_cg, massive_solver::neumann,
                                      massive_solver::gauss_seidel, massive_solver::chebyshev})
    for (const int iterations : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16})
      if (iterations <= given.users) add(solver, iterations, {});
  return candidates;
}

}  // namespace

antenna_kind massive_kind() {
  return {
      .name = "massive",
      .key = "massive.solver",
      .idle = {"mimo", "detector", "stbc", "modem.demapper", "nr.channel"},
      .add_keys = add_massive_keys,
      .read = read_massive,
      .complete = complete_massive,
      .check_loop =
          [](const link_config& c) {
            if (!is_uplink(c)) refuse_loop(c, "unset with massive.direction = \"downlink\"");
            check_bit_loop(c);
          },
      .streams = [](const link_config& c) { return massive_of(c).users; },
      .rx_antennas = [](const link_config& c) { return is_uplink(c) ? massive_of(c).antennas : 1; },
      .many_codewords = true,
      .codewords = [](const link_config& c) { return massive_of(c).codewords(); },
      .uses_for = [](const link_config& c,
                     std::size_t symbols) { return symbols * as_size(massive_of(c).symbols); },
      .uses = [](const link_config& c) { return as_size(massive_of(c).subcarriers * massive_of(c).symbols); },
      .symbol_energy = [](const link_config& c) { return is_uplink(c) ? 1 : 1.0 / massive_of(c).users; },
      .describe = describe_massive,
      .erases_sent = [](const link_config& c) { return !is_uplink(c); },
      .results = results,
      .work = work,
      .make = [](const link_config& c) -> std::unique_ptr<antenna_system> {
        if (is_uplink(c)) return std::make_unique<uplink_antennas>(c);
        return std::make_unique<downlink_antennas>(c);
      },
      .make_detector = [](const link_config& c) -> std::unique_ptr<soft_detector> {
        if (is_uplink(c)) return std::make_unique<codeword_uplink>(massive_of(c), c.qam);
        return make_open_detector(demapper_config{c.qam, massive_of(c).demapper});
      },
      .make_loop = make_loop,
      .candidates = uplink_candidates,
      .receiver_name = massive_name,
  };
}

}  // namespace wb

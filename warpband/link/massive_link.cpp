#include <warpband/link/massive_link.hpp>

#include <cmath>

#include <warpband/channel/awgn/awgn.hpp>
#include <warpband/channel/matrix/matrix.hpp>
#include <warpband/link/count/count.hpp>
#include <warpband/link/gain/gain.hpp>
#include <warpband/link/regroup/regroup.hpp>

namespace wb {
namespace {

using complex_view = view<std::complex<float>>;

std::size_t size(int n) { return static_cast<std::size_t>(n); }

}  // namespace

massive_link::massive_link(const link_config& link)
    : config_(std::get<massive_link_config>(link.antennas)),
      mapper_(link.qam),
      demapper_(link.qam, config_.demapper),
      channel_(make_massive_channel(link.channel, config_)) {
  if (config_.direction == massive_direction::uplink)
    detector_.emplace(uplink_of(config_, link.qam));
  else
    precoder_.emplace(downlink_of(config_));
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

// Loops whose factor graph is a tree: detector and decoder together find the exact max-log LLRs, which
// enumeration of all words that can have been sent gives too.
#include <limits>
#include <random>

#include <oracle/modem.hpp>
#include <tests/receive.hpp>

namespace joint_test {

using namespace wb::testing;
using wb::detector_config;
using wb::iterative_receiver;
using wb::receiver_config;

/// Each check is a list of coded bits whose sum is even.
using checks = std::vector<std::vector<std::size_t>>;

/// Single parity checks without a bit in common, by the definition: of all values of the other bits of the
/// check that fit, the best. On a CPU only.
class parity_decoder final : public wb::soft_decoder {
 public:
  parity_decoder(std::size_t n, checks c) : n_(n), checks_(std::move(c)) {}
  std::size_t k() const noexcept override { return n_; }
  std::size_t n() const noexcept override { return n_; }
  void run(wb::executor&, wb::view<const float> llr, const wb::soft_decoder_state&,
           const wb::soft_decoder_output& out) const override {
    for (std::size_t i = 0; i < llr.items; i++) {
      const float* l = llr.data + i * llr.item_stride;
      float* e = out.extrinsic.data + i * out.extrinsic.item_stride;
      std::fill_n(e, n_, 0.f);
      for (const auto& check : checks_)
        for (const std::size_t bit : check) {
          double best[2] = {-1e30, -1e30};  // by the bit's value
          for (unsigned word = 0; word < 1U << check.size(); word++) {
            double metric = 0;
            unsigned sum = 0, index = 0;
            for (std::size_t b = 0; b < check.size(); b++) {
              const unsigned value = word >> b & 1;
              sum ^= value;
              if (check[b] == bit)
                index = value;
              else
                metric += value != 0 ? -l[check[b]] / 2. : l[check[b]] / 2.;
            }
            if (sum == 0) best[index] = std::max(best[index], metric);
          }
          e[bit] = static_cast<float>(best[0] - best[1]);
        }
      if (out.finished.data != nullptr) out.finished.data[i * out.finished.item_stride] = 0;
      if (out.iterations.data != nullptr) out.iterations.data[i * out.iterations.item_stride] = 1;
      if (out.status.data != nullptr) out.status.data[i * out.status.item_stride] = 0;
    }
  }

 private:
  std::size_t n_;
  checks checks_;
};

/// Max-log LLRs of all bits of a frame, by enumeration of the words that satisfy the checks, given over
/// positions. A-priori LLRs are those of positions too.
std::vector<double> joint_llrs(const detector_config& d, const sent_frames& f, const checks& c,
                               const std::vector<float>& prior) {
  const auto points = oracle::constellation(d.qam);
  const std::size_t uses = f.n0.size(), streams = static_cast<std::size_t>(d.streams), m = 2,
                    bits = uses * streams * m;
  std::vector<double> best[2]{std::vector<double>(bits, -1e30), std::vector<double>(bits, -1e30)};
  for (std::size_t word = 0; word < std::size_t{1} << bits; word++) {
    const auto bit = [&](std::size_t p) { return word >> p & 1; };
    bool fits = true;
    for (const auto& check : c) {
      std::size_t sum = 0;
      for (const std::size_t p : check) sum ^= bit(p);
      fits = fits && sum == 0;
    }
    if (!fits) continue;
    double metric = 0;
    for (std::size_t u = 0; u < uses; u++)
      for (std::size_t r = 0; r < f.rx; r++) {
        std::complex<double> e(f.y[u * f.rx + r]);
        for (std::size_t s = 0; s < streams; s++) {
          const std::size_t p = (u * streams + s) * m;
          e -= std::complex<double>(f.h[u * f.gains + r * streams + s]) * points[2 * bit(p) + bit(p + 1)];
        }
        metric -= std::norm(e) / f.n0[u];
      }
    for (std::size_t p = 0; p < prior.size(); p++) metric += bit(p) != 0 ? -prior[p] / 2. : prior[p] / 2.;
    for (std::size_t p = 0; p < bits; p++) best[bit(p)][p] = std::max(best[bit(p)][p], metric);
  }
  for (std::size_t p = 0; p < bits; p++) best[0][p] -= best[1][p];
  return best[0];
}

/// A frame with random entries; `real`: the channel is.
sent_frames random_frame(std::size_t uses, bool real, std::mt19937_64& random) {
  std::normal_distribution<float> normal(0, std::sqrt(0.5f));
  const auto entry = [&] {
    const float re = normal(random);
    return std::complex<float>(re, normal(random));
  };
  sent_frames f;
  f.frames = 1;
  f.rx = 2;
  f.gains = 4;
  for (std::size_t u = 0; u < uses; u++) {
    for (int i = 0; i < 4; i++) f.h.push_back(real ? std::complex<float>(entry().real() * 1.4f) : entry());
    for (std::size_t r = 0; r < 2; r++) {
      const std::complex<float> a(random() % 2 ? 0.7f : -0.7f, random() % 2 ? 0.7f : -0.7f),
          b(random() % 2 ? 0.7f : -0.7f, random() % 2 ? 0.7f : -0.7f);
      f.y.push_back(f.h[u * 4 + r * 2] * a + f.h[u * 4 + r * 2 + 1] * b + entry());
    }
    f.n0.push_back(0.5f + 0.001f * static_cast<float>(random() % 1000));
  }
  return f;
}

/// After the last outer iteration what goes into the decoder and what it says are together the exact LLRs.
void expect_joint(const detector_config& d, const iterative_receiver& receiver, const sent_frames& f,
                  const checks& over_coded_bits, const std::vector<float>& prior) {
  const auto exec = wb::open_executor("cpu");
  std::vector<std::int32_t> order = receiver.interleaver().permutation();
  std::vector<std::size_t> place(receiver.n());
  for (std::size_t p = 0; p < place.size(); p++)
    place[order.empty() ? p : static_cast<std::size_t>(order[p])] = p;
  checks over_places = over_coded_bits;
  for (auto& check : over_places)
    for (std::size_t& bit : check) bit = place[bit];
  std::vector<float> prior_of_places(prior.size());
  for (std::size_t i = 0; i < prior.size(); i++) prior_of_places[place[i]] = prior[i];
  const std::vector<double> exact = joint_llrs(d, f, over_places, prior_of_places);
  const received_frames got = receive(*exec, receiver, f, prior, false);
  double information = 0;  // that no detector has by itself
  for (std::size_t i = 0; i < receiver.n(); i++) {
    EXPECT_NEAR(got.detected[i] + got.extrinsic[i], exact[place[i]], 1e-4) << "bit " << i;
    information += std::fabs(got.extrinsic[i]);
  }
  EXPECT_GT(information, 0.1);
}

TEST(receiver_of_a_tree, finds_the_joint_llrs_of_parity_checks_over_several_uses) {
  std::mt19937_64 random(3);
  // Uses 0..3 of four bits: checks that join 0, 1, 2 and 2, 3.
  const checks c{{0, 5, 11}, {8, 14}};
  std::vector<std::int32_t> order(16);
  for (std::size_t i = 0; i < 16; i++) order[i] = static_cast<std::int32_t>(i ^ 3);  // within a use
  for (const std::string type : {"ml", "nway", "kbest"}) {
    detector_config d;
    d.type = type;
    if (type == "kbest") d.edit<wb::kbest_settings>().survivors = 16, d.llr_clip = 1e5f;
    for (const auto& permutation : {std::vector<std::int32_t>{}, order}) {
      receiver_config config;
      config.outer = 3;
      config.permutation = permutation;
      const iterative_receiver receiver(std::shared_ptr<wb::soft_detector>(wb::make_soft_detector(d)),
                                        std::make_shared<parity_decoder>(16, c), config);
      ASSERT_EQ(receiver.uses_per_frame(), 4U);
      for (int i = 0; i < 10; i++) expect_joint(d, receiver, random_frame(4, false, random), c, {});
    }
  }
}

TEST(receiver_of_a_tree, finds_the_joint_llrs_of_an_ldpc_code) {
  // With a real channel the real parts of the two streams of a use are a pair of bits, and the imaginary
  // parts are one. Checks of two bits make a chain of these pairs; the last two bits are not coded.
  const checks c{{4, 0}, {2, 1}, {3, 5}};
  wb::qc_matrix matrix{3, 6, std::vector<int>(18, -1)};
  for (std::size_t r = 0; r < 3; r++)
    for (const std::size_t bit : c[r]) matrix.shifts[r * 6 + bit] = 0;
  std::mt19937_64 random(4);
  for (const auto schedule : {wb::ldpc_schedule::layered, wb::ldpc_schedule::flooding})
    for (const auto state : {wb::receiver_state::keep, wb::receiver_state::reset}) {
      detector_config d;
      d.type = "ml";
      receiver_config config;
      config.outer = 4;
      config.decoder_state = state;
      const iterative_receiver receiver(
          std::shared_ptr<wb::soft_detector>(wb::make_soft_detector(d)),
          std::shared_ptr<wb::soft_decoder>(
              wb::make_soft_decoder(wb::ldpc_code(matrix, 1), {.algorithm = wb::ldpc_algorithm::min_sum,
                                                               .iterations = 3,
                                                               .schedule = schedule,
                                                               .early_stop = wb::ldpc_early_stop::none})),
          config);
      ASSERT_EQ(receiver.uses_per_frame(), 2U);
      for (int i = 0; i < 10; i++) {
        const sent_frames f = random_frame(2, true, random);
        expect_joint(d, receiver, f, c, {});
      }
    }
}

}  // namespace joint_test

#include <oracle/lte.hpp>

#include <cstddef>
#include <stdexcept>

namespace oracle {

std::vector<int> qpp(int k, int f1, int f2) {
  if (k < 1 || k > 65536) throw std::invalid_argument("oracle::qpp: k must be 1..65536");
  if (f1 < 0 || f2 < 0) throw std::invalid_argument("oracle::qpp: f1 and f2 must not be negative");
  const auto modulus = static_cast<std::uint64_t>(k);
  const auto a = static_cast<std::uint64_t>(f1);
  const auto b = static_cast<std::uint64_t>(f2);
  std::vector<int> pi;
  for (std::uint64_t i = 0; i < modulus; ++i) pi.push_back(static_cast<int>((a * i + b * i * i) % modulus));
  return pi;
}

std::vector<std::uint8_t> crc(const std::vector<std::uint8_t>& bits,
                              std::uint32_t polynomial_with_leading_term, int degree) {
  if (degree < 1 || degree > 31 || (polynomial_with_leading_term >> degree) != 1) {
    throw std::invalid_argument(
        "oracle::crc: the leading term of the polynomial must be D^degree, degree 1..31");
  }
  const auto width = static_cast<std::size_t>(degree);
  std::vector<std::uint8_t> dividend = bits;
  dividend.resize(bits.size() + width, 0);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (dividend[i] == 0) continue;
    for (std::size_t j = 0; j <= width; ++j) {
      dividend[i + j] ^= static_cast<std::uint8_t>((polynomial_with_leading_term >> (width - j)) & 1U);
    }
  }
  return {dividend.end() - degree, dividend.end()};
}

namespace {

/// One constituent encoder of TS 36.212 figure 5.1.3-2: G(D) = [1, g1(D)/g0(D)], g0 = 1 + D^2 + D^3
/// (feedback), g1 = 1 + D + D^3. delay_1 is the youngest register.
class constituent_encoder {
 public:
  /// Clocks one input bit through and returns the parity bit.
  int clock(int input) {
    const int into_register = input ^ feedback();
    const int parity = into_register ^ delay_1_ ^ delay_3_;
    delay_3_ = delay_2_;
    delay_2_ = delay_1_;
    delay_1_ = into_register;
    return parity;
  }

  /// With the switch of figure 5.1.3-2 in the lower position the input is the feedback itself, so zeros are
  /// shifted in.
  [[nodiscard]] int feedback() const { return delay_2_ ^ delay_3_; }

 private:
  int delay_1_ = 0, delay_2_ = 0, delay_3_ = 0;
};

struct tail_bits {
  std::vector<std::uint8_t> x, z;
};

tail_bits terminate(constituent_encoder& encoder) {
  tail_bits tail;
  for (int step = 0; step < 3; ++step) {
    const int x = encoder.feedback();
    tail.x.push_back(static_cast<std::uint8_t>(x));
    tail.z.push_back(static_cast<std::uint8_t>(encoder.clock(x)));
  }
  return tail;
}

}  // namespace

turbo_streams turbo_encode(const std::vector<std::uint8_t>& bits, const std::vector<int>& interleaver) {
  if (bits.empty() || bits.size() != interleaver.size()) {
    throw std::invalid_argument("oracle::turbo_encode: bits and interleaver must have one, non-zero, length");
  }
  constituent_encoder first, second;
  turbo_streams out;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    out.d0.push_back(bits[i]);
    out.d1.push_back(static_cast<std::uint8_t>(first.clock(bits[i])));
    out.d2.push_back(
        static_cast<std::uint8_t>(second.clock(bits.at(static_cast<std::size_t>(interleaver[i])))));
  }
  const tail_bits t1 = terminate(first);
  const tail_bits t2 = terminate(second);
  // §5.1.3.2.2: x_K z_K x_{K+1} z_{K+1} x_{K+2} z_{K+2} and then the same of encoder 2 go to d0, d1, d2 in
  // turn.
  out.d0.insert(out.d0.end(), {t1.x[0], t1.z[1], t2.x[0], t2.z[1]});
  out.d1.insert(out.d1.end(), {t1.z[0], t1.x[2], t2.z[0], t2.x[2]});
  out.d2.insert(out.d2.end(), {t1.x[1], t1.z[2], t2.x[1], t2.z[2]});
  return out;
}

}  // namespace oracle

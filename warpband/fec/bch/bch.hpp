#pragma once
// Binary BCH codes over GF(2^m), m up to 16, that correct up to 12 errors: narrow-sense, systematic,
// shortened to any length. The outer codes of DVB-S2 are among them.
//
// alpha is a root of the primitive polynomial. The generator g(x) is the product of the minimal polynomials
// of alpha, alpha^3, ... alpha^(2 t - 1). Bit i of n is the coefficient of x^(n - 1 - i), so the first bit is
// the highest power. The last deg g bits are the remainder of the others modulo g.
//
// Decoder:
//   1. r(x) = c(x) mod g(x), a sum of stored remainders x^j mod g. The word is a codeword if r = 0.
//   2. Syndromes S_j = r(alpha^j) for odd j; S_2j = S_j^2.
//   3. Berlekamp-Massey without division finds the shortest error locator, of degree L. For binary codes each
//      second step does nothing and is left out.
//   4. Chien search: bit i is wrong if the locator is 0 at alpha^(i - n + 1). If L > t, or the locator has
//      other than L roots among the n bits, there are more than t errors: the word stays as it was.
//
// R. C. Bose, D. K. Ray-Chaudhuri, "On a class of error correcting binary group codes", 1960; E. R.
// Berlekamp, "Algebraic coding theory", 1968; J. L. Massey, "Shift-register synthesis and BCH decoding",
// 1969; R. T. Chien, "Cyclic decoding procedures for Bose-Chaudhuri-Hocquenghem codes", 1964. ETSI EN 302
// 307-1 clause 5.3.1 (DVB-S2).
#include <cstdint>
#include <vector>

#include <warpband/core/setting.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/fec/bch/bch_args.hpp>

namespace wb {

struct bch_config {
  /// m of GF(2^m), 3..16.
  int field_degree = 16;
  /// t, errors that are corrected, 1..12.
  int corrects = 12;
  /// Bits of a codeword, up to 2^m - 1 and above the degree of g.
  int n = 65535;
  /// The primitive polynomial, bit i for x^i; 0 for a default, those of DVB-S2 for m = 14, 15 and 16.
  int polynomial = 0;
  bool operator==(const bch_config&) const = default;
};
/// Its settings: names, what is allowed, what they mean.
const std::vector<setting_of<bch_config>>& bch_settings();

/// A checked code.
/// Threads: any number may call one object at once.
class bch_code {
 public:
  /// Throws argument_error.
  explicit bch_code(const bch_config& config);
  /// Moves copy: one that was moved from stays as it was.
  bch_code(const bch_code&) = default;
  bch_code& operator=(const bch_code&) = default;

  /// With the polynomial in force.
  const bch_config& config() const noexcept { return config_; }
  int n() const noexcept { return config_.n; }
  int k() const noexcept { return config_.n - parity(); }
  /// Parity bits, the degree of g.
  int parity() const noexcept { return static_cast<int>(generator_.size()) - 1; }
  /// Coefficients of g, from x^0 on.
  const std::vector<std::uint8_t>& generator() const noexcept { return generator_; }

 private:
  bch_config config_;
  std::vector<std::uint8_t> generator_;
};

/// Encodes bits [batch, k] to coded [batch, >= n], zeros behind the first n. Only the lowest bit of a byte
/// counts.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class bch_encoder {
 public:
  explicit bch_encoder(const bch_code& code);
  explicit bch_encoder(const bch_config& config) : bch_encoder(bch_code(config)) {}
  /// Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const;
  const bch_code& code() const noexcept { return code_; }
  const bch_config& config() const noexcept { return code_.config(); }

 private:
  bch_code code_;
  resident<std::int32_t> remainders_;
};

/// Outputs without data are not computed.
struct bch_output {
  view<std::uint8_t> bits = {};       // [batch, k]
  view<std::int32_t> corrected = {};  // [batch] errors that were corrected, those in parity bits included
  view<std::uint8_t> status = {};  // [batch] status_stopped: `bits` are those of a codeword; 0: they are as
                                   // received; or with status_erased the status that was given
};

/// Corrects up to t errors in hard decisions, received [batch, n]; only the lowest bit of a byte counts.
///
/// `erased`: [batch] status of the decoder that made the decisions, or no data. A word with status_erased
/// stays erased: its bits are zero, and its status is that one. More than t errors are either noticed or,
/// with a probability of about 1 / t! for a code of full length, taken for another codeword.
///
/// `undecided`: [batch] how many bits that decoder left undecided, or no data. A word with more than t of
/// them is not corrected, even if its decisions are a codeword.
///
/// CPU and CUDA, any instruction set, batch size and number of threads give the same bits.
///
/// Cost: a word without errors is read once, with 6 operations a bit. L errors add a search over n bits with
/// L (L + 1) / 2 multiplications by alpha each. On a CPU each lane has a word, and all lanes of an
/// instruction search if one does. On a GPU a block of threads has a word.
///
/// Threads: any number may call one object at once, each with an executor of its own.
class bch_decoder {
 public:
  explicit bch_decoder(const bch_code& code);
  explicit bch_decoder(const bch_config& config) : bch_decoder(bch_code(config)) {}
  /// Throws shape_error.
  void run(executor& exec, view<const std::uint8_t> received, const bch_output& out,
           view<const std::uint8_t> erased = {}, view<const std::int32_t> undecided = {}) const;
  const bch_code& code() const noexcept { return code_; }
  const bch_config& config() const noexcept { return code_.config(); }

 private:
  bch_code code_;
  resident<std::int32_t> remainders_, powers_;
};

}  // namespace wb

#include <warpband/fec/bch/bch.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/exec/kernel.hpp>

namespace wb {

WB_DECLARE_KERNEL(bch_encode)
WB_DECLARE_KERNEL(bch_decode)

namespace {

constexpr int least_field_degree = 3;
/// Primitive polynomials for m = 3, 4, ... 16.
constexpr int default_polynomials[] = {0xB,   0x13,  0x25,   0x43,   0x89,   0x11D,  0x211,
                                       0x409, 0x805, 0x1053, 0x201B, 0x402B, 0x802D, 0x1002D};

/// alpha^e for e = 0, 1, ... 2^m - 2. Throws argument_error where that is not all of the field.
std::vector<std::int32_t> powers_of_alpha(int field_degree, int polynomial) {
  const std::size_t order = (std::size_t{1} << field_degree) - 1;
  std::vector<std::int32_t> powers;
  std::int32_t x = 1;
  do {
    powers.push_back(x);
    x <<= 1;
    if (x >> field_degree != 0) x ^= polynomial;
  } while (x > 1 && powers.size() < order);
  if (powers.size() != order || x != 1)
    throw argument_error("polynomial", std::to_string(polynomial),
                         "a primitive polynomial of degree " + std::to_string(field_degree) +
                             ", bit i for x^i, or 0 for a default");
  return powers;
}

/// The product of (x - alpha^e) over the conjugates e, 2 e, 4 e, ... of each odd e up to 2 t - 1.
std::vector<std::uint8_t> generator_of(const bch_config& c, const std::vector<std::int32_t>& powers) {
  const int order = static_cast<int>(powers.size());
  std::vector<int> logarithms(powers.size() + 1);
  for (int e = 0; e < order; e++) logarithms[as_size(powers[as_size(e)])] = e;
  std::vector<char> is_root(powers.size());
  std::vector<std::int32_t> g{1};  // from x^0 on
  for (int odd = 1; odd < 2 * c.corrects; odd += 2)
    for (int e = odd % order; is_root[as_size(e)] == 0; e = 2 * e % order) {
      is_root[as_size(e)] = 1;
      g.insert(g.begin(), 0);
      for (std::size_t i = 0; i + 1 < g.size(); i++)
        if (g[i + 1] != 0) g[i] ^= powers[as_size((logarithms[as_size(g[i + 1])] + e) % order)];
    }
  return {g.begin(), g.end()};
}

/// bch_encode_args::remainders.
std::vector<std::int32_t> remainders_of(const bch_code& code) {
  const std::vector<std::uint8_t>& g = code.generator();
  const int parity = code.parity();
  std::vector<std::int32_t> table(as_size(code.n()) * bch_words);
  using words = std::array<std::uint32_t, bch_words>;
  words reduction{}, r{1};  // g without x^parity; x^j mod g, for the bits from the last one on
  for (int j = 0; j < parity; j++) reduction[as_size(j) / 32] |= std::uint32_t{g[as_size(j)]} << (j % 32);
  const std::size_t top = as_size(parity - 1);
  for (std::size_t i = as_size(code.n()); i-- > 0;) {
    std::transform(r.begin(), r.end(), table.begin() + static_cast<std::ptrdiff_t>(i * bch_words),
                   [](std::uint32_t w) { return static_cast<std::int32_t>(w); });
    const bool carry = (r[top / 32] >> (top % 32) & 1u) != 0;
    if (carry) r[top / 32] ^= std::uint32_t{1} << (top % 32);
    for (std::size_t w = bch_words; w-- > 0;)
      r[w] = r[w] << 1 ^ (w > 0 ? r[w - 1] >> 31 : 0) ^ (carry ? reduction[w] : 0);
  }
  return table;
}

}  // namespace

const std::vector<setting_of<bch_config>>& bch_settings() {
  using c = bch_config;
  static const std::vector<setting_of<c>> settings{
      integer("field_degree", &c::field_degree, least_field_degree, bch_most_field_degree,
              "m of the field GF(2^m)."),
      integer("corrects", &c::corrects, 1, bch_most_errors, "Errors that the code corrects, t."),
      integer("n", &c::n, 2, (1 << bch_most_field_degree) - 1,
              "Bits of a codeword: up to 2^m - 1, and more than its parity bits."),
      integer(
          "polynomial", &c::polynomial, 0, (2 << bch_most_field_degree) - 1,
          "The primitive polynomial of the field, bit i for x^i. 0: a default, that of DVB-S2 for m = 14, "
          "15 and 16.")};
  return settings;
}

bch_code::bch_code(const bch_config& config) : config_((check_settings(bch_settings(), config), config)) {
  if (config_.polynomial == 0)
    config_.polynomial = default_polynomials[config_.field_degree - least_field_degree];
  const auto powers = powers_of_alpha(config_.field_degree, config_.polynomial);
  generator_ = generator_of(config_, powers);
  const int order = static_cast<int>(powers.size());
  if (parity() >= order)
    throw argument_error("corrects", std::to_string(config_.corrects),
                         "fewer errors for field_degree " + std::to_string(config_.field_degree));
  if (config_.n > order || config_.n <= parity())
    throw argument_error("n", std::to_string(config_.n),
                         std::to_string(parity() + 1) + " to " + std::to_string(order) +
                             ", as this field and its parity bits ask");
}

bch_encoder::bch_encoder(const bch_code& code) : code_(code), remainders_(remainders_of(code)) {}

void bch_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  check_shape("bits", bits, bits.items, as_size(code_.k()));
  if (coded.elements < as_size(code_.n()))
    throw shape_error("coded", shape_text(coded.items, coded.elements),
                      "at least " + std::to_string(code_.n()) + " bits a codeword");
  check_shape("coded", coded, bits.items, coded.elements);
  const bch_encode_args a{code_.n(), code_.k(), bits, coded, remainders_.on(exec)};
  exec.run(bch_encode_kernels(), &a, bits.items);
}

bch_decoder::bch_decoder(const bch_code& code) : code_(code), remainders_(remainders_of(code)) {
  const auto powers = powers_of_alpha(code.config().field_degree, code.config().polynomial);
  std::vector<std::int32_t> table;
  for (int i = 0; i < code.config().corrects; i++)
    for (int j = 0; j < code.parity(); j++) table.push_back(powers[as_size((2 * i + 1) * j) % powers.size()]);
  powers_ = resident<std::int32_t>(std::move(table));
}

void bch_decoder::run(executor& exec, view<const std::uint8_t> received, const bch_output& out,
                      view<const std::uint8_t> erased, view<const std::int32_t> undecided) const {
  const std::size_t items = received.items;
  check_shape("received", received, items, as_size(code_.n()));
  check_optional_shape("bits", out.bits, items, as_size(code_.k()));
  check_optional_shape("corrected", out.corrected, items, 1);
  check_optional_shape("status", out.status, items, 1);
  check_optional_shape("erased", erased, items, 1);
  check_optional_shape("undecided", undecided, items, 1);
  check_apart({{"bits", out.bits}, {"corrected", out.corrected}, {"status", out.status}});
  bch_decode_args a;
  a.n = code_.n();
  a.k = code_.k();
  a.field_degree = code_.config().field_degree;
  a.polynomial = code_.config().polynomial;
  a.corrects = code_.config().corrects;
  a.received = received;
  a.erased = erased;
  a.undecided = undecided;
  a.bits = out.bits;
  a.corrected = out.corrected;
  a.status = out.status;
  a.remainders = remainders_.on(exec);
  a.powers = powers_.on(exec);
  exec.run(bch_decode_kernels(), &a, items);
}

}  // namespace wb

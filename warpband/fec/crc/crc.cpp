#include <warpband/fec/crc/crc.hpp>

#include <string>

#include <warpband/core/check.hpp>

namespace wb {

WB_DECLARE_KERNEL(crc_attach)

void check(crc_polynomial p) {
  check_range("crc_degree", p.degree, 1, 24);
  if (p.polynomial >> p.degree != 1)
    throw argument_error("crc_polynomial", std::to_string(p.polynomial),
                         "one of degree " + std::to_string(p.degree) + ", written with its leading term");
}

std::uint32_t crc_parity(const std::vector<std::uint8_t>& bits, crc_polynomial p) {
  check(p);
  const std::uint32_t top = 1u << (p.degree - 1), mask = top | (top - 1);
  std::uint32_t r = 0;
  for (const std::uint8_t b : bits) {
    const bool carry = ((r & top) != 0) != ((b & 1) != 0);
    r = (r << 1 & mask) ^ (carry ? p.polynomial & mask : 0);
  }
  return r;
}

std::vector<std::int32_t> crc_remainders(int n, crc_polynomial p) {
  check(p);
  check_range("n", n, 0, (1 << 24) + 24);
  std::vector<std::int32_t> remainders(static_cast<std::size_t>(n));
  std::uint32_t r = 1;
  for (std::size_t i = remainders.size(); i-- > 0;) {
    remainders[i] = static_cast<std::int32_t>(r);
    r <<= 1;
    if (r >> p.degree != 0) r ^= p.polynomial;
  }
  return remainders;
}

crc_attacher::crc_attacher(int n, crc_polynomial p) : n_(n), p_(p) {
  check_range("n", n, 1, 1 << 24);
  auto remainders = crc_remainders(n + p.degree, p);
  remainders.resize(static_cast<std::size_t>(n));
  weights_ = resident(std::move(remainders));
}

void crc_attacher::run(executor& exec, view<std::uint8_t> bits) const {
  check_shape("bits", bits, bits.items, static_cast<std::size_t>(n_ + p_.degree));
  const crc_attach_args a{n_, p_.degree, bits, weights_.on(exec)};
  exec.run(crc_attach_kernels(), &a, bits.items);
}

}  // namespace wb

#include <warpband/fec/turbo/turbo.hpp>

#include <algorithm>
#include <string>

#include <warpband/core/check.hpp>
#include <warpband/fec/crc/crc.hpp>
#include <warpband/fec/lte/qpp.hpp>

namespace wb {

WB_DECLARE_KERNEL(turbo_decode)
WB_DECLARE_KERNEL(turbo_encode)

namespace {

std::vector<std::int32_t> checked(std::vector<std::int32_t> permutation) {
  const std::size_t k = permutation.size();
  if (k < 40 || k > 65536) throw argument_error("permutation.size()", std::to_string(k), "40 to 65536");
  std::vector<bool> seen(k);
  for (std::int32_t p : permutation) {
    if (p < 0 || static_cast<std::size_t>(p) >= k || seen[static_cast<std::size_t>(p)])
      throw argument_error("permutation", "one with " + std::to_string(p) + " out of place",
                           "every index 0.." + std::to_string(k - 1) + " once");
    seen[static_cast<std::size_t>(p)] = true;
  }
  return permutation;
}

turbo_decoder_config checked(turbo_decoder_config c) {
  check_range("k", c.k, 40, 65536);
  check_range("iterations", c.iterations, 1, 64);
  if (c.algorithm != map_algorithm::log_map && c.algorithm != map_algorithm::max_log_map)
    throw argument_error("algorithm", std::to_string(static_cast<int>(c.algorithm)),
                         "max_log_map or log_map");
  // Short windows keep a GPU busy; with this overlap they lose 0.003 dB at K = 6144 (docs/wu2010.md).
  if (c.windows == 0) c.windows = std::max(1, c.k / 32);
  if (c.windows < 1 || c.windows > c.k / 8)
    throw argument_error("windows", std::to_string(c.windows),
                         "1 to k/8 = " + std::to_string(c.k / 8) + ", or 0 (automatic)");
  const int longest = c.windows == 1 ? 0 : c.k / c.windows - 1;
  if (c.overlap == -1) c.overlap = std::min(24, longest);
  if (c.overlap < 0 || (c.overlap > longest && c.windows > 1))
    throw argument_error("overlap", std::to_string(c.overlap),
                         "0 to k/windows - 1 = " + std::to_string(longest) + ", or -1 (automatic)");
  if (c.windows == 1) c.overlap = 0;
  if (!(c.extrinsic_scale > 0.f && c.extrinsic_scale <= 1.f))
    throw argument_error("extrinsic_scale", std::to_string(c.extrinsic_scale), "a factor in (0, 1]");
  if (c.algorithm == map_algorithm::log_map && c.extrinsic_scale != 1.f)
    throw argument_error("extrinsic_scale", std::to_string(c.extrinsic_scale),
                         "1 with log_map, which is exact");
  if (c.stop != early_stop::none && c.stop != early_stop::crc && c.stop != early_stop::sign_agreement)
    throw argument_error("stop", std::to_string(static_cast<int>(c.stop)), "none, crc or sign_agreement");
  if (c.stop == early_stop::crc && c.crc_degree >= c.k)
    throw argument_error("crc_degree", std::to_string(c.crc_degree), "less than k = " + std::to_string(c.k));
  return c;
}

}  // namespace

turbo_decoder::turbo_decoder(const turbo_decoder_config& config)
    : turbo_decoder(config, qpp_permutation(qpp_for(config.k))) {}

turbo_decoder::turbo_decoder(const turbo_decoder_config& config, std::vector<std::int32_t> permutation)
    : config_(checked(config)) {
  permutation = checked(std::move(permutation));
  const int k = config_.k, windows = config_.windows;
  if (permutation.size() != static_cast<std::size_t>(k))
    throw argument_error("permutation.size()", std::to_string(permutation.size()),
                         "k = " + std::to_string(k));
  // An odd distance between windows spreads them over the banks of shared memory.
  pad_ = windows > 1 && k / windows % 2 == 0 ? 1 : 0;
  const auto start = [&](int w) { return w * k / windows; };
  const auto address = [&](int i) { return i + ((i + 1) * windows - 1) / k * pad_; };
  std::vector<std::int32_t> table(static_cast<std::size_t>((k + windows - 1) / windows * windows));
  for (int w = 0; w < windows; w++)
    for (int i = start(w); i < start(w + 1); i++)
      table[static_cast<std::size_t>((i - start(w)) * windows + w)] =
          address(permutation[static_cast<std::size_t>(i)]);
  interleaved_ = resident(std::move(table));
  if (config_.stop == early_stop::crc)
    crc_weights_ = resident(crc_remainders(k, {config_.crc_polynomial, config_.crc_degree}));
}

void turbo_decoder::run(executor& exec, view<const float> llr, const turbo_decoder_output& out) const {
  const std::size_t k = static_cast<std::size_t>(config_.k), n = 3 * (k + 4), items = llr.items;
  check_shape("llr", llr, n, items);
  check_optional_shape("bits", out.bits, k, items);
  check_optional_shape("soft", out.soft, k, items);
  check_optional_shape("extrinsic", out.extrinsic, k, items);
  check_optional_shape("iterations", out.iterations, 1, items);
  check_optional_shape("status", out.status, 1, items);
  turbo_decode_args a;
  a.k = config_.k;
  a.windows = config_.windows;
  a.overlap = config_.overlap;
  a.iterations = config_.iterations;
  a.pad = pad_;
  a.log_map = config_.algorithm == map_algorithm::log_map;
  a.stop = config_.stop;
  a.scale = config_.extrinsic_scale;
  a.llr = llr;
  a.bits = out.bits;
  a.soft = out.soft;
  a.extrinsic = out.extrinsic;
  a.iterations_used = out.iterations;
  a.status = out.status;
  a.interleaved = interleaved_.on(exec);
  if (a.stop == early_stop::crc) a.crc_weights = crc_weights_.on(exec);
  exec.run(turbo_decode_kernels(), &a, items);
}

turbo_encoder::turbo_encoder(int k) : turbo_encoder(qpp_permutation(qpp_for(k))) {}
turbo_encoder::turbo_encoder(std::vector<std::int32_t> permutation)
    : permutation_(checked(std::move(permutation))) {}

void turbo_encoder::run(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const {
  const std::size_t n = static_cast<std::size_t>(k());
  check_shape("bits", bits, n, bits.items);
  check_shape("coded", coded, std::max(coded.elements, 3 * (n + 4)), bits.items);
  turbo_encode_args a;
  a.k = k();
  a.bits = bits;
  a.coded = coded;
  a.permutation = permutation_.on(exec);
  exec.run(turbo_encode_kernels(), &a, bits.items);
}

}  // namespace wb

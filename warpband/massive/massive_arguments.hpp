#pragma once
// What calls of detectors and precoders hand to their kernels: shapes are checked, and views are set.
#include <complex>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/massive/downlink/downlink.hpp>
#include <warpband/massive/massive_args.hpp>
#include <warpband/massive/uplink/uplink.hpp>

namespace wb {

/// What kernels compare with: |b - A x|^2 / |b|^2.
inline float squared_residual(float residual) {
  return static_cast<float>(static_cast<double>(residual) * static_cast<double>(residual));
}

inline void set_channel(massive_args& to, view<const std::complex<float>> h) { to.channel = as_pairs(h); }
inline void set_channel(massive_args& to, view<const half_complex> h) { to.half_channel = h; }
inline void set_received(massive_args& to, view<const std::complex<float>> y) { to.in = as_pairs(y); }
inline void set_received(massive_args& to, view<const half_complex> y) { to.half_in = y; }

/// What follows from the settings and the vectors of a frame; views are empty. Throws argument_error.
massive_args uplink_arguments(const uplink_config& config, int symbols);
/// The arguments of a call whose H and y have `antennas` antennas and whose outputs have `vectors` vectors.
/// Throws argument_error and shape_error.
template <class Input>
massive_args uplink_arguments(const uplink_config& config, const Input& in, const uplink_output& out,
                              int antennas, std::size_t vectors) {
  massive_args args = uplink_arguments(config, in.symbols);
  args.antennas = antennas;
  const std::size_t frames = in.channel.items, users = as_size(config.users),
                    bits = 2 * users * as_size(args.pam_bits);
  check_shape("channel", in.channel, frames, as_size(antennas) * users);
  check_shape("received", in.received, frames * as_size(in.symbols), as_size(antennas));
  check_shape("noise_var", in.noise_var, frames, 1);
  check_optional_shape("llr", out.llr, vectors, bits);
  check_optional_shape("llr_int8", out.llr_int8, vectors, bits);
  check_optional_shape("equalized", out.equalized, vectors, users);
  check_optional_shape("sinr", out.sinr, vectors, users);
  check_optional_shape("status", out.status, vectors, 1);
  check_apart({{"llr", out.llr},
               {"llr_int8", out.llr_int8},
               {"equalized", out.equalized},
               {"sinr", out.sinr},
               {"status", out.status}});
  set_channel(args, in.channel);
  set_received(args, in.received);
  args.noise_var = in.noise_var;
  args.llr = out.llr, args.llr8 = out.llr_int8, args.sinr = out.sinr, args.status = out.status;
  if (out.equalized.data != nullptr) args.out = as_pairs(out.equalized);
  return args;
}
/// The same for a precoder.
template <class Input>
massive_args downlink_arguments(const downlink_config& config, const Input& in,
                                view<std::complex<float>> precoded, view<std::uint8_t> status, int antennas) {
  check_range("symbols", in.symbols, 1, 1 << 20);
  const std::size_t frames = in.channel.items, vectors = frames * as_size(in.symbols),
                    users = as_size(config.users);
  check_shape("channel", in.channel, frames, as_size(antennas) * users);
  check_shape("sent", in.sent, vectors, users);
  check_shape("noise_var", in.noise_var, frames, 1);
  check_shape("precoded", precoded, vectors, as_size(antennas));
  check_optional_shape("status", status, vectors, 1);
  check_apart({{"precoded", precoded}, {"status", status}});
  massive_args args;
  args.antennas = antennas, args.users = config.users, args.symbols = in.symbols;
  args.solver = config.solver, args.iterations = config.iterations.value_or(0);
  args.residual_squared = squared_residual(config.residual);
  args.symbol_energy = symbol_energy_of(config);
  args.sent_norm = sent_norm_of(config);
  set_channel(args, in.channel);
  args.in = as_pairs(in.sent);
  args.noise_var = in.noise_var;
  args.out = as_pairs(precoded);
  args.status = status;
  return args;
}

}  // namespace wb

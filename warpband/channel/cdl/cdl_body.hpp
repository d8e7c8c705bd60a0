#pragma once
// Rays as integers of 2^-32 of a turn: phases wrap around by themselves, and those of all antennas and
// symbols follow from three integers without a rounding.
#include <warpband/channel/cdl/cdl_args.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/core/philox.hpp>
#include <warpband/core/rounding.hpp>

namespace wb {
inline namespace WB_ISA {

/// x turns, in units of 2^-32. |x| < 2^21.
template <class T>
WB_HD typename rebind<T>::u32 turns_of(T x) {
  using U = typename rebind<T>::u32;
  const T part = (x - round_to_even(x)) * T(32768.f);
  const T high = part + T(rounder), low = (part - (high - T(rounder))) * T(131072.f) + T(rounder);
  const U zero = U(as_uint(rounder_bits));
  return ((bits_of(high) - zero) << 17) + (bits_of(low) - zero);
}

/// The gain of path p from a user to antennas `antenna`, one in each lane, at symbol `time`, of unit
/// amplitude a ray. `drawn`: that of the drop.
template <class T>
WB_HD cx<T> cdl_gain(const cdl_args& a, const std::uint32_t* drawn, int user, int p,
                     typename rebind<T>::u32 antenna, std::uint32_t time) {
  using U = typename rebind<T>::u32;
  cx<T> sum{T(0.f), T(0.f)};
  const std::size_t users = static_cast<std::size_t>(a.users);
  const bool planar = a.numbers > 3;
  U row = antenna;
  if (planar && a.columns > 1) row = mulhi(antenna, U(a.reciprocal));  // exact below 2^16 antennas
  const U column = planar ? antenna - row * U(static_cast<std::uint32_t>(a.columns)) : antenna;
  const int end = a.starts[p + 1];
  for (int r = a.starts[p]; r < end; r++) {
    const std::uint32_t* ray =
        drawn + static_cast<std::size_t>(a.numbers * r) * users + static_cast<std::size_t>(user);
    std::uint32_t phase = ray[0];
    if (a.times > 1) phase += time * ray[2 * users];
    U turns = U(phase) + column * U(ray[users]);
    if (planar) turns = turns + row * U(ray[3 * users]);
    T s, c;
    sincos_turn<T>(turns, s, c);
    sum = {sum.re + c, sum.im + s};
  }
  return sum;
}
/// What a drop has in `drawn`.
WB_HD std::size_t cdl_drawn(const cdl_args& a) {
  return static_cast<std::size_t>(a.numbers * a.rays + 1) * static_cast<std::size_t>(a.users);
}
/// Where the amplitude of a user lies.
WB_HD view<float> cdl_amplitude(const cdl_args& a, std::size_t drop, int user) {
  return {reinterpret_cast<float*>(a.drawn) + drop * cdl_drawn(a) +
              static_cast<std::size_t>(a.numbers * a.rays * a.users + user),
          1, 1, 1, 1};
}

}  // namespace WB_ISA
}  // namespace wb

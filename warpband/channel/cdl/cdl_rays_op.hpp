#pragma once
#include <warpband/channel/cdl/cdl_body.hpp>
#include <warpband/channel/random.hpp>
#include <warpband/core/group.hpp>
#include <warpband/exec/op.hpp>

namespace wb {
inline namespace WB_ISA {

/// Draws the rays of one user of a drop, which is an item. Lanes are rays.
struct cdl_rays_op : parts_op<cdl_args> {
  // Plain arithmetic: host code calls no device function.
  int threads() const { return a.rays < 128 ? a.rays : 128; }
  std::size_t scratch_bytes(int) const {
    return shuffled() ? static_cast<std::size_t>(rows * padded()) * sizeof(std::uint32_t) : 0;
  }
  double flops() const {
    const double sine = 12, turn = 9;  // sincos_turn, turns_of
    return a.rays * ((sine + turn + 1) + (a.tilted ? sine + 1 : 0) + (a.moving ? sine + turn + 1 : 0) +
                     (a.moving && a.tilted ? sine + 1 : 0) + (a.numbers > 3 ? turn + 1 : 0)) +
           (a.shadowing > 0 ? 57 : 0);
  }
  double bytes() const { return 4 * (static_cast<double>(a.numbers) * a.rays + 1); }

  template <class G>
  WB_HD void operator()(std::size_t first, int, G g, void* scratch) const {
    run<lane>(first, g, static_cast<std::uint32_t*>(scratch));
  }

  template <class T, class G>
  WB_HD void run(std::size_t number, G g, std::uint32_t* scratch) const {
    using U = typename rebind<T>::u32;
    const std::size_t users = static_cast<std::size_t>(a.users), drop = number / users;
    const int user = static_cast<int>(number - drop * users);
    const std::size_t stride = static_cast<std::size_t>(padded_rays());
    std::uint32_t* const drawn = a.drawn + drop * cdl_drawn(a) + static_cast<std::size_t>(user);
    const int vectors = (a.rays + width_of<T> - 1) / width_of<T>;

    for (int v = g.rank; v < vectors; v += g.size) {
      const U ray = U(static_cast<std::uint32_t>(v * width_of<T> + 2)) + iota<U>();
      const auto w = words<T>(drop, U(number_of(user, 0)) + ray);
      const item<T> rays = rays_at<T>(v);
      put(drawn, 0, rays, w.w[0]);
      if (a.moving || a.tilted)
        for (int j = 0; j < 3; j++) keep(scratch + static_cast<std::size_t>(j) * stride, rays, w.w[j + 1]);
    }
    if (a.moving || a.tilted) {
      g.sync();
      for (int r = g.rank; r < a.rays; r += g.size) {
        const cdl_ray ray = a.angles[r];
        std::uint32_t* to = scratch + 3 * stride + static_cast<std::size_t>(r);
        to[0] = a.angles[rank_of(scratch, r, ray)].aoa;
        to[stride] = a.angles[rank_of(scratch + stride, r, ray)].zod;
        to[2 * stride] = a.angles[rank_of(scratch + 2 * stride, r, ray)].zoa;
      }
      g.sync();
    }

    const std::uint32_t* turns = a.turns + 4 * user;
    const auto w = words<T>(drop, U(number_of(user, 0)));
    const U direction = U(turns[0]) + mulhi(w.w[0], U(turns[1])),
            heading = U(turns[2]) + mulhi(w.w[1], U(turns[3]));
    const view<const std::uint32_t> aod{&a.angles->aod, 1, static_cast<std::size_t>(a.rays), 1,
                                        sizeof(cdl_ray) / sizeof(std::uint32_t)};
    for (int v = g.rank; v < vectors; v += g.size) {
      const item<T> rays = rays_at<T>(v);
      const view<const std::uint32_t> angles{scratch + 3 * stride, 3, stride, stride, 1};
      T s, c, tilt, up = T(0.f);
      sincos_turn<T>(as_uint(load_int<T>(aod, 0, rays)) + direction, s, c);
      T step = T(a.spacing) * s;
      if (a.tilted) {
        sincos_turn<T>(as_uint(load_int<T>(angles, 1, rays)), tilt, up);
        step = step * tilt;
      }
      put(drawn, 1, rays, turns_of(step));
      if (a.numbers > 3) put(drawn, 3, rays, turns_of(T(a.row_spacing) * up));
      if (a.moving) {
        sincos_turn<T>(as_uint(load_int<T>(angles, 0, rays)) - heading, s, c);
        step = T(a.doppler) * c;
        if (a.tilted) {
          sincos_turn<T>(as_uint(load_int<T>(angles, 2, rays)), tilt, c);
          step = step * tilt;
        }
        put(drawn, 2, rays, turns_of(step));
      }
    }
    if (g.rank == 0) {
      T amplitude = T(1.f);
      if (a.shadowing > 0) {
        const auto x = words<T>(drop, U(number_of(user, 1)));
        amplitude = exp(T(a.shadowing) * complex_normal<T>(x.w[0], x.w[1]).re);
      }
      store(cdl_amplitude(a, drop, user), 0, item<T>{0, 1}, amplitude);
    }
  }

 private:
  static constexpr int rows = 6;  // of scratch: three keys of every ray, three angles
  bool shuffled() const { return a.moving || a.tilted; }
  int padded() const { return (a.rays + 15) / 16 * 16; }
  WB_HD int padded_rays() const { return (a.rays + 15) / 16 * 16; }

  /// Which of a drop's blocks of four random words: with 0 and 1 the user's, with r + 2 those of its ray r.
  /// 17 of the 24 bits: a user has at most 641 rays.
  WB_HD static std::uint32_t number_of(int user, int r) { return static_cast<std::uint32_t>(user << 11 | r); }
  template <class T>
  WB_HD item<T> rays_at(int vector) const {
    const int first = vector * width_of<T>, left = a.rays - first;
    return {static_cast<std::size_t>(first), left < width_of<T> ? left : width_of<T>};
  }
  template <class T>
  WB_HD philox_block<typename rebind<T>::u32> words(std::size_t drop, typename rebind<T>::u32 number) const {
    using U = typename rebind<T>::u32;
    const std::uint64_t index = a.first + drop;
    return philox(
        philox_block<U>{{U(static_cast<std::uint32_t>(index)), U(static_cast<std::uint32_t>(index >> 32)),
                         U(stream_cdl) + number, U(a.point)}},
        static_cast<std::uint32_t>(a.seed), static_cast<std::uint32_t>(a.seed >> 32));
  }
  /// The ray of r's path that r is given: as many places behind the first as rays have smaller keys.
  WB_HD int rank_of(const std::uint32_t* keys, int r, const cdl_ray& ray) const {
    int place = ray.first;
    for (int i = ray.first; i < ray.first + ray.count; i++)
      place += keys[i] < keys[r] || (keys[i] == keys[r] && i < r);
    return place;
  }
  template <class T>
  WB_HD void keep(std::uint32_t* row, item<T> rays, typename rebind<T>::u32 x) const {
    store_int<T, std::uint32_t>({row, 1, static_cast<std::size_t>(a.rays), 1, 1}, 0, rays, as_int(x));
  }
  /// Number j of those that rays have.
  template <class T>
  WB_HD void put(std::uint32_t* drawn, int j, item<T> rays, typename rebind<T>::u32 x) const {
    const std::size_t users = static_cast<std::size_t>(a.users);
    store_int<T, std::uint32_t>(
        {drawn + static_cast<std::size_t>(j) * users, 1, static_cast<std::size_t>(a.rays), 1,
         static_cast<std::size_t>(a.numbers) * users},
        0, rays, as_int(x));
  }
};

}  // namespace WB_ISA
}  // namespace wb

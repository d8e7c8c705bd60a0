#pragma once
// The frames of one call of a generic kernel: where H and y come from, and where the small matrices go.
#include <warpband/core/half_lane.hpp>
#include <warpband/core/memory.hpp>
#include <warpband/linalg/packed_body.hpp>
#include <warpband/massive/massive_plan.hpp>

namespace wb {
inline namespace WB_ISA {

template <class Users, class T, class G>
struct massive_frames {
  using E = plain<T>;
  static constexpr int width = width_of<T>;

  const massive_args& a;
  const massive_plan& p;
  G g;
  std::size_t first;
  int valid, n;  // frames; users
  packed_matrix<T> m;
  packed_vector<T> b;
  E* memory;  // what is not in lanes of frames

  WB_HD massive_frames(const massive_args& args, const massive_plan& plan, G group, std::size_t frame,
                       int frames, T* scratch)
      : a(args), p(plan), g(group), first(frame), valid(frames) {
    if constexpr (Users::known)
      n = Users::capacity;
    else
      n = args.users;
    m = {scratch, p.ld};
    b = {scratch + 2 * n * p.ld};
    memory = reinterpret_cast<E*>(scratch + p.values);
  }

  WB_HD bool half_channel() const { return a.half_channel.data != nullptr; }
  WB_HD bool half_in() const { return a.half_in.data != nullptr; }
  WB_HD static float_pair parts_of(half_complex z) { return to_floats(z); }
  WB_HD static float_pair parts_of(cx_pair z) { return {z.re, z.im}; }
  template <class S>
  WB_HD static S* row_of(const view<S>& x, std::size_t item) {
    return x.data + item * x.item_stride;
  }
  WB_HD std::size_t vector_number(std::size_t frame, int symbol) const {
    return frame * static_cast<std::size_t>(a.symbols) + static_cast<std::size_t>(symbol);
  }
  WB_HD const cx_pair* channel_of(std::size_t frame) const { return row_of(a.channel, frame); }
  WB_HD const cx_pair* vector_of(std::size_t frame, int symbol) const {
    return row_of(a.in, vector_number(frame, symbol));
  }
};

}  // namespace WB_ISA
}  // namespace wb

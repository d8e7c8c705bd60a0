// Whether views overlap, against an enumeration of their bytes.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <warpband/core/overlap.hpp>

namespace wb {
namespace overlap_test {

template <class T>
std::multiset<std::uintptr_t> bytes_of(const view<T>& v) {
  std::multiset<std::uintptr_t> addresses;
  for (std::size_t b = 0; b < v.items; b++)
    for (std::size_t e = 0; e < v.elements; e++)
      for (std::size_t i = 0; i < sizeof(T); i++)
        addresses.insert(reinterpret_cast<std::uintptr_t>(v.data + e * v.element_stride + b * v.item_stride) +
                         i);
  return addresses;
}
bool repeats(const std::multiset<std::uintptr_t>& bytes) {
  return std::set<std::uintptr_t>(bytes.begin(), bytes.end()).size() != bytes.size();
}
template <class T, class U>
bool share(const view<T>& a, const view<U>& b) {
  const auto in_a = bytes_of(a);
  for (const std::uintptr_t byte : bytes_of(b))
    if (in_a.contains(byte)) return true;
  return false;
}

TEST(overlap, a_view_of_any_strides_is_compared_with_itself) {
  std::vector<float> memory(64);
  int overlapping = 0;
  for (std::size_t elements = 0; elements < 5; elements++)
    for (std::size_t items = 0; items < 5; items++)
      for (std::size_t es = 0; es < 7; es++)
        for (std::size_t is = 0; is < 7; is++) {
          const view<float> v{memory.data(), elements, items, es, is};
          EXPECT_EQ(overlaps_itself(byte_range(v)), repeats(bytes_of(v)))
              << elements << " " << items << " " << es << " " << is;
          overlapping += overlaps_itself(byte_range(v));
        }
  EXPECT_GT(overlapping, 100);
}

TEST(overlap, two_views_with_shared_bytes_are_found_always) {
  std::vector<std::int32_t> memory(400);
  std::mt19937 random(1);
  const auto up_to = [&](std::size_t n) { return random() % (n + 1); };
  int apart = 0, found_apart = 0;
  for (int n = 0; n < 40000; n++) {
    const view<std::int32_t> a{memory.data() + up_to(60), up_to(4), up_to(4), up_to(8), up_to(20)};
    view<std::int8_t> b{reinterpret_cast<std::int8_t*>(memory.data()) + up_to(240), up_to(4), up_to(4),
                        up_to(32), up_to(80)};
    if (n % 2 == 0) {
      b.element_stride = 4 * a.element_stride;
      b.item_stride = 4 * a.item_stride;
    }
    if (repeats(bytes_of(a)) || repeats(bytes_of(b))) continue;
    const bool may = may_overlap(byte_range(a), byte_range(b));
    EXPECT_EQ(may, may_overlap(byte_range(b), byte_range(a)));
    if (share(a, b)) {
      EXPECT_TRUE(may) << n;
    } else {
      apart++;
      found_apart += !may;
    }
  }
  EXPECT_GT(found_apart * 10, apart * 7) << found_apart << " of " << apart;
}

TEST(overlap, parts_of_one_array_are_apart) {
  std::vector<float> memory(60);
  const view<float> whole = make_view(memory.data(), 10, 6),
                    columns = make_view(memory.data(), 10, 6, layout::batch_fastest);
  const auto part = [](view<float> v, std::size_t first, std::size_t elements) {
    return view<float>{v.data + first * v.element_stride, elements, v.items, v.element_stride, v.item_stride};
  };
  for (const view<float>& v : {whole, columns}) {
    EXPECT_FALSE(may_overlap(byte_range(part(v, 0, 2)), byte_range(part(v, 2, 4))));
    EXPECT_TRUE(may_overlap(byte_range(part(v, 0, 3)), byte_range(part(v, 2, 4))));
    EXPECT_TRUE(may_overlap(byte_range(v), byte_range(v)));
    // Every second value.
    view<float> even = part(v, 0, 3), odd = part(v, 1, 3);
    even.element_stride = odd.element_stride = 2 * v.element_stride;
    EXPECT_FALSE(may_overlap(byte_range(even), byte_range(odd)));
    EXPECT_TRUE(may_overlap(byte_range(even), byte_range(even)));
  }
}

TEST(overlap, the_error_names_both_outputs) {
  std::vector<float> memory(20);
  const view<float> none, v = make_view(memory.data(), 10, 2);
  check_apart({{"a", none}, {"b", v}, {"c", none}});
  try {
    check_apart({{"a", none}, {"b", v}, {"c", make_view(memory.data() + 19, 1, 1)}});
    ADD_FAILURE() << "expected shape_error";
  } catch (const shape_error& e) {
    EXPECT_STREQ(e.what(), "c = a view that overlaps b is not allowed: expected memory of its own");
  }
}

}  // namespace overlap_test
}  // namespace wb

// Messages between processes: every value comes back, and bytes that are cut, longer or lie are refused.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <warpband/core/packed.hpp>

namespace wb {
namespace packed_test {

using lists = std::vector<std::vector<std::int16_t>>;

template <class Bytes>
Bytes message_of_all() {
  return (packer<Bytes>() << 'a' << 2.5 << std::string("text\0more", 9) << std::vector<double>{1, 2}
                          << std::vector<std::string>{"", "b"} << lists{{}, {1, 2, 3}}
                          << std::optional<std::int64_t>(-7) << std::optional<double>())
      .take();
}
template <class Bytes>
void read_all(Bytes bytes) {
  unpacker<Bytes> in(std::move(bytes), "broken");
  EXPECT_EQ(in.template get<char>(), 'a');
  EXPECT_EQ(in.template get<double>(), 2.5);
  EXPECT_EQ(in.template get<std::string>(), std::string("text\0more", 9));
  EXPECT_EQ(in.template get<std::vector<double>>(), (std::vector<double>{1, 2}));
  EXPECT_EQ(in.template get<std::vector<std::string>>(), (std::vector<std::string>{"", "b"}));
  EXPECT_EQ(in.template get<lists>(), (lists{{}, {1, 2, 3}}));
  EXPECT_EQ(in.template get<std::optional<std::int64_t>>(), -7);
  EXPECT_EQ(in.template get<std::optional<double>>(), std::nullopt);
  in.finish();
}

TEST(packed, values_come_back) {
  const auto text = message_of_all<std::string>();
  read_all(text);
  read_all(std::string_view(text));
  read_all(message_of_all<std::vector<std::byte>>());
}

TEST(packed, bytes_that_are_cut_or_longer_are_refused) {
  const auto whole = message_of_all<std::string>();
  for (std::size_t n = 0; n < whole.size(); n++)
    EXPECT_THROW(read_all(std::string_view(whole).substr(0, n)), unpack_error) << n;
  EXPECT_THROW(read_all(whole + "x"), unpack_error);
}

TEST(packed, a_length_that_lies_takes_no_memory) {
  for (const std::uint64_t lie : {std::uint64_t{3}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const std::string bytes = (packer<std::string>() << lie << 'a' << 'b').take();
    const auto read = [&](auto as) { unpacker<std::string_view>(bytes, "broken").get<decltype(as)>(); };
    EXPECT_THROW(read(std::string()), unpack_error);
    EXPECT_THROW(read(std::vector<double>()), unpack_error);
    EXPECT_THROW(read(std::vector<std::string>()), unpack_error);
  }
}

}  // namespace packed_test
}  // namespace wb

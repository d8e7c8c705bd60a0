// Boxes of settings and lists of kinds.
#include <gtest/gtest.h>

#include <thread>

#include <warpband/core/box.hpp>
#include <warpband/core/kind_list.hpp>

namespace wb {
namespace {

struct plain_settings {
  int size = 3;
  bool operator==(const plain_settings&) const = default;
};
struct other_settings {
  int size = 3;
  bool operator==(const other_settings&) const = default;
};
std::vector<setting_of<plain_settings>> settings() {
  return {integer("size", &plain_settings::size, 1, 9, "Size.").left_out_by_default()};
}

TEST(box, has_one_type_and_compares_its_content) {
  const box a(plain_settings{.size = 4}), b(plain_settings{.size = 4}), c(plain_settings{.size = 5}), none;
  EXPECT_EQ(a.get<plain_settings>().size, 4);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a, none);
  EXPECT_EQ(none, box());
  EXPECT_NE(a, box(other_settings{.size = 4}));
  EXPECT_EQ(a.find<other_settings>(), nullptr);
  EXPECT_THROW(a.get<other_settings>(), error);
  EXPECT_THROW(none.get<plain_settings>(), error);
}

TEST(box, settings_change_the_box_and_no_copy_of_it) {
  const auto list = boxed(settings());
  box b;
  EXPECT_EQ(std::get<std::int64_t>(list[0].get(b)), 3);
  list[0].set(b, std::int64_t{7});
  const box kept = b;
  list[0].set(b, std::int64_t{8});
  EXPECT_EQ(kept.get<plain_settings>().size, 7);
  EXPECT_EQ(b.get<plain_settings>().size, 8);
  EXPECT_TRUE(list[0].brief);
  EXPECT_THROW(list[0].set(b, std::int64_t{10}), argument_error);
  EXPECT_EQ(b.get<plain_settings>().size, 8);
}

TEST(kind_list, finds_words_and_takes_new_kinds_once) {
  struct kind {
    std::string_view name;
  };
  kind_list<kind> list("detector.type", {{"k-best"}, {"ml"}});
  const kind& ml = list.get("ML");
  EXPECT_EQ(list.get("KBest").name, "k-best");
  for (int i = 0; i < 100; i++) {
    static std::deque<std::string> names;
    list.add({names.emplace_back("own" + std::to_string(i))});
  }
  EXPECT_EQ(&ml, list.find("ml"));
  EXPECT_EQ(list.names().size(), 102u);
  EXPECT_EQ(list.find("mmse"), nullptr);
  EXPECT_THROW(list.add({"K_Best"}), argument_error);
  try {
    (void)list.get("mmse");
    FAIL();
  } catch (const argument_error& e) {
    EXPECT_EQ(e.argument(), "detector.type");
    EXPECT_NE(e.allowed().find("\"k-best\", \"ml\""), std::string::npos) << e.allowed();
  }
}

TEST(kind_scope, adds_kinds_for_one_thread_and_a_time) {
  struct kind {
    std::string name;
    int size = 0;
  };
  kind_list<kind> list("detector.type", {{"ml", 1}}), other("code.type", {{"conv", 1}});
  EXPECT_EQ(kind_scope_number(), 0u);
  {
    const kind_scope<kind> outer(list, {{"mine", 2}});
    const std::uint64_t number = kind_scope_number();
    EXPECT_NE(number, 0u);
    EXPECT_EQ(list.get("Mine").size, 2);
    EXPECT_EQ(list.names(), (std::vector<std::string>{"ml", "mine"}));
    EXPECT_EQ(other.find("mine"), nullptr);
    std::thread([&] {
      EXPECT_EQ(list.find("mine"), nullptr);
      const kind_scope<kind> same_name(list, {{"mine", 3}});
      EXPECT_EQ(list.get("mine").size, 3);
    }).join();
    {
      const kind_scope<kind> inner(list, {{"its", 4}}), of_other(other, {{"mine", 5}});
      EXPECT_EQ(list.find("mine"), nullptr);
      EXPECT_EQ(list.get("its").size, 4);
      EXPECT_EQ(other.get("mine").size, 5);
      EXPECT_NE(kind_scope_number(), number);
    }
    EXPECT_EQ(list.get("mine").size, 2);
    EXPECT_EQ(kind_scope_number(), number);
    EXPECT_THROW(kind_scope<kind>(list, {{"ML", 2}}), argument_error);
    EXPECT_THROW(kind_scope<kind>(list, {{"a", 2}, {"A", 2}}), argument_error);
    EXPECT_EQ(list.get("mine").size, 2);
  }
  EXPECT_EQ(list.find("mine"), nullptr);
  EXPECT_EQ(list.names().size(), 1u);
  EXPECT_EQ(kind_scope_number(), 0u);
}

}  // namespace
}  // namespace wb

// Settings described once: what their builders take, keep and refuse.
#include <gtest/gtest.h>

#include <warpband/core/setting.hpp>
#include <warpband/detect/detector.hpp>
#include <warpband/massive/uplink/uplink.hpp>

namespace wb {
namespace setting_test {

enum class shade { dark, light };
struct paint {
  shade tone = shade::dark;
  std::optional<double> gloss;
  std::optional<float> limit;
  int coats = 2;
  std::optional<int> layers, thinner;
  bool dries = true;
  std::string name = "grey";
  std::vector<double> mix;
  std::vector<int> order;
};

const std::vector<setting_of<paint>>& paint_settings() {
  static const std::vector<setting_of<paint>> settings{
      words("tone", &paint::tone, {{"dark", shade::dark}, {"light-blue", shade::light}}, "Shade."),
      number("gloss", &paint::gloss, 0, 1, "Gloss. More of it shines.").only_with("tone", {"light-blue"}),
      number_or_word("limit", &paint::limit, "none", 1e9, 0, 10, "Most of it.", "0 to 10 or \"none\""),
      one_of("coats", &paint::coats, {1, 2, 4}, "Coats."),
      integer_or_auto("layers", &paint::layers, 1, 9, "Layers.", "an integer from 1 to 9"),
      one_of("thinner", &paint::thinner, {0, 3}, "Parts of thinner. Absent: as many as the tone needs."),
      boolean("dries", &paint::dries, "Whether it does."),
      text("name", &paint::name, "Its name."),
      numbers("mix", &paint::mix, 0, 1, "Parts.", "numbers from 0 to 1"),
      integers("order", &paint::order, 0, 9, "Order.", "integers from 0 to 9")};
  return settings;
}

const setting_of<paint>& of(const char* name) { return *find_setting(paint_settings(), name); }
std::string refusal(const char* name, const setting_value& value) {
  paint p;
  try {
    of(name).set(p, value);
  } catch (const argument_error& e) {
    return e.what();
  }
  return "";
}

TEST(setting, takes_values_and_gives_them_back) {
  paint p;
  const std::vector<std::pair<const char*, setting_value>> values{{"tone", "Light_Blue"},
                                                                  {"gloss", std::int64_t{1}},
                                                                  {"limit", "None"},
                                                                  {"coats", std::int64_t{4}},
                                                                  {"layers", "AUTO"},
                                                                  {"dries", false},
                                                                  {"name", "red"},
                                                                  {"mix", std::vector<std::int64_t>{0, 1}},
                                                                  {"order", std::vector<std::int64_t>{3, 1}}};
  for (const auto& [name, value] : values) of(name).set(p, value);
  EXPECT_EQ(p.tone, shade::light);
  EXPECT_EQ(p.gloss, 1.0);
  EXPECT_EQ(p.limit, 1e9f);
  EXPECT_EQ(p.coats, 4);
  EXPECT_FALSE(p.dries);
  EXPECT_EQ(p.mix, (std::vector<double>{0, 1}));
  EXPECT_EQ(as_message(of("tone").get(p)), "\"light-blue\"");
  EXPECT_EQ(as_message(of("limit").get(p)), "\"none\"");
  EXPECT_EQ(p.layers, std::nullopt);
  EXPECT_EQ(as_message(of("order").get(p)), "[3, 1]");
  of("mix").set(p, 0.5);  // a number is a list of one
  EXPECT_EQ(as_message(of("mix").get(p)), "[0.5]");
}

TEST(setting, refuses_with_name_value_and_what_is_allowed) {
  EXPECT_EQ(refusal("tone", std::string("pink")),
            "tone = \"pink\" is not allowed: expected \"dark\" or \"light-blue\"");
  EXPECT_EQ(refusal("gloss", 2.0), "gloss = 2.0 is not allowed: expected a number from 0 to 1");
  EXPECT_EQ(refusal("coats", std::int64_t{3}), "coats = 3 is not allowed: expected 1, 2 or 4");
  EXPECT_EQ(refusal("dries", std::int64_t{1}), "dries = 1 is not allowed: expected true or false");
  EXPECT_EQ(refusal("mix", std::vector<double>{0.5, 1.5}),
            "mix = 1.5 is not allowed: expected numbers from 0 to 1");
  EXPECT_EQ(refusal("layers", std::string("all")),
            "layers = \"all\" is not allowed: expected \"auto\" or an integer from 1 to 9");
}

TEST(setting, an_optional_member_is_absent_by_nothing_or_by_its_word) {
  paint p;
  const auto& layers = of("layers");
  layers.set(p, std::int64_t{3});
  EXPECT_EQ(layers.get(p), setting_value(std::int64_t{3}));
  for (const setting_value& absent : {setting_value(), setting_value("Auto")}) {
    p.layers = 3;
    layers.set(p, absent);
    EXPECT_EQ(p.layers, std::nullopt);
    EXPECT_EQ(layers.get(p), setting_value());
    EXPECT_EQ(layers.written(p), setting_value("auto"));
  }
  EXPECT_EQ(layers.initial({}), "\"auto\"");
  EXPECT_EQ(of("thinner").initial({}), "");  // no word stands for it
  EXPECT_EQ(of("thinner").written(p), setting_value());
  of("thinner").set(p, std::int64_t{0});
  EXPECT_EQ(p.thinner, 0);  // a value as others
  EXPECT_EQ(refusal("layers", std::int64_t{0}),
            "layers = 0 is not allowed: expected \"auto\" or an integer from 1 to 9");
  EXPECT_EQ(refusal("coats", setting_value()), "coats =  is not allowed: expected 1, 2 or 4");
}

TEST(setting, what_is_left_out_or_has_no_meaning_is_no_value) {
  paint p;
  p.gloss = 7;  // with a dark tone nobody looks at it
  std::string names;
  for (const auto& [s, value] : values_of(paint_settings(), p)) names += s->name + " ";
  EXPECT_EQ(names, "tone coats layers dries name ");
  EXPECT_NO_THROW(check_settings(paint_settings(), p));
  EXPECT_FALSE(without_idle(paint_settings(), p).gloss);
  EXPECT_EQ(*idle_because(paint_settings(), of("gloss"), p),
            (std::pair<std::string, std::string>{"tone", "dark"}));
  EXPECT_EQ(of("gloss").full_text(), "With tone \"light-blue\": Gloss. More of it shines.");
  EXPECT_EQ(first_sentence(of("gloss").text), "Gloss.");
  p.tone = shade::light;
  EXPECT_THROW(check_settings(paint_settings(), p), argument_error);
}

TEST(setting, shows_the_number_of_an_enumerator_that_is_none) {
  paint p;
  p.tone = static_cast<shade>(7);
  try {
    check_settings(paint_settings(), p);
    ADD_FAILURE() << "not refused";
  } catch (const argument_error& e) {
    EXPECT_STREQ(e.what(), "tone = 7 is not allowed: expected \"dark\" or \"light-blue\"");
  }
}

TEST(setting, words_and_numbers_in_their_usual_spellings) {
  EXPECT_TRUE(same_word("QAM-16", "16qam"));
  EXPECT_TRUE(same_word("K_best", "kbest"));
  EXPECT_FALSE(same_word("16qam", "64qam"));
  EXPECT_EQ(as_message(setting_value(1e6)), "1e6");
  EXPECT_EQ(as_message(setting_value(1e20)), "1e20");
  EXPECT_EQ(as_message(setting_value(100.0)), "100.0");
  EXPECT_EQ(as_message(from_text("list of numbers", "1,2.5")), "[1.0, 2.5]");
  EXPECT_EQ(as_message(from_text("boolean", "true")), "true");
  EXPECT_EQ(as_message(from_text("integer", "many")), "\"many\"");
  EXPECT_EQ(by_kind({{"a", "One."}, {"b", "One."}, {"c", "Two."}}), "a, b: One. c: Two.");
}

TEST(setting, lists_of_the_library_take_the_defaults_of_their_structs) {
  for (const detector_kind& kind : detectors())
    EXPECT_NO_THROW(check_settings(settings_of(kind), detector_config{.type = kind.name}));
  EXPECT_NO_THROW(check_settings(uplink_settings(), uplink_config{}));
  EXPECT_EQ(detectors().get("N-Way").name, "nway");
}

}  // namespace setting_test
}  // namespace wb

// The rule by which levels of a scenario become the keys of a curve, on a small schema.
#include <gtest/gtest.h>

#include <fstream>

#include <warpband/core/error.hpp>
#include <warpband/link/antenna_kind.hpp>
#include <warpband/link/config/link_schema.hpp>
#include <warpband/link/config/renamed.hpp>
#include <warpband/link/scenario.hpp>

#ifndef WARPBAND_SOURCE_DIR
#define WARPBAND_SOURCE_DIR ""
#endif

namespace wb::config {
namespace config_test {

struct lamp {
  std::string type = "led", shade = "none";
  int watts = 5, hours = 1000;
  std::vector<double> colour;
};

schema lamps() {
  schema s;
  s.add("lamp", words<lamp, std::string>("type", &lamp::type, {{"led", "led"}, {"bulb", "bulb"}}, "Kind."));
  s.add("lamp", integer("watts", &lamp::watts, 1, 20, "Power."), {}, "led", {{"lamp.type", {"led"}}});
  s.add("lamp", integer("watts", &lamp::watts, 25, 100, "Power."), {}, "bulb", {{"lamp.type", {"bulb"}}});
  s.add("lamp", integer("hours", &lamp::hours, 1, 9999, "Life.").only_with("type", {"bulb"}));
  s.add("lamp", numbers("colour", &lamp::colour, 0, 1, "Colour.", "numbers from 0 to 1"));
  s.add("shade",
        words<lamp, std::string>("type", &lamp::shade, {{"none", "none"}, {"silk", "silk"}}, "Kind."));
  s.add("shade", integer("width", &lamp::watts, 1, 9, "Width."), {}, "", {{"shade.type", {"silk"}}});
  s.either = {{{"lamp.watts"}, {"lamp.colour"}, "lamp has both watts and colour"}};
  s.optional = {"shade.type"};
  s.describe();
  return s;
}

/// The keys of each curve, as "lamp.type=bulb lamp.watts=40", or the message.
std::vector<std::string> curves(const std::string& text, schema s = lamps()) {
  std::vector<std::string> found;
  try {
    read_scenario(s, text, "s.toml", [&](curve_tree& c) {
      std::string keys;
      for (const auto& [key, g] : c.keys) keys += (keys.empty() ? "" : " ") + key + "=" + plain(g.value);
      found.push_back(keys);
    });
  } catch (const file_error& e) {
    return {e.what()};
  }
  return found;
}
using texts = std::vector<std::string>;

TEST(config, a_more_specific_choice_drops_what_it_lacks_or_refuses) {
  const std::string base = "lamp = { type = \"bulb\", watts = 40, hours = 500 }\n";
  EXPECT_EQ(curves(base), texts{"lamp.hours=500 lamp.type=bulb lamp.watts=40"});
  EXPECT_EQ(curves(base + "[[curve]]\nlamp.type = \"led\"\n"), texts{"lamp.type=led"});
  EXPECT_EQ(curves(base + "[[curve]]\nlamp = { type = \"led\", watts = 40 }\n"),
            texts{"s.toml: line 3: lamp.watts = 40 is not allowed: expected an integer from 1 to 20"});
  EXPECT_EQ(curves("lamp.hours = 2\n"),
            texts{"s.toml: line 1: lamp.hours has no meaning with lamp.type = \"led\""});
}

TEST(config, a_sweep_is_a_level_above_its_table) {
  EXPECT_EQ(curves("lamp.watts = 40\nsweep.lamp.type = [\"bulb\", \"led\"]\n"),
            (texts{"lamp.type=bulb lamp.watts=40", "lamp.type=led"}));
}

TEST(config, alternatives_replace_each_other) {
  EXPECT_EQ(curves("lamp.watts = 5\n[[curve]]\nlamp.colour = [0.5]\n"), texts{"lamp.colour=0.5"});
  EXPECT_EQ(curves("lamp.watts = 5\nlamp.colour = 0.5\n"),
            texts{"s.toml: line 2: lamp has both watts and colour"});
}

TEST(config, none_drops_its_table) {
  EXPECT_EQ(curves("shade = { type = \"none\", width = 3 }\n"), texts{"shade.type=none"});
  EXPECT_EQ(curves("shade.width = 3\n"),
            texts{"s.toml: line 1: shade.width has no meaning without shade.type"});
}

TEST(config, keys_of_the_base_may_be_of_some_runs_alone) {
  schema s = lamps();
  s.chain = "lamp.type", s.list = "run";
  const std::string runs = "[[run]]\nlamp.watts = 7\n[[run]]\nlamp.type = \"bulb\"\n";
  EXPECT_EQ(curves("lamp.hours = 2\n" + runs, s), (texts{"lamp.watts=7", "lamp.hours=2 lamp.type=bulb"}));
  EXPECT_EQ(curves("lamp.hours = 2\n[[run]]\n[[run]]\nlamp.watts = 7\n", s),
            texts{"s.toml: line 1: lamp.hours has no meaning with the chain of any run: it is of bulb"});
}

TEST(config, keys_come_back_from_json) {
  key_tree keys;
  keys.set("a.b", {std::int64_t{1}, {}});
  keys.set("a.c", {1.0, {}});
  keys.set("d", {std::string("\"x\n"), {}});
  keys.set("e", {true, {}});
  keys.set("f", {std::vector<std::int64_t>{1, 2}, {}});
  keys.set("g", {std::vector<double>{1, 2.5}, {}});
  keys.set("h", {std::vector<std::string>{"x"}, {}});
  keys.set("i", {std::vector<std::complex<double>>{{1, 0}, {0, -1}}, {}});
  const key_tree back = from_json(to_json(keys));
  for (const auto& [key, g] : keys) {
    ASSERT_TRUE(back.has(key)) << key;
    EXPECT_EQ(back.find(key)->value, g.value) << key;
  }
}

/// What ranks of MPI get is the curve.
TEST(config, a_curve_comes_back_from_its_keys) {
  const scenario s = parse_scenario(
      "code.k = 40\nsweep.snr_db = { from = 0, to = 1, step = 0.5 }\nsweep.decoder.iterations = [2, 3]\n",
      "s.toml");
  ASSERT_EQ(s.trees.size(), 2u);
  for (std::size_t i = 0; i < 2; i++) {
    curve_tree tree;
    tree.keys = from_json(to_json(s.trees[i].keys));
    const curve_config back = curve_of(tree, "s.toml");
    EXPECT_EQ(back.link.code, s.curves[i].link.code);
    EXPECT_EQ(back.sweep_db, s.curves[i].sweep_db);
    EXPECT_EQ(back.link.axis, snr_axis::snr_db);
  }
  // What a curve's choice leaves of the base is left on ranks too.
  const std::string fading = "channel.type = \"rayleigh\"\nmodem.modulation = \"qpsk\"\nsweep.snr_db = 1\n";
  for (const std::string text :
       {"code = { type = \"none\", k = 256 }\n[massive]\nantennas = 16\nusers = 4\nsolver = \"cholesky\"\n"
        "sinr = \"exact\"\n[[curve]]\nmassive = { solver = \"cg\", iterations = 2 }\n",
        "mimo = { streams = 4, rx_antennas = 4 }\n[[curve]]\nstbc.type = \"golden\"\n"}) {
    const scenario curves = parse_scenario(fading + text, "s.toml");
    curve_tree tree;
    tree.keys = from_json(to_json(curves.trees.at(0).keys));
    EXPECT_EQ(curve_of(tree, "s.toml").link.antennas.kind().name, curves.curves[0].link.antennas.kind().name);
  }
}

/// A row of docs/renamed.md.
std::string page_row(const renamed& r) {
  std::string chains, values;
  for (const std::string& chain : r.chains) chains += (chains.empty() ? "" : ", ") + chain;
  for (const auto& [old, word] : r.values)
    values += (values.empty() ? "" : ", ") + as_message(old) + ": " +
              (std::holds_alternative<no_value>(word) ? "left out" : as_message(word));
  const auto cell = [](const std::string& text) { return text.empty() ? " |" : " " + text + " |"; };
  return "| `" + r.before + "` | `" + r.today + "` |" + cell(chains) + cell(values);
}

TEST(renamed, the_page_has_every_row) {
  std::ifstream page(std::string(WARPBAND_SOURCE_DIR) + "/docs/renamed.md");
  if (!page) GTEST_SKIP() << "no docs/renamed.md here";
  std::vector<std::string> held, wanted;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("| `")) held.push_back(line);
  for (const renamed& r : renamed_settings()) wanted.push_back(page_row(r));
  EXPECT_EQ(held, wanted);
}

TEST(renamed, values_are_those_of_today) {
  const renamed r{"lamp.kind", "lamp.type", {}, {{std::int64_t{1}, "led"}, {true, "bulb"}}};
  EXPECT_EQ(r.value_today(std::int64_t{1}), setting_value(std::string("led")));
  EXPECT_EQ(r.value_today(true), setting_value(std::string("bulb")));
  EXPECT_THROW((void)r.value_today(std::string("led")), argument_error);
  EXPECT_EQ(r.keywords(), std::pair(std::string("kind"), std::string("type")));
  const renamed words{"lamp.type", "lamp.type", {}, {{true, "bulb"}}}, moved{"lamp.type", "room.lamp"};
  EXPECT_EQ(words.value_today(std::string("led")), setting_value(std::string("led")));
  EXPECT_EQ(words.value_today(true), setting_value(std::string("bulb")));
  EXPECT_EQ(moved.value_today(std::int64_t{7}), setting_value(std::int64_t{7}));
  EXPECT_EQ(moved.keywords().first, "");
  const renamed left_out{"lamp.watts", "lamp.watts", {}, {{std::int64_t{0}, {}}}};
  EXPECT_EQ(left_out.value_today(0.0), setting_value());
  EXPECT_EQ(left_out.value_today(std::int64_t{5}), setting_value(std::int64_t{5}));
  EXPECT_EQ(left_out.value_today("0"), setting_value("0"));
}

}  // namespace config_test
}  // namespace wb::config

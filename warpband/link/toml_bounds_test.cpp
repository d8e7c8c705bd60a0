// Scenarios that would overflow the stack of a recursive parser, and what messages show of them.
#include <gtest/gtest.h>

#include <warpband/core/error.hpp>
#include <warpband/core/printable.hpp>
#include <warpband/link/scenario.hpp>
#include <warpband/link/toml_bounds.hpp>

namespace wb {
namespace toml_bounds_test {

std::string repeated(const std::string& text, int times) {
  std::string joined;
  for (int i = 0; i < times; i++) joined += text;
  return joined;
}
std::string refusal_of(const std::string& text) {
  try {
    (void)parse_scenario(text, "s.toml");
  } catch (const file_error& e) {
    return e.what();
  }
  return "none";
}

TEST(toml_bounds, long_keys_are_refused_wherever_they_are) {
  const std::string key = repeated("a.", 100000) + "b", parts = ": a key has more than 32 parts";
  EXPECT_EQ(refusal_of(key + " = 1"), "s.toml: line 1" + parts);
  EXPECT_EQ(refusal_of("code.k = 40\n[" + key + "]\n"), "s.toml: line 2" + parts);
  EXPECT_EQ(refusal_of("x = {c = 1, " + key + " = 1}"), "s.toml: line 1" + parts);
  EXPECT_EQ(refusal_of(repeated("\"a\" . ", 100000) + "b = 1"), "s.toml: line 1" + parts);
  // Not hidden behind the end of a string.
  EXPECT_EQ(refusal_of("x = {c = \"\"\"a\"\"\"\"\", " + key + " = 1}"), "s.toml: line 1" + parts);
  EXPECT_EQ(refusal_of("x = {c = \"\\\"\", " + key + " = 1}"), "s.toml: line 1" + parts);
  EXPECT_EQ(refusal_of("x = '\\'\n" + key + " = 1"), "s.toml: line 2" + parts);
  EXPECT_EQ(refusal_of("# \"\n" + key + " = 1"), "s.toml: line 2" + parts);
}

TEST(toml_bounds, deep_values_are_refused) {
  EXPECT_EQ(refusal_of("\nx = " + repeated("[", 100000)), "s.toml: line 2: nested more than 32 deep");
  EXPECT_EQ(refusal_of("x = " + repeated("{a = ", 100000)), "s.toml: line 1: nested more than 32 deep");
}

TEST(toml_bounds, headers_without_a_key_are_refused) {
  for (const std::string header : {"[\x17 a]", "[=]", "[[\x01]]", "  [.a]", "[ [\n", "[\xc3\xa9]"})
    for (const std::string before : {"a = 1\n", "\xef\xbb\xbf"})
      EXPECT_THROW(check_toml_bounds(before + header, "s.toml"), file_error) << header;
  for (const std::string header :
       {"[a]", "[[ a ]]", "[\"=\"]", "['.']", "[_]", "[-1]", "[]", "[", "a = [\n[\n1]]\n"})
    EXPECT_NO_THROW(check_toml_bounds("a = 1\n" + header, "s.toml")) << header;
}

TEST(toml_bounds, letters_behind_a_backslash_are_ascii) {
  for (const std::string text :
       {"\"\\\\\xc3\xa9\"", "\"\"\"\\\n a\xc3\xa9\"\"\"", "'\\\xc3\xa9'", "\"\\\" # \xc3\xa9"})
    EXPECT_NO_THROW(check_toml_bounds("x = " + text, "s.toml")) << text;
}

TEST(toml_bounds, nothing_begins_in_a_value) {
  for (const std::string text : {"x = [1e-5, -2, {a = -1, 1-2 = 3}]", "[a1-2]", "a1-2 = [\n[1], # 1-2\n[2]]"})
    EXPECT_NO_THROW(check_toml_bounds(text, "s.toml")) << text;
}

TEST(toml_bounds, brackets_are_closed_by_their_own) {
  for (const std::string text : {"x = [{a = [1, 2]}, {}]", "x = ]", "x = }", "x = \"[}\" # [}", "[a]\n[[b]]"})
    EXPECT_NO_THROW(check_toml_bounds(text, "s.toml")) << text;
}

TEST(toml_bounds, texts_begin_where_a_key_or_a_value_does) {
  for (const std::string text :
       {"\"a\".'b' = 'c'", "x = {'a' = [\"b\", \n 'c'\n], \"d\" = ''}", "[\"a\"]\r\n'b' = 1"})
    EXPECT_NO_THROW(check_toml_bounds(text, "s.toml")) << text;
}

TEST(toml_bounds, other_characters_stand_in_texts_alone) {
  EXPECT_THROW(check_toml_bounds("a = \xc3\xa9", "s.toml"), file_error);
  EXPECT_NO_THROW(
      check_toml_bounds("\xef\xbb\xbf"
                        "a = \"\xc3\xa9\" # \xc3\xa9",
                        "s.toml"));
}

TEST(toml_bounds, what_is_usual_passes) {
  const std::string dots = repeated("1.5, ", 100);
  check_toml_bounds(
      "a.b.c = [" + dots + "]\ns = \"" + dots + "\" # " + dots + "\nt = '''\n" + dots + "'''\n[[d.e]]\n",
      "s.toml");
  check_toml_bounds("x = \"\"\"" + repeated("[.", 1000) + "\"\"\"", "s.toml");
  for (const std::string open : {"\"", "'", "\"\"\"", "'''", "#", "\"\\", "["})
    check_toml_bounds(open, "s.toml");
}

TEST(toml_bounds, messages_show_values_on_one_line_and_shortened) {
  EXPECT_EQ(printable("a\x1b[31m\n\t\x7f"), "a\\x1b[31m\\n\\t\\x7f");
  EXPECT_EQ(printable(std::string(300, 'x')), std::string(200, 'x').append("..."));
  EXPECT_EQ(printable("größe 😀 ≥"), "größe 😀 ≥");
  // C1 as UTF-8 and as single bytes, direction, ends of lines, what nobody sees, and no UTF-8 at all.
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\x9b"
                      "31m"),
            "\\x9b31m\\x9b31m");
  EXPECT_EQ(printable("a\u202eb\u2066c\u061c\u200f\u2028\ufeff\U000e0041"),
            "a\\u202eb\\u2066c\\u061c\\u200f\\u2028\\ufeff\\U000e0041");
  EXPECT_EQ(printable("\xf0\x80\x80\x9b\xed\xa0\x80\xe2\x80"),
            "\\xf0\\x80\\x80\\x9b\\xed\\xa0\\x80\\xe2\\x80");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable_lines("a\nb\r\x1b"), "a\nb\\x0d\\x1b");
  EXPECT_EQ(printable_json("{\n\"\x7f\u202e\U000e0041é\xff\"}"),
            "{\n\"\\u007f\\u202e\\udb40\\udc41é\\ufffd\"}");
  EXPECT_LT(refusal_of("code.type = \"" + std::string(100000, 'x') + "\"\nsweep.ebn0_db = 1").size(), 1000u);
}

}  // namespace toml_bounds_test
}  // namespace wb

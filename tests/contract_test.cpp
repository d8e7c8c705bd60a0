// What every algorithm over a batch keeps, whatever it computes: tests/contract.hpp has the terms.
#include <tests/contract.hpp>

#include <algorithm>
#include <limits>

namespace wb {

void testing::contract::SetUp() {
  WB_SKIP_WITHOUT_DEVICE(device());
  exec_ = device().open();
}

namespace contract_test {

using namespace testing;

constexpr std::uint8_t untouched = 0xee;   // what is beside the rows of an output
constexpr std::uint8_t never_read = 0xff;  // beside those of an input: NaN in floats

/// How the rows of all arguments lie in memory.
enum class placed { rows, columns, apart };

/// An argument in the memory of an executor.
struct stored {
  array<std::byte> memory;
  call::argument view;
  std::vector<std::byte> values;  // of all memory, before the call

  stored(executor& e, const operand& o, std::size_t rows, placed how, bool is_input)
      : view{o.name, nullptr, o.size, o.width, rows, 1, o.width} {
    std::size_t begin = 0, total = rows * o.width;
    if (how == placed::columns) {
      view.value_stride = rows;
      view.row_stride = 1;
    } else if (how == placed::apart) {
      begin = 1;
      view.row_stride = o.width + 3;
      total = begin + rows * view.row_stride;
    }
    values.assign(total * o.size, std::byte{is_input ? never_read : untouched});
    view.data = nullptr;
    if (is_input)
      for (std::size_t r = 0; r < rows; r++)
        for (std::size_t v = 0; v < o.width; v++)
          std::memcpy(&values[(begin + place(r, v)) * o.size], &o.values[(r * o.width + v) * o.size], o.size);
    memory = e.make_zeros<std::byte>(1, std::max<std::size_t>(values.size(), 8));
    e.upload(memory.data(), values.data(), values.size());
    view.data = memory.data() + begin * o.size;
    first = begin;
  }
  /// What a call wrote, row by row. Nothing else may have changed.
  std::vector<std::byte> written(executor& e) {
    std::vector<std::byte> contents = e.to_host(memory), rows(view.rows * view.width * view.size);
    for (std::size_t r = 0; r < view.rows; r++)
      for (std::size_t v = 0; v < view.width; v++) {
        std::byte* const from = &contents[(first + place(r, v)) * view.size];
        std::memcpy(&rows[(r * view.width + v) * view.size], from, view.size);
        std::memset(from, untouched, view.size);
      }
    contents.resize(values.size());
    EXPECT_EQ(std::count(contents.begin(), contents.end(), std::byte{untouched}),
              static_cast<std::ptrdiff_t>(contents.size()))
        << view.name << " is written beside its rows";
    return rows;
  }

 private:
  std::size_t place(std::size_t row, std::size_t value) const {
    return row * view.row_stride + value * view.value_stride;
  }
  std::size_t first = 0;
};

/// Items `first` and on of a whole batch.
struct batch {
  operands in;
  std::size_t items, first = 0;
};
batch drawn(const algorithm& a, std::size_t items) { return {a.draw ? a.draw(items) : operands{}, items}; }
batch part_of(batch b, std::size_t first, std::size_t count) {
  for (operand& o : b.in) {
    const auto from = o.values.begin() + static_cast<std::ptrdiff_t>(first * o.item_bytes());
    o.values = {from, from + static_cast<std::ptrdiff_t>(count * o.item_bytes())};
  }
  return {b.in, count, first};
}

/// The arguments of a call, in memory.
struct arguments {
  std::vector<stored> in, out;
  call views;
  arguments(executor& e, const algorithm& a, const batch& b, placed how = placed::rows) {
    for (const operand& o : b.in) in.emplace_back(e, o, b.items * o.rows_per_item, how, true);
    for (const operand& o : a.outputs) out.emplace_back(e, o, b.items * o.rows_per_item, how, false);
    for (const stored& s : in) views.in.push_back(s.view);
    for (const stored& s : out) views.out.push_back(s.view);
    views.first = b.first;
  }
};

/// Each output in rows.
using results = std::vector<std::vector<std::byte>>;
results run(executor& e, const algorithm& a, const batch& b, placed how = placed::rows) {
  arguments given(e, a, b, how);
  a.run(e, given.views);
  results r;
  for (stored& s : given.out) r.push_back(s.written(e));
  return r;
}

/// "llr of item 3", or "" where items first .. of `whole` are those of `part`.
std::string difference(const algorithm& a, const results& part, const results& whole, std::size_t first = 0) {
  for (std::size_t o = 0; o < a.outputs.size(); o++) {
    const std::size_t bytes = a.outputs[o].item_bytes();
    for (std::size_t i = 0; i < part[o].size() / bytes; i++)
      if (std::memcmp(&part[o][i * bytes], &whole[o][(first + i) * bytes], bytes) != 0)
        return a.outputs[o].name + " of item " + std::to_string(i);
  }
  return "";
}

/// NaN and infinities in each floating-point input, and the algorithm's own faults.
std::vector<fault> faults_of(const algorithm& a, const operands& in) {
  std::vector<fault> list = a.faults;
  constexpr float infinite = std::numeric_limits<float>::infinity();
  for (const operand& o : in) {
    if (o.kind != value_kind::floating ||
        std::find(a.finite.begin(), a.finite.end(), o.name) != a.finite.end())
      continue;
    const auto set = [](float value, auto place) {
      return [=](std::span<float> row) { row[place(row.size())] = value; };
    };
    list.push_back({"NaN", o.name, set(std::numeric_limits<float>::quiet_NaN(), [](auto) { return 0UL; })});
    list.push_back({"infinity", o.name, set(infinite, [](auto n) { return n / 2; })});
    list.push_back({"-infinity", o.name, set(-infinite, [](auto n) { return n - 1; })});
  }
  return list;
}

TEST_P(erasure_contract, bad_items_are_erased_and_flagged_and_harm_no_neighbour) {
  const auto reference = open_reference();
  for (const algorithm& a : algorithms()) {
    SCOPED_TRACE(a.text);
    const auto faults = faults_of(a, drawn(a, 1).in);
    ASSERT_FALSE(faults.empty());
    // One in three, in every lane of a vector, and the last, which an incomplete vector repeats.
    const std::size_t items = 3 * faults.size() + 3;
    const batch good = drawn(a, items);
    batch bad = good;
    std::vector<const fault*> of_row;  // of the finest rows
    std::size_t finest = 1;
    for (const operand& o : a.outputs) finest = std::max(finest, o.rows_per_item);
    of_row.resize(items * finest);
    const auto spoil = [&](const fault& f, std::size_t item) {
      for (operand& o : bad.in) {
        if (o.name != f.input) continue;
        const std::size_t row = item * o.rows_per_item + item % o.rows_per_item;
        std::vector<float> values(o.row_bytes() / sizeof(float));
        std::memcpy(values.data(), &o.values[row * o.row_bytes()], o.row_bytes());
        f.spoil(values);
        std::memcpy(&o.values[row * o.row_bytes()], values.data(), o.row_bytes());
        for (std::size_t r = row * finest / o.rows_per_item; r < (row + 1) * finest / o.rows_per_item; r++)
          of_row[r] = &f;
        return;
      }
      ADD_FAILURE() << "no input " << f.input;
    };
    for (std::size_t f = 0; f < faults.size(); f++) spoil(faults[f], 3 * f + 1);
    spoil(faults[0], items - 1);
    const results before = run(exec(), a, good), after = run(exec(), a, bad);
    for (std::size_t o = 0; o < a.outputs.size(); o++) {
      const operand& out = a.outputs[o];
      const std::size_t bytes = out.row_bytes(), share = finest / out.rows_per_item;
      for (std::size_t row = 0; row < items * out.rows_per_item; row++) {
        const fault* const f = of_row[row * share];
        std::vector<std::byte> want(bytes);
        if (f == nullptr)
          std::memcpy(want.data(), &before[o][row * bytes], bytes);
        else if (out.name == "status")
          want[0] = std::byte{f->status};
        ASSERT_EQ(std::memcmp(want.data(), &after[o][row * bytes], bytes), 0)
            << out.name << " of row " << row << ": "
            << (f == nullptr ? "a neighbour" : f->input + " with " + f->text) << ", first byte "
            << static_cast<int>(after[o][row * bytes]);
      }
    }
    EXPECT_EQ(difference(a, after, run(*reference, a, bad)), "") << "the reference";
  }
}

TEST_P(contract, backend_batch_and_layout_change_no_bit) {
  const auto reference = open_reference();
  for (const algorithm& a : algorithms()) {
    SCOPED_TRACE(a.text);
    const std::size_t items = small_scale() ? std::min<std::size_t>(a.items, 9) : a.items;
    const batch whole = drawn(a, items);
    const results want = run(*reference, a, whole);
    EXPECT_EQ(difference(a, run(exec(), a, whole), want), "") << "the whole batch";
    for (const std::size_t count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65}) {
      if (count >= items) break;
      const std::size_t first = count % 2 == 0 ? 0 : items - count;
      ASSERT_EQ(difference(a, run(exec(), a, part_of(whole, first, count)), want, first), "")
          << count << " items";
    }
    EXPECT_EQ(difference(a, run(exec(), a, whole, placed::columns), want), "") << "batch fastest";
    if (!a.side_by_side) {
      EXPECT_EQ(difference(a, run(exec(), a, whole, placed::apart), want), "") << "rows apart";
    }
    EXPECT_NO_THROW(run(exec(), a, part_of(whole, 0, 0))) << "no items";
    for (std::size_t o = 0; a.alone && o < a.outputs.size(); o++) {
      algorithm one = a;
      one.outputs = {a.outputs[o]};
      EXPECT_EQ(difference(one, run(exec(), one, whole), {want[o]}), "") << "alone";
    }
  }
}

TEST_P(contract, threads_change_no_bit) {
  const auto three = device().open(3);
  for (const algorithm& a : algorithms()) {
    SCOPED_TRACE(a.text);
    const batch whole = drawn(a, small_scale() ? std::min<std::size_t>(a.items, 17) : a.items);
    ASSERT_EQ(difference(a, run(*three, a, whole), run(exec(), a, whole)), "");
  }
}

/// The argument that a shape_error names; "" where nothing is thrown.
template <class Call>
std::string refused(Call&& call) {
  try {
    call();
  } catch (const shape_error& e) {
    EXPECT_NE(std::string(e.what()).find(e.argument() + " = " + e.value()), std::string::npos) << e.what();
    EXPECT_FALSE(e.allowed().empty()) << e.what();
    return e.argument();
  }
  return "";
}

TEST_P(argument_contract, wrong_shapes_are_named) {
  const auto exec = open_scalar();
  for (const algorithm& a : GetParam().make()) {
    SCOPED_TRACE(a.text);
    const arguments good(*exec, a, drawn(a, 3));
    EXPECT_EQ(refused([&] { a.run(*exec, good.views); }), "");
    const auto is_free = [](const std::vector<std::string>& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const auto list : {&call::in, &call::out})
      for (std::size_t i = 0; i < (good.views.*list).size(); i++) {
        const call::argument& right = (good.views.*list)[i];
        const auto expect_blamed = [&](const char* reason, auto change) {
          call c = good.views;
          change((c.*list)[i]);
          EXPECT_EQ(refused([&] { a.run(*exec, c); }), right.name) << reason;
        };
        if (!is_free(a.free_widths, right.name))
          expect_blamed("width", [](auto& v) { v.width = v.width == 1 ? 2 : v.width - 1; });
        const bool first = list == &call::in && i == 0;
        if (!first && !is_free(a.free_rows, right.name)) expect_blamed("rows", [](auto& v) { v.rows--; });
        if (list == &call::in) {
          if (first) expect_blamed("no data", [](auto& v) { v.data = nullptr; });
          continue;
        }
        expect_blamed("stride 0", [](auto& v) { v.row_stride = 0; });
        if (right.width > 1) expect_blamed("items that overlap", [](auto& v) { v.row_stride--; });
      }
  }
}

TEST_P(argument_contract, outputs_that_overlap_are_named) {
  const auto exec = open_scalar();
  for (const algorithm& a : GetParam().make()) {
    SCOPED_TRACE(a.text);
    const arguments good(*exec, a, drawn(a, 3));
    for (std::size_t j = 0; j < a.outputs.size(); j++)
      for (std::size_t i = 0; i < j; i++) {
        call c = good.views;
        c.out[j].data = c.out[i].data;
        EXPECT_EQ(refused([&] { a.run(*exec, c); }), a.outputs[j].name) << "on " << a.outputs[i].name;
      }
  }
}

}  // namespace contract_test
}  // namespace wb

// HDF5 files: what is written is read again, here and by h5py; whatever a file holds, it is read or refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <utility>

#include <warpband/io/hdf5.hpp>

namespace hdf5_test {

namespace fs = std::filesystem;
using complex64 = std::complex<float>;

class hdf5 : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("warpband_hdf5_" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void put(const std::string& path, const std::string& bytes) {
    fs::remove(path);  // some file systems take their time for files that are overwritten
    std::ofstream(path, std::ios::binary) << bytes;
  }
  fs::path folder_;
};

/// `call` fails with an Error of one line that holds `part`.
template <class Error = wb::file_error>
void expect_error(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown: " << part;
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected: " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

/// The values of tests/hdf5_interop.py.
template <class T>
std::vector<T> ramp(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; i++) {
    if constexpr (std::is_same_v<T, complex64>) {
      values[i] = {static_cast<float>(i), -0.5f * static_cast<float>(i)};
    } else if constexpr (std::is_floating_point_v<T>) {
      values[i] = static_cast<T>(i) / 4 - 3;
    } else {
      values[i] = static_cast<T>(i % 251);
    }
  }
  return values;
}

void expect_attributes(const wb::hdf5_reader& file, const std::string& object,
                       const wb::hdf5_attributes& expected) {
  for (const auto& [name, value] : expected)
    EXPECT_EQ(file.attribute(object, name), value) << object << " " << name;
}

/// The array holds the ramp, read whole and in pieces. `axes`: those of a row.
template <class T>
void expect_ramp(const wb::hdf5_reader& file, const std::string& name, std::size_t rows, std::size_t columns,
                 std::vector<std::size_t> axes = {}) {
  if (axes.empty()) axes = {columns};
  axes.insert(axes.begin(), rows);
  EXPECT_EQ(file.expect<T>(name, axes.size()), axes);
  const std::vector<T> expected = ramp<T>(rows * columns);
  EXPECT_EQ(file.read<T>(name), expected) << file.path() << " " << name;
  for (std::size_t piece : {1, 5, 8, 11}) {
    std::vector<T> pieces(rows * columns);
    for (std::size_t row = 0; row < rows; row += piece) {
      file.read(name, row, std::min(piece, rows - row), pieces.data() + row * columns);
    }
    EXPECT_EQ(pieces, expected) << file.path() << " " << name << " in pieces of " << piece;
  }
}

template <class T>
void write_ramp(wb::hdf5_writer& file, const std::string& name, std::size_t rows, std::size_t columns,
                std::size_t piece, const wb::hdf5_attributes& attributes = {}) {
  file.create<T>(name, {rows, columns}, attributes);
  const std::vector<T> values = ramp<T>(rows * columns);
  for (std::size_t row = 0; row < rows; row += piece) {
    file.write(name, row, std::min(piece, rows - row), values.data() + row * columns);
  }
}

const wb::hdf5_attributes some_attributes = {{"k", std::int64_t{40}},
                                             {"rate", 0.5},
                                             {"code", std::string("turbo")},
                                             {"umlaut", std::string("größe")},
                                             {"empty", std::string()}};

void write_all_types(const std::string& path) {
  wb::hdf5_writer file(path);
  file.set({{"k", std::int64_t{39}}, {"rate", std::string("replaced below")}});
  file.set(some_attributes);
  write_ramp<std::uint8_t>(file, "uint8", 37, 20, 37);
  write_ramp<std::int8_t>(file, "int8", 37, 20, 6);
  write_ramp<std::int32_t>(file, "int32", 37, 20, 10);
  write_ramp<std::int64_t>(file, "int64", 37, 20, 1);
  write_ramp<float>(file, "float32", 37, 20, 4, {{"note", std::string("rows")}});
  write_ramp<double>(file, "float64", 37, 20, 36);
  write_ramp<complex64>(file, "complex64", 37, 20, 7);
  const std::vector<complex64> values = ramp<complex64>(37 * 20);
  file.create<complex64>("deep", {37, 4, 5});
  for (const std::size_t row : {0, 30, 10, 20})
    file.write("deep", row, std::min<std::size_t>(10, 37 - row), values.data() + row * 20);
  file.create<float>("group/inner", {2, 3, 4});
  file.create<float>("no_rows", {0, 5});
  file.create<std::uint8_t>("one_axis", {7});
  file.commit();
}

/// While it lives files are read in this process.
struct trusted {
  trusted() { wb::set_default_hdf5_access({.trusted = true}); }
  ~trusted() { wb::set_default_hdf5_access({}); }
};

void expect_all_types(const std::string& path) {
  const wb::hdf5_reader file(path);
  EXPECT_EQ(file.path(), path);
  expect_ramp<std::uint8_t>(file, "uint8", 37, 20);
  expect_ramp<std::int8_t>(file, "int8", 37, 20);
  expect_ramp<std::int32_t>(file, "int32", 37, 20);
  expect_ramp<std::int64_t>(file, "int64", 37, 20);
  expect_ramp<float>(file, "float32", 37, 20);
  expect_ramp<double>(file, "float64", 37, 20);
  expect_ramp<complex64>(file, "complex64", 37, 20);
  expect_ramp<complex64>(file, "deep", 37, 20, {4, 5});
  EXPECT_EQ(file.names(), (std::vector<std::string>{"complex64", "deep", "float32", "float64", "int32",
                                                    "int64", "int8", "no_rows", "one_axis", "uint8"}));
  EXPECT_TRUE(file.has("uint8") && file.has("group/inner") && file.has("/group/inner"));
  EXPECT_FALSE(file.has("llr") || file.has("") || file.has("uint8/x") || file.has("no/group"));
  expect_attributes(file, "", some_attributes);
  expect_attributes(file, "float32", {{"note", std::string("rows")}});
  EXPECT_FALSE(file.attribute("uint8", "note").has_value());
  EXPECT_EQ(file.read<float>("group/inner"), std::vector<float>(24, 0.0f));  // never written: zeros
  EXPECT_TRUE(file.read<float>("no_rows").empty());
  EXPECT_EQ(file.expect<std::uint8_t>("one_axis", 1), std::vector<std::size_t>{7});
  const wb::hdf5_array array = file.describe("float32");
  EXPECT_EQ(array.type, "float32");
  EXPECT_EQ(array.chunk_rows, 37u);
  EXPECT_EQ(array.chunk_bytes, 37u * 20 * 4);
}
TEST_F(hdf5, reads_what_it_wrote) {
  write_all_types(path("all.h5"));
  EXPECT_EQ(files(), 1u);
  expect_all_types(path("all.h5"));
}
TEST_F(hdf5, this_process_reads_a_trusted_file_alike) {
  write_all_types(path("all.h5"));
  const trusted mode;
  expect_all_types(path("all.h5"));
}
TEST_F(hdf5, is_read_in_pieces_and_within_the_memory_that_it_may_take) {
  {
    wb::hdf5_writer file(path("large.h5"));
    write_ramp<float>(file, "x", 100, std::size_t{1} << 16, 100);  // 25 MiB in rows of 256 KiB
    file.create<float>("row", {1, std::size_t{1} << 24});          // 64 MiB in one
    file.commit();
  }
  const wb::hdf5_reader file(path("large.h5"), {.memory = std::size_t{48} << 20});
  EXPECT_EQ(file.read<float>("x"), ramp<float>(100 << 16));
  expect_error([&] { file.read<float>("row"); }, "large.h5: ");
}

TEST_F(hdf5, equal_content_gives_equal_files) {
  write_all_types(path("a.h5"));
  write_all_types(path("b.h5"));
  EXPECT_EQ(content(path("a.h5")), content(path("b.h5")));
}

TEST_F(hdf5, chunks_are_of_whole_rows_or_of_parts_of_one) {
  wb::hdf5_writer file(path("wide.h5"));
  const std::size_t wide = 300 * 1024 + 7;
  write_ramp<double>(file, "wide", 3, wide, 2);
  write_ramp<std::uint8_t>(file, "many", 5000, 1000, 999);
  file.commit();
  const wb::hdf5_reader reader(path("wide.h5"));
  EXPECT_EQ(reader.describe("wide").chunk_rows, 1u);
  EXPECT_GE(reader.describe("wide").chunk_bytes, wide * 8);
  EXPECT_EQ(reader.describe("many").chunk_rows, 1048u);
  expect_ramp<double>(reader, "wide", 3, wide);
  EXPECT_EQ(reader.read<std::uint8_t>("many"), ramp<std::uint8_t>(5000000));
}

TEST_F(hdf5, a_reader_can_move_and_files_can_be_read_while_another_is_written) {
  write_all_types(path("a.h5"));
  wb::hdf5_reader first(path("a.h5"));
  const wb::hdf5_reader file(std::move(first)), again(path("a.h5"));
  wb::hdf5_writer writer(path("a.h5"));  // replaces what is being read
  write_ramp<float>(writer, "float32", 2, 3, 1);
  expect_ramp<float>(file, "float32", 37, 20);
  writer.commit();
  expect_ramp<float>(again, "float32", 37, 20);
  expect_ramp<float>(wb::hdf5_reader(path("a.h5")), "float32", 2, 3);
}

TEST_F(hdf5, a_reader_that_was_moved_from_says_so) {
  write_all_types(path("all.h5"));
  wb::hdf5_reader file(path("all.h5"));
  const wb::hdf5_reader taken(std::move(file));
  EXPECT_TRUE(taken.has("uint8"));
  EXPECT_EQ(file.path(), "");
  for (const std::function<void()>& call : {std::function<void()>([&] { (void)file.has("uint8"); }),
                                            std::function<void()>([&] { (void)file.names(); }),
                                            std::function<void()>([&] { (void)file.read<float>("float32"); }),
                                            std::function<void()>([&] { (void)file.attribute("", "k"); })})
    expect_error<wb::error>(call, "was moved from");
}

TEST_F(hdf5, without_commit_nothing_changes) {
  put(path("kept.h5"), "as it was");
  {
    wb::hdf5_writer file(path("kept.h5")), other(path("new.h5"));
    write_ramp<float>(file, "llr", 100, 1000, 10);
    write_ramp<float>(other, "llr", 100, 1000, 10);
    EXPECT_EQ(files(), 3u);
  }
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(content(path("kept.h5")), "as it was");
}

TEST_F(hdf5, a_writer_refuses_wrong_calls) {
  expect_error([&] { wb::hdf5_writer(path("missing/a.h5")); }, "cannot write: its folder does not exist");
  wb::hdf5_writer file(path("a.h5"));
  file.create<float>("llr", {10, 4});
  const std::vector<float> rows(400);
  using wb::argument_error;
  using wb::shape_error;
  expect_error<shape_error>([&] { file.write("llr", 8, 3, rows.data()); }, "8 + 3 is not allowed");
  expect_error<shape_error>([&] { file.write("llr", 11, 0, rows.data()); }, "at most 10 rows");
  expect_error<shape_error>([&] { file.write("llr", 2, SIZE_MAX, rows.data()); }, "at most 10 rows");
  expect_error<argument_error>([&] { file.write("bits", 0, 1, rows.data()); }, "one that was created");
  const std::vector<double> doubles(40);
  expect_error<argument_error>([&] { file.write("llr", 0, 1, doubles.data()); }, "float64 is not allowed");
  expect_error<argument_error>([&] { file.create<float>("llr", {1}); }, "a name that is not taken");
  expect_error<argument_error>([&] { file.create<float>("", {1}); }, "a name that is not taken");
  expect_error<shape_error>([&] { file.create<float>("none", {}); }, "0 axes is not allowed");
  expect_error<shape_error>([&] { file.create<float>("big", {SIZE_MAX / 2, 2}); }, "fewer elements");
  expect_error<shape_error>([&] { file.create<float>("big", {0, SIZE_MAX, 2}); }, "fewer elements");
  expect_error<argument_error>([&] { file.set({{"", 1.0}}); }, "attribute name");
  expect_error<argument_error>([&] { file.set({{"a", std::string("b\0c", 3)}}); }, "without zero bytes");
  file.write("llr", 10, 0, rows.data());
  file.write("llr", 0, 10, rows.data());
  file.commit();
  expect_error([&] { file.write("llr", 0, 10, rows.data()); }, "it is finished");
}

TEST_F(hdf5, a_full_disk_is_reported_and_leaves_nothing) {
  // In a process of its own, which must also end without a word from HDF5.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fill = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit : {0u, 1u, 500u, 2048u, 3000u, 100000u, 1u << 20, 3u << 20, 4000000u}) {
      const rlimit lowered = {limit, RLIM_INFINITY};
      setrlimit(RLIMIT_FSIZE, &lowered);
      try {
        wb::hdf5_writer file(path("full.h5"));
        write_ramp<float>(file, "llr", 1000, 1000, 100);
        file.set(some_attributes);
        file.commit();
        std::fputs("committed", stderr);
      } catch (const wb::file_error& e) {
        if (std::string(e.what()) != path("full.h5") + ": cannot write: File too large")
          std::fputs(e.what(), stderr);
      }
      if (files() != 0) std::fputs("a file is left", stderr);
    }
    fs::remove_all(folder_);  // this process has its own
    std::fputs("done", stderr);
    std::exit(1);
  };
  EXPECT_EXIT(fill(), ::testing::ExitedWithCode(1), "^done$");
}

// ------------------------------------------------------------------------------------- files of other kinds

/// A file written with HDF5 itself: whatever is not what hdf5_writer writes.
class raw_file {
 public:
  explicit raw_file(const std::string& path)
      : id_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~raw_file() { H5Fclose(id_); }
  raw_file(const raw_file&) = delete;
  raw_file& operator=(const raw_file&) = delete;
  hid_t id() const { return id_; }

  void add(const std::string& name, hid_t type, const std::vector<hsize_t>& shape,
           const void* values = nullptr, const std::vector<hsize_t>& chunk = {}, bool packed = false) const {
    const int axes = static_cast<int>(shape.size());
    const hid_t space = H5Screate_simple(axes, shape.data(), nullptr), how = H5Pcreate(H5P_DATASET_CREATE);
    if (!chunk.empty()) H5Pset_chunk(how, axes, chunk.data());
    if (packed) {
      H5Pset_shuffle(how);
      H5Pset_deflate(how, 6);
      H5Pset_fletcher32(how);
    }
    const hid_t array = H5Dcreate2(id_, name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    ASSERT_GE(array, 0);
    if (values != nullptr) H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(array);
    H5Pclose(how);
    H5Sclose(space);
  }
  void add_text(const std::string& name, const std::string& text, bool variable) const {
    const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, variable ? H5T_VARIABLE : text.size());
    H5Tset_strpad(type, H5T_STR_SPACEPAD);
    const hid_t attribute = H5Acreate2(id_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
    const char* characters = text.c_str();
    H5Awrite(attribute, type, variable ? static_cast<const void*>(&characters) : characters);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
  }

 private:
  hid_t id_;
};

TEST_F(hdf5, says_what_is_wrong_with_a_file) {
  expect_error([&] { wb::hdf5_reader(path("none.h5")); }, "none.h5: cannot read: No such file or directory");
  expect_error([&] { wb::hdf5_reader(folder_.string()); }, "cannot read: it is a folder");
  put(path("empty.h5"), "");
  expect_error([&] { wb::hdf5_reader(path("empty.h5")); }, "empty.h5: it is empty");
  for (const std::string& text : {std::string("x"), std::string("k = 40\n"), std::string(10000, '\0')}) {
    put(path("text.h5"), text);
    expect_error([&] { wb::hdf5_reader(path("text.h5")); }, "text.h5: it is not an HDF5 file");
  }
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  expect_error([&] { wb::hdf5_reader(path("fifo")); }, "cannot read: it is not a regular file");
  if (geteuid() != 0) {
    put(path("closed.h5"), "x");
    fs::permissions(path("closed.h5"), fs::perms::none);
    expect_error([&] { wb::hdf5_reader(path("closed.h5")); }, "cannot read: Permission denied");
  }
  write_all_types(path("all.h5"));
  put(path("cut.h5"), content(path("all.h5")).substr(0, 5000));
  expect_error([&] { wb::hdf5_reader(path("cut.h5")); }, "cut.h5: it is truncated or damaged");
}

void expect_wrong_arrays(const std::string& in, const std::string& none) {
  {
    const raw_file file(in);
    file.add("bits", H5T_STD_U8LE, {10, 40});
    file.add("h", H5T_IEEE_F64BE, {10, 132});
    H5Gclose(H5Gcreate2(file.id(), "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Lcreate_soft("/nowhere", file.id(), "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("missing.h5", "x", file.id(), "outside", H5P_DEFAULT, H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_STD_U8LE);
    H5Tcommit2(file.id(), "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(type);
  }
  const wb::hdf5_reader file(in);
  EXPECT_EQ(file.names(), (std::vector<std::string>{"bits", "h"}));
  expect_error([&] { file.describe("llr"); },
               "in.h5: there is no array \"llr\": it holds bits, group, h, soft, type");
  expect_error([&] { file.describe("group/x"); }, "there is no array \"group/x\"");
  expect_error([&] { file.describe("a\nb"); }, "there is no array \"a?b\"");
  expect_error([&] { file.expect<float>("h", 2); },
               "in.h5: h is float64 [10, 132]: expected float32 of 2 axes");
  expect_error([&] { file.expect<double>("h", 1); }, "h is float64 [10, 132]: expected float64 of 1 axis");
  expect_error([&] { file.read<float>("h"); }, "h is float64 [10, 132]: expected float32");
  expect_error([&] { file.describe("group"); }, "group is a group, not an array");
  expect_error([&] { file.describe("type"); }, "type is not an array");
  expect_error([&] { file.describe("soft"); }, "soft is a link to something that is not there");
  expect_error([&] { file.describe("outside"); }, "outside is a link into another file");
  std::vector<std::uint8_t> row(400);
  expect_error<wb::shape_error>([&] { file.read("bits", 9, 2, row.data()); }, "at most 10 rows");
  expect_error<wb::shape_error>([&] { file.read("bits", 1, SIZE_MAX, row.data()); }, "at most 10 rows");
  file.read("bits", 10, 0, row.data());
  { const raw_file empty(none); }
  expect_error([&] { wb::hdf5_reader(none).describe("llr"); }, "it holds nothing");
}
TEST_F(hdf5, says_what_is_wrong_with_an_array) { expect_wrong_arrays(path("in.h5"), path("none.h5")); }
TEST_F(hdf5, this_process_says_what_is_wrong_with_an_array_of_a_trusted_file) {
  const trusted mode;
  expect_wrong_arrays(path("in.h5"), path("none.h5"));
}

TEST_F(hdf5, filters_are_not_loaded_from_plugins) {
  unsigned before = 0, after = 0;
  ASSERT_GE(H5PLget_loading_state(&before), 0);
  {
    const raw_file file(path("in.h5"));
    file.add("bits", H5T_STD_U8LE, {10, 40});
  }
  (void)wb::hdf5_reader(path("in.h5"), {.trusted = true}).read<std::uint8_t>("bits");
  ASSERT_GE(H5PLget_loading_state(&after), 0);
  EXPECT_EQ(before, after);  // what the program has set stays
}

TEST_F(hdf5, shapes_that_cannot_be_are_refused) {
  const hsize_t huge = hsize_t{1} << 60;
  {
    const raw_file file(path("huge.h5"));
    file.add("overflow", H5T_IEEE_F32LE, {huge, 132}, nullptr, {1, 132});
    file.add("rows", H5T_STD_U8LE, {huge}, nullptr, {1 << 20});
    file.add("sparse", H5T_STD_U8LE, {1 << 22}, nullptr, {1});
    file.add("unwritten", H5T_STD_U8LE, {1000, 10}, nullptr, {10, 10});
  }
  const wb::hdf5_reader file(path("huge.h5"));
  expect_error([&] { file.read<float>("overflow"); }, "that is too large");
  expect_error([&] { file.read<std::uint8_t>("rows"); }, "not what the file holds");
  expect_error([&] { file.describe("sparse"); }, "not what the file holds");
  EXPECT_EQ(file.read<std::uint8_t>("unwritten"), std::vector<std::uint8_t>(10000, 0));
}

TEST_F(hdf5, what_the_program_set_for_error_printing_stays) {
  static int called = 0;
  const auto count = [](hid_t, void*) -> herr_t { return ++called, 0; };
  H5E_auto2_t before = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  H5Eset_auto2(H5E_DEFAULT, count, nullptr);
  write_all_types(path("a.h5"));
  expect_error([&] { wb::hdf5_reader(path("a.h5"), {.trusted = true}).read<float>("llr"); },
               "there is no array");
  EXPECT_EQ(called, 0);
  H5Fopen(path("none.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_EQ(called, 1);
  H5Eset_auto2(H5E_DEFAULT, before, data);
}

// ------------------------------------------------------------------------------------------- damaged files

/// Reads all there is. Returns whether that went well; every failure is a file_error.
bool read_all(const std::string& path) {
  bool well = true;
  const auto attempt = [&](const std::function<void()>& call) {
    try {
      call();
    } catch (const wb::file_error& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      well = false;
    }
  };
  attempt([&] {
    const wb::hdf5_reader file(path);
    attempt([&] { file.names(); });
    attempt([&] { file.attribute("", "code"); });
    attempt([&] { file.attribute("", "unit"); });
    attempt([&] { file.read<float>("llr"); });
    attempt([&] { file.read<std::uint8_t>("bits"); });
    attempt([&] {
      std::uint8_t row[64];
      if (file.expect<std::uint8_t>("bits", 2)[1] <= 64) file.read("bits", 1, 1, row);
    });
  });
  return well;
}

void write_small(const std::string& path, const std::vector<hsize_t>& chunk, bool packed) {
  const std::vector<float> llr = ramp<float>(8 * 24);
  const std::vector<std::uint8_t> bits = ramp<std::uint8_t>(8 * 16);
  const raw_file file(path);
  file.add("llr", H5T_IEEE_F32LE, {8, 24}, llr.data(), chunk, packed);
  file.add("bits", H5T_STD_U8LE, {8, 16}, bits.data(), chunk, packed);
  file.add_text("code", "lte_turbo", true);
  file.add_text("unit", "dB", false);
}

TEST_F(hdf5, a_file_that_is_cut_is_refused_at_every_length) {
  const std::vector<std::pair<std::vector<hsize_t>, bool>> kinds = {
      {{}, false}, {{3, 5}, false}, {{3, 5}, true}};
  for (const auto& [chunk, packed] : kinds) {
    write_small(path("whole.h5"), chunk, packed);
    EXPECT_TRUE(read_all(path("whole.h5")));
    const std::string whole = content(path("whole.h5"));
    for (std::size_t n = 0; n < whole.size(); n += n < 20 || n + 20 > whole.size() ? 1 : 97) {
      put(path("cut.h5"), whole.substr(0, n));
      EXPECT_FALSE(read_all(path("cut.h5"))) << n << " of " << whole.size() << " bytes";
    }
  }
}

#ifdef F_OFD_GETLK
TEST_F(hdf5, a_file_that_is_written_is_locked) {
  const wb::hdf5_writer writer(path("out.h5"));
  const std::string name = path("out.h5") + ".tmp" + std::to_string(getpid()) + "-0";
  const int file = open(name.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(fcntl(file, F_OFD_GETLK, &whole), 0);
  close(file);
  EXPECT_EQ(whole.l_type, F_WRLCK);
}
#endif

TEST_F(hdf5, a_file_that_changes_while_it_is_read_is_refused) {
  write_small(path("whole.h5"), {}, false);
  const wb::hdf5_reader file(path("whole.h5"));
  EXPECT_EQ(file.read<float>("llr").size(), 8u * 24);
  fs::resize_file(path("whole.h5"), fs::file_size(path("whole.h5")) - 100);
  expect_error([&] { file.read<float>("llr"); }, "it was changed while it was read");
}

TEST_F(hdf5, a_flipped_bit_is_an_error_or_another_value) {
  const std::vector<std::pair<std::vector<hsize_t>, bool>> kinds = {{{}, false}, {{3, 5}, false}};
  for (const auto& [chunk, packed] : kinds) {
    write_small(path("whole.h5"), chunk, packed);
    const std::string whole = content(path("whole.h5"));
    std::size_t refused = 0;
    for (std::size_t i = 0; i < whole.size(); i += 23) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i / 23 * 5 % 8)));
      put(path("flipped.h5"), bytes);
      refused += read_all(path("flipped.h5")) ? 0 : 1;
    }
    EXPECT_GT(refused, 10u);
  }
}

TEST_F(hdf5, a_flipped_bit_in_packed_data_is_an_error) {
  write_small(path("whole.h5"), {8, 16}, true);
  const std::string whole = content(path("whole.h5"));
  const hid_t id = H5Fopen(path("whole.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t array = H5Dopen2(id, "bits", H5P_DEFAULT);
  const hid_t space = H5Dget_space(array);
  hsize_t chunk[2] = {}, packed = 0;
  unsigned skipped_filters = 0;
  haddr_t address = HADDR_UNDEF;
  ASSERT_GE(H5Dget_chunk_info(array, space, 0, chunk, &skipped_filters, &address, &packed), 0);
  H5Sclose(space);
  H5Dclose(array);
  H5Fclose(id);
  ASSERT_LE(address + packed, whole.size());
  for (haddr_t i = address; i < address + packed; i++) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 4);
    put(path("flipped.h5"), bytes);
    expect_error([&] { wb::hdf5_reader(path("flipped.h5")).read<std::uint8_t>("bits"); },
                 "bits cannot be read, it is truncated or damaged");
  }
}

/// `bytes` with those at `offset` after the first `mark` replaced.
std::string patched(std::string bytes, const std::string& mark, std::size_t offset, const std::string& by) {
  const std::size_t found = bytes.find(mark);
  EXPECT_NE(found, std::string::npos);
  return bytes.replace(found + offset, by.size(), by);
}

TEST_F(hdf5, a_damaged_heap_of_texts_is_an_error_or_another_value) {
  {
    const raw_file file(path("text.h5"));
    file.add_text("code", "conv", true);
    file.add_text("order", "streams", true);
  }
  const std::string whole = content(path("text.h5")), large = std::string("\x8b\xff\0\0\0\0\0\xff", 8);
  const auto text = [&](const std::string& bytes) {
    put(path("damaged.h5"), bytes);
    return wb::hdf5_reader(path("damaged.h5")).attribute("", "code");
  };
  EXPECT_EQ(text(whole), wb::hdf5_attribute(std::string("conv")));
  // Bytes of the heap; of the object after it (which HDF5 reads too), of the free rest, which 0 makes an
  // endless loop; the object's number; the mark.
  const std::pair<std::size_t, std::string> damages[] = {
      {8, large}, {8, std::string(8, '\0')}, {48, large}, {72, std::string(8, '\0')}, {16, "\x07"}, {0, "x"}};
  int refused = 0;
  for (const auto& [offset, by] : damages) {
    try {
      (void)text(patched(whole, "GCOL", offset, by));
    } catch (const wb::file_error& e) {
      refused++;
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    }
  }
  EXPECT_GE(refused, 3);
}

TEST_F(hdf5, attributes_of_odd_numbers_are_refused_before_they_are_read) {
  const std::int64_t value = 0x0123456789abcdef;
  {
    const raw_file file(path("number.h5"));
    const hid_t space = H5Screate(H5S_SCALAR),
                made = H5Acreate2(file.id(), "k", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(made, H5T_NATIVE_INT64, &value);
    H5Aclose(made);
    H5Sclose(space);
  }
  const std::string whole = content(path("number.h5"));
  // The type: class and version, flags (order, sign), size, then the offset and the precision in bits.
  const std::string type("\x10\x08\0\0\x08\0\0\0\0\0\x40\0", 12);
  const auto read = [&](std::size_t offset, const std::string& by) {
    put(path("odd.h5"), patched(whole, type, offset, by));
    const wb::hdf5_reader file(path("odd.h5"));
    expect_error([&] { file.attribute("", "k"); }, "attribute k ");
    expect_error([&] { file.attribute_numbers("", "k"); }, "attribute k ");
  };
  EXPECT_EQ(wb::hdf5_reader(path("number.h5")).attribute("", "k"), wb::hdf5_attribute(value));
  read(10, std::string("\x40\x04", 2));  // 1088 bits in 8 bytes
  read(10, "\x20");                      // 32 bits
  read(8, "\x08");                       // from bit 8 on
}

// -------------------------------------------------------------------------------------------------- MATLAB

/// An array as MATLAB saves it: in reverse order of axes, with its class.
void add_matlab(const raw_file& file, const std::string& name, hid_t type,
                const std::vector<hsize_t>& in_file, const void* values, const std::string& kind,
                const std::vector<hsize_t>& chunk = {}) {
  file.add(name, type, in_file, values, chunk, !chunk.empty());
  const hid_t array = H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), space = H5Screate(H5S_SCALAR),
              text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, kind.size());
  const hid_t made = H5Acreate2(array, "MATLAB_class", text, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(made, text, kind.c_str());
  H5Aclose(made);
  H5Tclose(text);
  H5Sclose(space);
  H5Dclose(array);
}
hid_t matlab_complex(hid_t part) {
  const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * H5Tget_size(part));
  H5Tinsert(type, "real", 0, part);
  H5Tinsert(type, "imag", H5Tget_size(part), part);
  return type;
}

TEST_F(hdf5, arrays_of_matlab_are_read_with_its_axes) {
  constexpr std::size_t rows = 11, a = 3, b = 2;
  std::vector<double> stored(rows * a * b * 2);  // [b, a, rows] of real and imaginary part
  std::vector<complex64> expected(rows * a * b);
  for (std::size_t r = 0; r < rows; r++)
    for (std::size_t i = 0; i < a; i++)
      for (std::size_t j = 0; j < b; j++) {
        const std::size_t entry = (j * a + i) * rows + r;
        stored[2 * entry] = static_cast<double>(100 * r + 10 * i + j) + 0.25;
        stored[2 * entry + 1] = -static_cast<double>(j) - 0.1;
        expected[(r * a + i) * b + j] = {static_cast<float>(stored[2 * entry]),
                                         static_cast<float>(stored[2 * entry + 1])};
      }
  const double bits[] = {0, 1, 1, 0, 1, 1}, noise[] = {0.1, 1, 2, std::nan(""), INFINITY, 1e-300};
  const std::uint8_t logical[] = {1, 0, 0, 1, 1, 0};
  const float single[] = {1, 2, 3, 4, 5, 6};
  {
    const raw_file file(path("matlab.h5"));
    const hid_t type = matlab_complex(H5T_IEEE_F64LE);
    add_matlab(file, "h", type, {b, a, rows}, stored.data(), "double");
    add_matlab(file, "packed", type, {b, a, rows}, stored.data(), "double", {1, 2, 4});
    H5Tclose(type);
    add_matlab(file, "bits", H5T_IEEE_F64LE, {2, 3}, bits, "double");
    add_matlab(file, "logical", H5T_STD_U8LE, {2, 3}, logical, "logical");
    add_matlab(file, "single", H5T_IEEE_F32LE, {2, 3}, single, "single");
    add_matlab(file, "scalar", H5T_IEEE_F64LE, {1, 1}, noise, "double");
    add_matlab(file, "column", H5T_IEEE_F64LE, {1, 6}, noise, "double");
    add_matlab(file, "row", H5T_IEEE_F64LE, {6, 1}, noise, "double", {2, 1});
    file.add("plain", H5T_IEEE_F32LE, {2, 3}, single);
  }
  const wb::hdf5_reader file(path("matlab.h5"));
  EXPECT_EQ(file.read<float>("plain"), std::vector<float>(single, single + 6));
  EXPECT_EQ(file.remark(), "");
  EXPECT_EQ(file.expect<float>("single", 2), (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(file.read<float>("single"), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(file.remark(), "read as MATLAB wrote it: axes reversed");
  for (const std::string name : {"h", "packed"}) {
    EXPECT_EQ(file.expect<complex64>(name, 3), (std::vector<std::size_t>{rows, a, b}));
    EXPECT_EQ(file.expect<complex64>(name, 4), (std::vector<std::size_t>{rows, a, b, 1}));
    EXPECT_EQ(file.read<complex64>(name), expected);
    for (std::size_t piece : {1, 4, 5}) {
      std::vector<complex64> pieces(expected.size());
      for (std::size_t r = 0; r < rows; r += piece)
        file.read(name, r, std::min(piece, rows - r), pieces.data() + r * a * b);
      EXPECT_EQ(pieces, expected) << name << " in pieces of " << piece;
    }
  }
  EXPECT_EQ(file.remark(), "read as MATLAB wrote it: axes reversed, float64 converted");
  EXPECT_EQ(file.read<std::uint8_t>("bits"), (std::vector<std::uint8_t>{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(file.read<std::uint8_t>("logical"), (std::vector<std::uint8_t>{1, 1, 0, 1, 0, 0}));
  EXPECT_EQ(file.read<complex64>("single")[1], (complex64{4, 0}));  // MATLAB drops imaginary parts that are 0
  EXPECT_EQ(file.expect<float>("scalar", 1), std::vector<std::size_t>{1});
  for (const std::string name : {"row", "column"}) {
    EXPECT_EQ(file.expect<float>(name, 1), std::vector<std::size_t>{6});
    std::vector<float> values(6);
    file.read(name, 0, 2, values.data());
    file.read(name, 2, 4, values.data() + 2);
    EXPECT_EQ(values[0], 0.1f);
    EXPECT_EQ(values[2], 2);
    EXPECT_TRUE(std::isnan(values[3]));
    EXPECT_EQ(values[4], INFINITY);
    EXPECT_EQ(values[5], 0);
  }
}

TEST_F(hdf5, what_matlab_wrote_and_does_not_fit_is_refused) {
  const double values[] = {1, 0.5, -1e300, 256, 2, std::nan("")}, fine[6] = {};
  {
    const raw_file file(path("matlab.h5"));
    add_matlab(file, "x", H5T_IEEE_F64LE, {2, 3}, values, "double");
    const hid_t type = matlab_complex(H5T_IEEE_F64LE);
    add_matlab(file, "z", type, {1, 3}, fine, "double");
    add_matlab(file, "cell", H5T_IEEE_F64LE, {2, 3}, fine, "cell");
    H5Tclose(type);
  }
  const wb::hdf5_reader file(path("matlab.h5"));
  expect_error([&] { file.read<float>("x"); }, "x[2, 0] is -1e+300: expected a value of float32");
  std::uint8_t row[2];
  expect_error([&] { file.read("x", 0, 1, row); }, "x[0, 1] is 256: expected a value of uint8");
  expect_error([&] { file.read("x", 1, 1, row); }, "x[1, 0] is 0.5: expected a value of uint8");
  expect_error([&] { file.read("x", 2, 1, row); }, "x[2, 0] is -1e+300");
  expect_error([&] { file.expect<float>("z", 2); }, "z is complex128 [3, 1]: expected float32 of 2 axes");
  expect_error([&] { file.expect<float>("x", 1); }, "x is float64 [3, 2]: expected float32 of 1 axis");
  expect_error([&] { file.describe("cell"); }, "cell is of MATLAB class cell");
}

// ----------------------------------------------------------------------------------------- Octave and Julia

/// A variable as Octave saves it (save -hdf5): a group with a text "type" and the values, axes in reverse.
void add_octave(const raw_file& file, const std::string& name, const std::string& kind, hid_t type,
                const std::vector<hsize_t>& in_file, const void* values,
                const std::vector<hsize_t>& chunk = {}) {
  const hid_t group = H5Gcreate2(file.id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              scalar = H5Screate(H5S_SCALAR), text = H5Tcopy(H5T_C_S1);
  const std::uint8_t yes = 1;
  const hid_t mark = H5Acreate2(group, "OCTAVE_NEW_FORMAT", H5T_STD_U8LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(mark, H5T_NATIVE_UINT8, &yes);
  H5Aclose(mark);
  H5Tset_size(text, kind.size() + 1);
  const hid_t word = H5Dcreate2(group, "type", text, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(word, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, kind.c_str());
  H5Dclose(word);
  if (in_file.empty()) {
    const hid_t value = H5Dcreate2(group, "value", type, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(value, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Dclose(value);
  } else {
    file.add(name + "/value", type, in_file, values, chunk, !chunk.empty());
  }
  H5Tclose(text);
  H5Sclose(scalar);
  H5Gclose(group);
}

TEST_F(hdf5, variables_of_octave_are_read_with_its_axes) {
  const double x[] = {1, 2, 3, 4, 5, 6}, z[] = {1, -1, 2, -2, 3, -3, 4, -4};
  const std::uint8_t yes[] = {1, 0};
  {
    const raw_file file(path("octave.h5"));
    add_octave(file, "x", "matrix", H5T_IEEE_F64LE, {2, 3}, x);
    add_octave(file, "packed", "matrix", H5T_IEEE_F64LE, {2, 3}, x, {1, 2});
    const hid_t type = matlab_complex(H5T_IEEE_F64LE);
    add_octave(file, "z", "complex matrix", type, {2, 2}, z);
    H5Tclose(type);
    add_octave(file, "noise_var", "scalar", H5T_IEEE_F64LE, {}, x);
    add_octave(file, "flags", "bool matrix", H5T_STD_U8LE, {1, 2}, yes);
    add_octave(file, "single", "float matrix", H5T_IEEE_F32LE, {1, 1}, x);
    for (const std::string kind : {"string", "cell", "struct", "range", "sparse matrix", "diagonal matrix"})
      add_octave(file, kind, kind, H5T_IEEE_F64LE, {2, 3}, x);
  }
  for (const bool in_process : {false, true}) {
    const wb::hdf5_reader file(path("octave.h5"), {.trusted = in_process});
    for (const std::string name : {"x", "packed"}) {
      EXPECT_EQ(file.expect<float>(name, 2), (std::vector<std::size_t>{3, 2}));
      EXPECT_EQ(file.read<float>(name), (std::vector<float>{1, 4, 2, 5, 3, 6}));
    }
    EXPECT_EQ(file.remark(), "read as Octave wrote it: axes reversed, float64 converted");
    EXPECT_EQ(file.expect<complex64>("z", 3), (std::vector<std::size_t>{2, 2, 1}));
    EXPECT_EQ(file.read<complex64>("z"), (std::vector<complex64>{{1, -1}, {3, -3}, {2, -2}, {4, -4}}));
    EXPECT_EQ(file.expect<float>("noise_var", 1), std::vector<std::size_t>{1});
    EXPECT_EQ(file.read<float>("noise_var"), std::vector<float>{1});
    EXPECT_EQ(file.expect<std::uint8_t>("flags", 1), std::vector<std::size_t>{2});
    EXPECT_EQ(file.read<std::uint8_t>("flags"), (std::vector<std::uint8_t>{1, 0}));
    EXPECT_EQ(file.names().size(), 12u);
    for (const std::string kind : {"string", "cell", "struct", "range", "sparse matrix", "diagonal matrix"})
      expect_error([&] { file.describe(kind); },
                   kind + " is of Octave's type " + kind + ": expected a full array of numbers");
  }
}

TEST_F(hdf5, arrays_of_julia_are_read_with_its_axes) {
  const double x[] = {1, 2, 3, 4, 5, 6};
  const float z[] = {1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6};
  {
    const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(creation, 512);
    H5Fclose(H5Fcreate(path("julia.h5").c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT));
    H5Pclose(creation);
    const hid_t file = H5Fopen(path("julia.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t type = H5Tcreate(H5T_COMPOUND, 8);
    H5Tinsert(type, "re", 0, H5T_IEEE_F32LE);
    H5Tinsert(type, "im", 4, H5T_IEEE_F32LE);
    H5Tcommit2(file, "ComplexF32", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hsize_t shape[] = {2, 3};
    const hid_t space = H5Screate_simple(2, shape, nullptr);
    for (const auto& [name, stored_type, values] :
         {std::tuple<const char*, hid_t, const void*>("h", type, z),
          std::tuple<const char*, hid_t, const void*>("x", H5T_IEEE_F64LE, x),
          std::tuple<const char*, hid_t, const void*>("mask", H5T_STD_B8LE, x)}) {
      const hid_t made = H5Dcreate2(file, name, stored_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      H5Dwrite(made, stored_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
      H5Dclose(made);
    }
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
  }
  const std::string whole = content(path("julia.h5"));
  for (const std::string words : {"HDF5-based Julia Data Format, version 0.1.1 (Julia 1.10.0)",
                                  "Julia data file (HDF5), version 0.1.2"}) {
    put(path("julia.h5"), std::string(whole).replace(0, words.size(), words));
    const wb::hdf5_reader file(path("julia.h5"));
    EXPECT_EQ(file.expect<complex64>("h", 2), (std::vector<std::size_t>{3, 2}));
    EXPECT_EQ(file.read<complex64>("h"),
              (std::vector<complex64>{{1, -1}, {4, -4}, {2, -2}, {5, -5}, {3, -3}, {6, -6}}));
    EXPECT_EQ(file.remark(), "read as Julia wrote it: axes reversed");
    EXPECT_EQ(file.read<float>("x"), (std::vector<float>{1, 4, 2, 5, 3, 6}));
    expect_error([&] { file.read<std::uint8_t>("mask"); },
                 "mask is a bit field of 8 bits [3, 2]: expected uint8");
  }
  // Without these words nobody knows the order of its axes.
  put(path("julia.h5"), whole);
  expect_error([&] { wb::hdf5_reader(path("julia.h5")).read<complex64>("h"); },
               "h is a compound of re, im [2, 3]: expected complex64");
}

// ---------------------------------------------------------------------------------------------------- h5py

TEST_F(hdf5, h5py_and_the_library_read_each_other) {
  const std::string python = WARPBAND_SOURCE_DIR "/.venv/bin/python";
  if (std::system(("'" + python + "' -c 'import h5py' > /dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << "no h5py in .venv: scripts/setup.sh --checks installs it";
  }
  const auto run = [&](const std::string& action) {
    return std::system(("'" + python + "' '" WARPBAND_SOURCE_DIR "/tests/hdf5_interop.py' " + action + " '" +
                        folder_.string() + "'")
                           .c_str());
  };
  ASSERT_EQ(run("write"), 0);
  const wb::hdf5_attributes expected = {{"k", std::int64_t{40}},
                                        {"small", std::int64_t{-3}},
                                        {"big", std::int64_t{-7}},
                                        {"rate", 0.5},
                                        {"half", 0.25},
                                        {"bool", std::int64_t{1}},
                                        {"code", std::string("turbo")},
                                        {"umlaut", std::string("größe")},
                                        {"fixed", std::string("abc")},
                                        {"empty", std::string()},
                                        {"one", std::int64_t{5}}};
  for (const std::string form : {"contiguous", "chunked", "columns_cut", "gzip", "shuffle", "growing"}) {
    const wb::hdf5_reader file(path("h5py_" + form + ".h5"));
    expect_ramp<std::uint8_t>(file, "uint8", 37, 20);
    expect_ramp<std::int32_t>(file, "int32", 37, 20);
    expect_ramp<std::int64_t>(file, "int64", 37, 20);
    expect_ramp<float>(file, "float32", 37, 20);
    expect_ramp<double>(file, "float64", 37, 20);
    expect_ramp<complex64>(file, "complex64", 37, 20);
    expect_ramp<std::int32_t>(file, "big_int32", 37, 20);
    expect_ramp<std::int64_t>(file, "big_int64", 37, 20);
    expect_ramp<float>(file, "big_float32", 37, 20);
    expect_ramp<double>(file, "big_float64", 37, 20);
    expect_ramp<float>(file, "group/inner", 37, 20);
    expect_ramp<complex64>(file, "deep", 37, 20, {4, 5});
    expect_attributes(file, "", expected);
    expect_attributes(file, "float32", {{"note", std::string("rows")}});
    expect_error([&] { file.attribute("", "several"); }, "several is not what was expected: one number");
    expect_error([&] { file.attribute("", "texts"); }, "texts is not what was expected: one number");
  }
  const wb::hdf5_array cut = wb::hdf5_reader(path("h5py_columns_cut.h5")).describe("float32");
  EXPECT_EQ(cut.chunk_rows, 5u);
  EXPECT_EQ(cut.chunk_bytes, 5u * 21 * 4);

  const wb::hdf5_reader others(path("h5py_others.h5"));
  for (const std::string type :
       {"int8", "uint16", "int16", "uint32", "uint64", "float16", "complex128", "bool"}) {
    EXPECT_EQ(others.describe(type).type, type);
    EXPECT_EQ(others.describe(type).shape, (std::vector<std::size_t>{2, 3}));
  }
  EXPECT_EQ(others.describe("string").type, "string");
  EXPECT_EQ(others.describe("strings").type, "string");
  EXPECT_EQ(others.describe("another type").type, "a compound of a, b");
  EXPECT_EQ(others.expect<float>("scalar", 0), std::vector<std::size_t>{});
  EXPECT_EQ(others.read<float>("scalar"), std::vector<float>{1.5f});
  float scalar = 0;
  others.read("scalar", 0, 1, &scalar);
  EXPECT_EQ(scalar, 1.5f);
  expect_error([&] { others.expect<float>("scalar", 1); },
               "scalar is float32 []: expected float32 of 1 axis");
  expect_error<wb::shape_error>([&] { others.read("scalar", 0, 2, &scalar); }, "at most 1 rows");
  EXPECT_EQ(others.expect<float>("one", 1), std::vector<std::size_t>{1});
  EXPECT_EQ(others.read<float>("one"), std::vector<float>{2.5f});
  EXPECT_EQ(others.read<float>("linked"), std::vector<float>{1.5f});
  EXPECT_TRUE(others.read<float>("no_rows").empty());
  expect_error([&] { others.read<std::uint8_t>("bool"); }, "bool is bool [2, 3]: expected uint8");
  expect_error([&] { others.describe("null"); }, "null is a null dataset");
  expect_error([&] { others.describe("dangling"); }, "is a link to something that is not there");
  expect_error([&] { others.describe("outside"); }, "outside is a link into another file");
  expect_error([&] { others.describe("virtual"); }, "is put together from other files");
  expect_error([&] { others.read<float>("lzf"); }, "lzf is packed by a filter that this HDF5 library lacks");
  for (const std::string version : {"earliest", "latest"}) {
    const wb::hdf5_reader file(path("h5py_" + version + ".h5"));
    expect_ramp<float>(file, "float32", 37, 20);
    for (const std::string kind : {"fixed", "one", "both"}) {
      expect_ramp<float>(file, kind + "_None", 37, 20);
      expect_ramp<float>(file, kind + "_gzip", 37, 20);
      const std::vector<float> begun = file.read<float>(kind + "_begun");
      EXPECT_EQ(std::count(begun.begin(), begun.end(), 1.0f), 20);
      EXPECT_EQ(std::count(begun.begin(), begun.end(), 0.0f), 36 * 20);
    }
    expect_attributes(file, "", {{"a0", std::int64_t{0}}, {"a29", std::int64_t{29}}});
    expect_attributes(file, "float32", {{"k", std::string("text")}});
  }
  write_all_types(path("warpband.h5"));
  EXPECT_EQ(run("check"), 0);
}

}  // namespace hdf5_test

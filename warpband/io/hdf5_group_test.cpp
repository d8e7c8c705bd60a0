// Groups whose names or links libhdf5 reads without a check: found on the way to whatever is asked for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <warpband/io/hdf5.hpp>
#include <warpband/io/hdf5_group.hpp>

namespace wb {
namespace hdf5_group_test {

class hdf5_group : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  static void add(hid_t where, const std::string& name) {
    const hid_t space = H5Screate(H5S_SCALAR), array = H5Dcreate2(where, name.c_str(), H5T_STD_U8LE, space,
                                                                  H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Idec_ref(array);
    H5Idec_ref(space);
  }
  /// Forty arrays and links in the root, an array in g.
  void write(H5F_libver_t version, hsize_t user_block) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST);
    H5Pset_userblock(creation, user_block);
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation, access);
    for (int i = 10; i < 50; i++) add(file, "array " + std::to_string(i));
    const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    add(group, "a");
    H5Lcreate_soft("/g/a", file, "s", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("s2", file, "s1", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("s1", file, "s2", H5P_DEFAULT, H5P_DEFAULT);
    H5Idec_ref(group);
    H5Fclose(file);
    H5Pclose(access);
    H5Pclose(creation);
    bytes_ = content();
  }
  std::string content() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  /// The file with another byte.
  void put(std::size_t at, char byte) const {
    std::string damaged = bytes_;
    damaged.at(at) = byte;
    put(damaged);
  }
  std::size_t number(std::size_t at) const {
    std::size_t n = 0;
    for (std::size_t i = 8; i-- > 0;) n = n << 8 | static_cast<unsigned char>(bytes_.at(at + i));
    return n;
  }
  bool is_sound() const {
    const int file = open(path_.c_str(), O_RDONLY);
    const bool sound = is_sound_root(file);
    close(file);
    return sound;
  }
  std::string refused(const std::string& name) const {
    try {
      (void)hdf5_reader(path_).describe(name);
    } catch (const file_error& e) {
      return std::string(e.what()).substr(path_.size() + 2);
    }
    return "";
  }

  std::string path_ = ::testing::TempDir() + "/warpband_group_" + std::to_string(getpid()) + ".h5";
  std::string bytes_;
};

TEST_F(hdf5_group, of_every_kind_are_read) {
  for (const H5F_libver_t version : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST})
    for (const hsize_t user_block : {0, 512}) {
      write(version, user_block);
      EXPECT_TRUE(is_sound());
      EXPECT_EQ(hdf5_reader(path_).names().size(), 41u);  // and what s leads to
      for (const char* name : {"array 10", "array 49", "g/a", "/g//a", "s"})
        EXPECT_EQ(refused(name), "") << name;
      EXPECT_NE(refused("s1"), "");
      EXPECT_NE(refused("g/b"), "");
    }
}

/// Bytes of heap, tree and entries that make libhdf5 1.10.8 read elsewhere, or for ever.
TEST_F(hdf5_group, whose_names_are_elsewhere_are_refused) {
  for (const hsize_t user_block : {0, 512}) {
    write(H5F_LIBVER_EARLIEST, user_block);
    const std::size_t heap = bytes_.find("HEAP"), tree = bytes_.find("TREE"), entries = bytes_.find("SNOD");
    const auto damaged = [&](const char* what, std::size_t at) {
      put(at, '\x7f');
      EXPECT_FALSE(is_sound()) << what;
      EXPECT_EQ(refused("array 10"), "it is truncated or damaged: wrong names of the root group") << what;
    };
    damaged("bytes of the heap", heap + 10);
    damaged("the first free place", heap + 18);
    damaged("where the names are", heap + 26);
    damaged("the heap", heap);
    damaged("kind of the tree", tree + 4);
    damaged("level of the tree", tree + 5);
    damaged("the first name of a node", tree + 26);
    damaged("a node", tree + 34);
    damaged("the name of an entry", entries + 8 + 2);
    damaged("entries", entries);
    // A list of free places that goes round.
    const std::size_t names = user_block + number(heap + 24), free = number(heap + 16);
    std::string round = bytes_;
    round.replace(names + free, 8, bytes_, heap + 16, 8);
    put(round);
    EXPECT_FALSE(is_sound());
    put(bytes_);
    EXPECT_TRUE(is_sound());
  }
}

/// A group of many links, whose heap or tree is nowhere: libhdf5 1.10.8 reads there.
TEST_F(hdf5_group, whose_links_are_nowhere_are_refused) {
  for (const hsize_t user_block : {0, 512}) {
    write(H5F_LIBVER_LATEST, user_block);
    const auto address_of = [&](const char* signature) {
      std::string text;
      for (std::uint64_t at = bytes_.find(signature) - user_block, i = 0; i < 8; i++)
        text += static_cast<char>(at >> 8 * i & 0xff);
      return text;
    };
    const std::size_t heap = bytes_.find(address_of("FRHP") + address_of("BTHD"));
    ASSERT_NE(heap, std::string::npos);
    EXPECT_TRUE(is_sound());
    std::string nowhere = bytes_;
    nowhere.replace(heap + 8, 8, 8, '\xff');  // the tree
    put(nowhere);
    EXPECT_FALSE(is_sound());
    for (const std::size_t at : {heap + 2, heap + 10}) {
      put(bytes_);
      put(at, '\x7f');
      EXPECT_FALSE(is_sound());
    }
    nowhere.replace(heap, 8, 8, '\xff');  // neither of them
    put(nowhere);
    EXPECT_TRUE(is_sound());
  }
}

TEST_F(hdf5_group, below_the_root_are_looked_at_on_the_way) {
  write(H5F_LIBVER_EARLIEST, 0);
  const std::size_t entries = bytes_.rfind("SNOD");
  put(entries + 8 + 2, '\x7f');  // the name of "a"
  EXPECT_TRUE(is_sound());
  EXPECT_EQ(refused("array 10"), "");
  EXPECT_EQ(refused("g/a"), "g/a cannot be read, it is truncated or damaged: wrong group");
  EXPECT_EQ(refused("s"), "s cannot be read, it is truncated or damaged: wrong group");
  EXPECT_EQ(hdf5_reader(path_).names().size(), 40u);
}

TEST_F(hdf5_group, links_that_lead_to_one_another_end) {
  write(H5F_LIBVER_EARLIEST, 0);
  EXPECT_EQ(refused("s1"), "s1 cannot be read, it is truncated or damaged: wrong group");
}

TEST_F(hdf5_group, links_are_looked_at_as_they_are_decoded) {
  const auto sound = [&](const std::string& message) {
    put(message + std::string(64, '\0'));
    const int file = open(path_.c_str(), O_RDONLY);
    const bool is = is_sound_link(file, {}, 0, message.size());
    close(file);
    return is;
  };
  using std::string_literals::operator""s;
  const std::string address(8, '\1'), hard = "\1\0\4name"s;
  EXPECT_TRUE(sound(hard + address));
  EXPECT_TRUE(sound("\1\x08\1\1n\2\0to"s));
  EXPECT_TRUE(sound("\1\x08\x40\1n\2\0to"s));
  EXPECT_TRUE(sound("\1\x10\1\1n"s + address));
  EXPECT_TRUE(sound("\1\x04\1\2\3\4\5\6\7\10\1n"s + address));
  EXPECT_TRUE(sound("\1\3\1\0\0\0\0\0\0\0n"s + address));
  EXPECT_FALSE(sound("\2\0\4name"s + address));    // version
  EXPECT_FALSE(sound("\1\x20\4name"s + address));  // flags
  EXPECT_FALSE(sound("\1\x08\2\1n\2\0to"s));       // kind of link
  EXPECT_FALSE(sound("\1\x10\2\1n"s + address));   // characters
  EXPECT_FALSE(sound("\1\0\0"s + address));        // a name of no bytes
  EXPECT_FALSE(sound("\1\0\x7fname"s + address));  // one that is longer than its message
  EXPECT_FALSE(sound("\1\3\xff\xff\xff\xff\xff\xff\xff\xffn"s + address));
  EXPECT_FALSE(sound(hard + std::string(7, '\1')));  // half an address
  EXPECT_FALSE(sound("\1\x08\1\1n\0\0"s));           // a soft link that leads nowhere
  EXPECT_FALSE(sound("\1\x08\1\1n\3\0to"s));
  EXPECT_FALSE(sound(""));
}

}  // namespace hdf5_group_test
}  // namespace wb

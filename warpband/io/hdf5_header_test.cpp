// Headers of arrays whose chunks libhdf5 cannot hold: found wherever a header has them, and refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <warpband/io/hdf5.hpp>
#include <warpband/io/hdf5_header.hpp>

namespace wb {
namespace hdf5_header_test {

#if H5_VERSION_GE(1, 12, 0)
using object_info = H5O_info1_t;
#else
using object_info = H5O_info_t;
#endif

class hdf5_header : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  /// Writes an array in chunks, and so many attributes that its header goes on elsewhere.
  void write(H5F_libver_t version, hsize_t user_block) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST);
    H5Pset_userblock(creation, user_block);
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, creation, access),
                chunks = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t shape[] = {4, 6}, chunk[] = {2, 3}, unlimited[] = {H5S_UNLIMITED, 6};
    H5Pset_chunk(chunks, 2, chunk);
    const hid_t space = H5Screate_simple(2, shape, unlimited),
                array = H5Dcreate2(file, "bits", H5T_STD_U8LE, space, H5P_DEFAULT, chunks, H5P_DEFAULT);
    std::vector<std::uint8_t> values(24, 1);
    H5Dwrite(array, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    for (int i = 0; i < 6; i++) {
      const std::string name = "attribute " + std::to_string(i);
      H5Aclose(H5Acreate2(array, name.c_str(), H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT));
    }
    object_info info;
    H5Oget_info_by_name2(file, "bits", &info, H5O_INFO_BASIC, H5P_DEFAULT);
    numbers_.begin = user_block;
    address_ = info.addr;
    for (const hid_t id : {array, space, chunks}) H5Idec_ref(id);
    H5Fclose(file);
    H5Pclose(access);
    H5Pclose(creation);
  }
  /// The places of a 3, of two axes and the element, that must not become 0.
  std::vector<off_t> places() const {
    const int file = open(path_.c_str(), O_RDWR);
    EXPECT_TRUE(is_sound_header(file, numbers_, address_));
    std::vector<off_t> found;
    const off_t size = lseek(file, 0, SEEK_END);
    for (off_t at = 0; at < size; at++) {
      char byte = 0;
      EXPECT_EQ(pread(file, &byte, 1, at), 1);
      if (byte != 3) continue;
      EXPECT_EQ(pwrite(file, "", 1, at), 1);
      if (!is_sound_header(file, numbers_, address_)) found.push_back(at);
      EXPECT_EQ(pwrite(file, &byte, 1, at), 1);
    }
    close(file);
    return found;
  }
  void put(off_t at, char byte) const {
    const int file = open(path_.c_str(), O_RDWR);
    EXPECT_EQ(pwrite(file, &byte, 1, at), 1);
    close(file);
  }

  std::string path_ = ::testing::TempDir() + "/warpband_header_" + std::to_string(getpid()) + ".h5";
  hdf5_numbers numbers_;
  std::uint64_t address_ = 0;
};

/// Chunks without dimensions made libhdf5 1.10.8 write before an array when it opened the dataset.
TEST_F(hdf5_header, chunks_of_impossible_dimensions_are_refused) {
  for (const hsize_t user_block : {0, 512}) {
    write(H5F_LIBVER_EARLIEST, user_block);
    const std::vector<off_t> found = places();
    ASSERT_EQ(found.size(), 1u);
    for (const char dimensions : {'\0', '\1', '\42', '\377'}) {
      put(found[0], dimensions);
      const hdf5_reader file(path_);
      EXPECT_TRUE(file.names().empty());
      for (const auto& call : std::vector<std::function<void()>>{
               [&] { (void)file.describe("bits"); }, [&] { (void)file.read<std::uint8_t>("bits"); },
               [&] { (void)file.attribute("bits", "k"); }})
        try {
          call();
          ADD_FAILURE() << "nothing was thrown";
        } catch (const file_error& e) {
          EXPECT_STREQ(e.what(),
                       (path_ + ": bits cannot be read, it is truncated or damaged: wrong header").c_str());
        }
    }
  }
}

/// Sizes of an attribute that lead behind its message, where libhdf5 1.10.8 reads on.
TEST_F(hdf5_header, attributes_that_are_longer_than_their_messages_are_refused) {
  write(H5F_LIBVER_EARLIEST, 0);
  std::ifstream in(path_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::size_t name = whole.find("attribute 0"), type = name + 16;  // in steps of 8
  ASSERT_NE(name, std::string::npos);
  const std::size_t shape = type + (static_cast<unsigned char>(whole[name - 4]) + 7u) / 8 * 8;
  EXPECT_EQ(hdf5_reader(path_).attribute_numbers("bits", "attribute 0").size(), 24u);
  // The sizes of name, type and shape; the end of the name; the size of an element; an extent.
  for (const std::size_t at : {name - 6, name - 4, name - 2, name + 11, type + 4, shape + 8, shape + 15}) {
    put(static_cast<off_t>(at), '\x7f');
    const hdf5_reader file(path_);
    EXPECT_THROW((void)file.attribute("bits", "attribute 0"), file_error) << at - name;
    EXPECT_THROW((void)file.attribute_numbers("bits", "another"), file_error) << at - name;
    put(static_cast<off_t>(at), whole[at]);
  }
}

/// A text of variable length whose value takes fewer bytes than a place in a heap: libhdf5 1.10.8 copies one.
TEST_F(hdf5_header, a_text_of_too_few_bytes_is_refused) {
  const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
              space = H5Screate(H5S_SCALAR), text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  const hid_t attribute = H5Acreate2(file, "the name", text, space, H5P_DEFAULT, H5P_DEFAULT);
  const char* value = "value";
  H5Awrite(attribute, text, &value);
  for (const hid_t id : {attribute, text, space}) H5Idec_ref(id);
  H5Fclose(file);
  std::ifstream in(path_, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::size_t size = whole.find("the name") + 16 + 4;  // behind class and bits of the type
  ASSERT_EQ(whole.at(size), 16);
  EXPECT_EQ(hdf5_reader(path_).attribute("", "the name"), hdf5_attribute(std::string("value")));
  for (const char bytes : {'\0', '\6', '\17'}) {
    put(static_cast<off_t>(size), bytes);
    EXPECT_THROW((void)hdf5_reader(path_).attribute("", "the name"), file_error) << int{bytes};
  }
}

/// With another version of messages; their check sum, which libhdf5 looks at, comes after.
TEST_F(hdf5_header, newer_headers_are_searched_as_well) {
  write(H5F_LIBVER_LATEST, 0);
  EXPECT_EQ(places().size(), 1u + 6);  // and the versions of the attributes
}

TEST_F(hdf5_header, what_is_no_header_is_left_to_libhdf5) {
  std::ofstream(path_, std::ios::binary) << std::string(100, '\1');
  const int file = open(path_.c_str(), O_RDONLY);
  for (const std::uint64_t address : {0ul, 90ul, 100ul, ~0ul, ~0ul / 2})
    EXPECT_TRUE(is_sound_header(file, {}, address)) << address;
  EXPECT_TRUE(is_sound_header(file, {.address_bytes = 32, .size_bytes = 8}, 0));
  close(file);
}

/// A header that goes on in itself.
TEST_F(hdf5_header, a_header_without_end_is_refused) {
  std::string bytes(16, '\0');
  bytes[0] = 1;   // version
  bytes[8] = 24;  // bytes of the first block
  const auto number = [](std::uint64_t n) {
    std::string all;
    for (int i = 0; i < 8; i++) all += static_cast<char>(n >> 8 * i & 0xff);
    return all;
  };
  bytes += std::string("\x10\0\x10\0\0\0\0\0", 8) + number(16) + number(24);
  std::ofstream(path_, std::ios::binary) << bytes;
  const int file = open(path_.c_str(), O_RDONLY);
  EXPECT_FALSE(is_sound_header(file, {}, 0));
  close(file);
}

}  // namespace hdf5_header_test
}  // namespace wb

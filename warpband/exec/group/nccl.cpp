// NCCL is loaded at first use, so that a program runs without it as long as no group needs it. What is used
// of its interface has been the same since version 2.7; it is declared here, so that a build needs no header
// of NCCL.
#include <warpband/exec/group/nccl.hpp>

#include <string>

#include <warpband/core/error.hpp>

#if WB_BUILD_CUDA
#include <warpband/exec/shared_library.hpp>

namespace wb {
namespace {

constexpr const char* library_name = "libnccl.so.2";
constexpr int bytes_type = 1;  // ncclUint8

struct nccl_library {
  int (*init_all)(void** communicators, int devices, const int* numbers);
  int (*destroy)(void* communicator);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void* data, std::size_t count, int type, int peer, void* communicator, void* stream);
  int (*receive)(void* data, std::size_t count, int type, int peer, void* communicator, void* stream);
  const char* (*error_string)(int result);

  nccl_library() {
    const shared_library nccl("NCCL", in_cuda_toolkit(library_name),
                              "install it, set LD_LIBRARY_PATH, or let the group exchange through the host");
    nccl.find(init_all, "ncclCommInitAll");
    nccl.find(destroy, "ncclCommDestroy");
    nccl.find(group_start, "ncclGroupStart");
    nccl.find(group_end, "ncclGroupEnd");
    nccl.find(send, "ncclSend");
    nccl.find(receive, "ncclRecv");
    nccl.find(error_string, "ncclGetErrorString");
  }
};
const nccl_library& nccl() {
  static const nccl_library library;  // never unloaded
  return library;
}

void check(int result, const char* call) {
  if (result != 0) throw device_error(std::string(call) + " failed: NCCL: " + nccl().error_string(result));
}

class nccl_carrier final : public group_carrier {
 public:
  explicit nccl_carrier(const std::vector<cuda*>& members)
      : members_(members), communicators_(members.size()) {
    std::vector<int> devices;
    for (const cuda* m : members) devices.push_back(m->device().index);
    check(nccl().init_all(communicators_.data(), static_cast<int>(devices.size()), devices.data()),
          "joining CUDA devices");
  }
  ~nccl_carrier() override {
    for (cuda* m : members_) {
      try {
        m->sync();
      } catch (const device_error&) {  // has been told, or nobody waited for it
      }
    }
    for (void* c : communicators_) nccl().destroy(c);
  }
  nccl_carrier(const nccl_carrier&) = delete;
  nccl_carrier& operator=(const nccl_carrier&) = delete;

  std::string name() const override { return "nccl"; }
  void exchange(const std::vector<std::vector<group_piece>>& sends,
                const std::vector<std::vector<group_piece>>& receives) override {
    check(nccl().group_start(), "beginning an exchange");
    int result = 0;
    for (std::size_t m = 0; m < members_.size(); m++) {
      for (const group_piece& p : sends[m])
        if (result == 0)
          result = nccl().send(p.data, p.bytes, bytes_type, p.peer, communicators_[m], members_[m]->stream());
      for (const group_piece& p : receives[m])
        if (result == 0)
          result =
              nccl().receive(p.data, p.bytes, bytes_type, p.peer, communicators_[m], members_[m]->stream());
    }
    const int ended = nccl().group_end();
    check(result != 0 ? result : ended, "an exchange between CUDA devices");
  }

 private:
  std::vector<cuda*> members_;
  std::vector<void*> communicators_;
};

}  // namespace

std::unique_ptr<group_carrier> make_nccl_carrier(const std::vector<cuda*>& members) {
  return std::make_unique<nccl_carrier>(members);
}

}  // namespace wb

#else

namespace wb {
std::unique_ptr<group_carrier> make_nccl_carrier(const std::vector<cuda*>&) {
  throw device_error("this build of Warpband has no CUDA, and so no NCCL");
}
}  // namespace wb

#endif

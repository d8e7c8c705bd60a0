#include <warpband/exec/ranks.hpp>

#include <cstdlib>
#include <string>

#include <warpband/core/error.hpp>

#ifdef WARPBAND_MPI
#include <mpi.h>

#include <array>
#include <chrono>
#include <climits>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include <warpband/exec/shared_library.hpp>
#endif

namespace wb {
namespace {

/// Whether this process is one of several that a launcher of MPI started.
bool started_together() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"})
    if (const char* size = std::getenv(name); size != nullptr && std::atoi(size) > 1) return true;
  const char *pmix = std::getenv("PMIX_RANK"), *tasks = std::getenv("SLURM_NTASKS");
  return pmix != nullptr && tasks != nullptr && std::atoi(tasks) > 1;
}

}  // namespace

#ifndef WARPBAND_MPI

bool ranks::built() noexcept { return false; }
std::unique_ptr<ranks> ranks::join() {
  if (!started_together()) return nullptr;
  throw device_error("started by mpirun, but built without MPI: build with -DWARPBAND_MPI=ON");
}

#else

namespace {

#ifdef OPEN_MPI
const std::vector<std::string> library_names{"libmpi.so.40", WARPBAND_MPI};
#else  // MPICH and its like
const std::vector<std::string> library_names{"libmpi.so.12", "libmpich.so.12", WARPBAND_MPI};
#endif

/// What is used of MPI. It is loaded when there are other ranks: it takes MiBs of memory of each process.
struct mpi_library {
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Comm_free) comm_free;
  decltype(&MPI_Comm_rank) comm_rank;
  decltype(&MPI_Comm_set_errhandler) set_errhandler;
  decltype(&MPI_Comm_size) comm_size;
  decltype(&MPI_Comm_split_type) split_type;
  decltype(&MPI_Error_string) error_string;
  decltype(&MPI_Finalize) finalize;
  decltype(&MPI_Get_count) get_count;
  decltype(&MPI_Get_processor_name) processor_name;
  decltype(&MPI_Init_thread) init_thread;
  decltype(&MPI_Iprobe) iprobe;
  decltype(&MPI_Isend) isend;
  decltype(&MPI_Recv) recv;
  decltype(&MPI_Test) test;
  decltype(&MPI_Wait) wait;
  MPI_Comm world;
  MPI_Datatype bytes;
  MPI_Info no_info;
  MPI_Errhandler errors_return;

  mpi_library() {
    // Its own plug-ins look for its symbols.
    const shared_library mpi("started by mpirun, but MPI", library_names,
                             "install it, or set LD_LIBRARY_PATH", true);
    mpi.find(allgather, "MPI_Allgather");
    mpi.find(comm_free, "MPI_Comm_free");
    mpi.find(comm_rank, "MPI_Comm_rank");
    mpi.find(set_errhandler, "MPI_Comm_set_errhandler");
    mpi.find(comm_size, "MPI_Comm_size");
    mpi.find(split_type, "MPI_Comm_split_type");
    mpi.find(error_string, "MPI_Error_string");
    mpi.find(finalize, "MPI_Finalize");
    mpi.find(get_count, "MPI_Get_count");
    mpi.find(processor_name, "MPI_Get_processor_name");
    mpi.find(init_thread, "MPI_Init_thread");
    mpi.find(iprobe, "MPI_Iprobe");
    mpi.find(isend, "MPI_Isend");
    mpi.find(recv, "MPI_Recv");
    mpi.find(test, "MPI_Test");
    mpi.find(wait, "MPI_Wait");
#ifdef OPEN_MPI  // where these constants are addresses in the library
    mpi.find(world, "ompi_mpi_comm_world");
    mpi.find(bytes, "ompi_mpi_byte");
    mpi.find(no_info, "ompi_mpi_info_null");
    mpi.find(errors_return, "ompi_mpi_errors_return");
#else
    world = MPI_COMM_WORLD;
    bytes = MPI_BYTE;
    no_info = MPI_INFO_NULL;
    errors_return = MPI_ERRORS_RETURN;
#endif
  }
};
const mpi_library& mpi() {
  static const mpi_library library;  // never unloaded
  return library;
}

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  mpi().error_string(status, text.data(), &length);
  throw device_error(std::string(call) + ": " + std::string(text.data(), static_cast<std::size_t>(length)));
}

class mpi_ranks final : public ranks {
 public:
  mpi_ranks() {
    int given = 0;
    check(mpi().init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given), "MPI_Init_thread");
    mpi().set_errhandler(mpi().world, mpi().errors_return);
    check(mpi().comm_rank(mpi().world, &rank_), "MPI_Comm_rank");
    check(mpi().comm_size(mpi().world, &size_), "MPI_Comm_size");
    MPI_Comm here{};
    check(mpi().split_type(mpi().world, MPI_COMM_TYPE_SHARED, rank_, mpi().no_info, &here),
          "MPI_Comm_split_type");
    check(mpi().comm_rank(here, &local_rank_), "MPI_Comm_rank");
    check(mpi().comm_size(here, &local_size_), "MPI_Comm_size");
    mpi().comm_free(&here);
    name_all();
  }
  ~mpi_ranks() override {
    // A process that ends without MPI_Finalize makes the launcher end all others, after it has said why.
    if (hung_) return;
    for (auto& s : sending_) mpi().wait(&s.request, MPI_STATUS_IGNORE);
    mpi().finalize();
  }
  mpi_ranks(const mpi_ranks&) = delete;
  mpi_ranks& operator=(const mpi_ranks&) = delete;

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  int local_rank() const noexcept override { return local_rank_; }
  int local_size() const noexcept override { return local_size_; }
  const std::string& name(int rank) const override { return names_.at(static_cast<std::size_t>(rank)); }

  void send(int to, message bytes) override {
    sending_.remove_if([](sending& s) {
      int done = 0;
      mpi().test(&s.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    if (bytes.size() > INT_MAX) throw device_error("a message of more than 2 GiB to " + name(to));
    sending& s = sending_.emplace_back(sending{std::move(bytes), {}});
    const int status = mpi().isend(s.bytes.data(), static_cast<int>(s.bytes.size()), mpi().bytes, to, 0,
                                   mpi().world, &s.request);
    if (status != MPI_SUCCESS) sending_.pop_back();  // nothing to wait for
    check(status, "MPI_Isend");
  }

  message receive(int from, double seconds) override {
    using clock = std::chrono::steady_clock;
    const clock::time_point start = clock::now();
    MPI_Status status;
    for (int arrived = 0, waits = 0;; waits++) {
      check(mpi().iprobe(from, 0, mpi().world, &arrived, &status), name(from).c_str());
      if (arrived != 0) break;
      if (seconds > 0 && std::chrono::duration<double>(clock::now() - start).count() > seconds) {
        hung_ = true;
        throw device_error(name(from) + ": no answer within " +
                           std::to_string(static_cast<long long>(seconds)) + " s");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(waits < 100 ? 50 : 500));
    }
    int count = 0;
    check(mpi().get_count(&status, mpi().bytes, &count), "MPI_Get_count");
    message bytes(static_cast<std::size_t>(count));
    check(mpi().recv(bytes.data(), count, mpi().bytes, from, 0, mpi().world, MPI_STATUS_IGNORE), "MPI_Recv");
    return bytes;
  }

 private:
  struct sending {
    message bytes;
    MPI_Request request;
  };

  void name_all() {
    constexpr int max_length = MPI_MAX_PROCESSOR_NAME;
    std::array<char, max_length> local_name{};
    int length = 0;
    check(mpi().processor_name(local_name.data(), &length), "MPI_Get_processor_name");
    std::vector<char> gathered(static_cast<std::size_t>(max_length) * static_cast<std::size_t>(size_));
    check(mpi().allgather(local_name.data(), max_length, mpi().bytes, gathered.data(), max_length,
                          mpi().bytes, mpi().world),
          "MPI_Allgather");
    for (int r = 0; r < size_; r++)
      names_.push_back("rank " + std::to_string(r) + " on " +
                       &gathered[static_cast<std::size_t>(r) * max_length]);
  }

  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  std::vector<std::string> names_;
  std::list<sending> sending_;
  bool hung_ = false;
};

}  // namespace

bool ranks::built() noexcept { return true; }
std::unique_ptr<ranks> ranks::join() {
  if (!started_together()) return nullptr;
  return std::make_unique<mpi_ranks>();
}

#endif

}  // namespace wb

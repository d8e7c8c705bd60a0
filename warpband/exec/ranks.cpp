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

void check(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  throw device_error(std::string(what) + ": " + std::string(text.data(), static_cast<std::size_t>(length)));
}

class mpi_ranks final : public ranks {
 public:
  mpi_ranks() {
    int given = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
    MPI_Comm here = MPI_COMM_NULL;
    check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here),
          "MPI_Comm_split_type");
    check(MPI_Comm_rank(here, &local_rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(here, &local_size_), "MPI_Comm_size");
    MPI_Comm_free(&here);
    name_all();
  }
  ~mpi_ranks() override {
    // A process that ends without MPI_Finalize makes the launcher end all others, after it has said why.
    if (hung_) return;
    for (auto& s : sending_) MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    MPI_Finalize();
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
      MPI_Test(&s.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    if (bytes.size() > INT_MAX) throw device_error("a message of more than 2 GiB to " + name(to));
    sending& s = sending_.emplace_back(sending{std::move(bytes), MPI_REQUEST_NULL});
    check(MPI_Isend(s.bytes.data(), static_cast<int>(s.bytes.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD,
                    &s.request),
          "MPI_Isend");
  }

  message receive(int from, double seconds) override {
    using clock = std::chrono::steady_clock;
    const clock::time_point start = clock::now();
    MPI_Status status;
    for (int there = 0, waits = 0;; waits++) {
      check(MPI_Iprobe(from, 0, MPI_COMM_WORLD, &there, &status), name(from).c_str());
      if (there != 0) break;
      if (seconds > 0 && std::chrono::duration<double>(clock::now() - start).count() > seconds) {
        hung_ = true;
        throw device_error(name(from) + ": no answer within " +
                           std::to_string(static_cast<long long>(seconds)) + " s");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(waits < 100 ? 50 : 500));
    }
    int count = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    message bytes(static_cast<std::size_t>(count));
    check(MPI_Recv(bytes.data(), count, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
    return bytes;
  }

 private:
  struct sending {
    message bytes;
    MPI_Request request;
  };

  void name_all() {
    constexpr int most = MPI_MAX_PROCESSOR_NAME;
    std::array<char, most> mine{};
    int length = 0;
    check(MPI_Get_processor_name(mine.data(), &length), "MPI_Get_processor_name");
    std::vector<char> all(static_cast<std::size_t>(most) * static_cast<std::size_t>(size_));
    check(MPI_Allgather(mine.data(), most, MPI_CHAR, all.data(), most, MPI_CHAR, MPI_COMM_WORLD),
          "MPI_Allgather");
    for (int r = 0; r < size_; r++)
      names_.push_back("rank " + std::to_string(r) + " on " + &all[static_cast<std::size_t>(r) * most]);
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

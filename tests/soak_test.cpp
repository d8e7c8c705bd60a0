// Streams for minutes or hours, as fast as they are taken at first and then at 80 % of that, while frames and
// devices fail: memory stays, counters add up, results stay what they are, and nothing is allocated.
// scripts/soak.sh sets how long and where; among the other tests they take a second.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <tests/allocations.hpp>
#include <tests/codes.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/exec/executor.hpp>
#include <warpband/receive/chains.hpp>
#include <warpband/stream/pipeline.hpp>

extern char** environ;

namespace soak_test {

using bytes = std::vector<std::byte>;
using wb::testing::allocations;

double setting(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atof(text);
}
double seconds_in_all() { return setting("WARPBAND_SOAK_SECONDS", 1); }
std::string device() {
  const char* const text = std::getenv("WARPBAND_SOAK_DEVICE");
  return text == nullptr ? "cpu" : text;
}

// ------------------------------------------------------------------------------------------------- frames

/// LLRs of codewords to bits, or to LLRs of these for a decoder behind it.
std::shared_ptr<wb::frame_receiver> codec_chain(std::shared_ptr<const wb::codec> code, bool soft) {
  const auto decode = [code, soft](wb::executor& exec, const wb::frame_arrays& f) {
    const auto llr = wb::make_view(static_cast<const float*>(f.inputs[0]), f.items, code->n());
    wb::decoder_output out;
    if (soft)
      out.soft = wb::make_view(static_cast<float*>(f.outputs[0]), f.items, code->k());
    else
      out.bits = wb::make_view(static_cast<std::uint8_t*>(f.outputs[0]), f.items, code->k());
    code->decode(exec, llr, out);
  };
  return std::make_shared<wb::frame_receiver>(wb::frame_receiver_parts{
      .name = "decoder",
      .inputs = {{.name = "llr", .type = wb::element_type::float32, .elements = code->n()}},
      .outputs = {{.name = soft ? "soft" : "bits",
                   .type = soft ? wb::element_type::float32 : wb::element_type::uint8,
                   .elements = code->k(),
                   .rounds_up = false}},
      .stages = {"decode"},
      .granularity = 1,
      .attach = [decode](wb::executor& exec, std::size_t) -> wb::frame_run {
        return [decode, &exec](std::size_t, const wb::frame_arrays& f) { decode(exec, f); };
      }});
}

/// A frame as the pipeline keeps it, and what a direct call on a CPU makes of it.
struct frame {
  bytes in, out;
};
frame answered(const wb::frame_receiver& chain, bytes in, std::size_t items) {
  wb::cpu exec({.threads = 1});
  frame f{std::move(in), bytes(wb::offset_of(chain.outputs(), chain.outputs().size(), items))};
  wb::frame_arrays arrays;
  arrays.items = arrays.frame_items = items;
  for (std::size_t i = 0; i < chain.inputs().size(); i++)
    arrays.inputs[i] = f.in.data() + wb::offset_of(chain.inputs(), i, items);
  for (std::size_t i = 0; i < chain.outputs().size(); i++)
    arrays.outputs[i] = f.out.data() + wb::offset_of(chain.outputs(), i, items);
  const auto run = chain.attach(exec, items);
  for (std::size_t s = 0; s < chain.stages().size(); s++) run(s, arrays);
  return f;
}

/// Whether the arrays of a frame are those that are expected; bytes between them are nobody's.
bool equals(const wb::frame_receiver& chain, std::size_t items, const std::byte* a, const std::byte* b) {
  for (std::size_t i = 0; i < chain.outputs().size(); i++) {
    const std::size_t offset = wb::offset_of(chain.outputs(), i, items);
    if (std::memcmp(a + offset, b + offset, chain.outputs()[i].bytes_of(items)) != 0) return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------------- faults

struct failing_frame final : std::exception {
  const char* what() const noexcept override { return "this frame fails"; }
};

/// Every 97th frame fails, and devices 0 and 1 once they are told to. Objects of errors allocate: `allocated`
/// counts it.
class faults {
 public:
  static bool fails(std::uint64_t sequence) { return sequence % 97 == 50; }
  /// So many devices are to fail in all, one after the other, each when it starts its next frame.
  void fail_devices(int n) {
    if (told_ < n && device_ < 0) device_ = told_++;
  }
  int failed() const { return told_ - (device_ >= 0 ? 1 : 0); }
  void operator()(const wb::fault_point& f) {
    if (f.moment != wb::fault_moment::started) return;
    if (int due = static_cast<int>(f.device); device_.compare_exchange_strong(due, -1)) {
      const long before = allocations().value_or(0);
      const wb::device_error gone("gone");
      allocated += allocations().value_or(0) - before;
      throw wb::device_error(gone);
    }
    if (fails(f.sequence)) throw failing_frame();
  }
  std::atomic<long> allocated{0};

 private:
  std::atomic<int> device_{-1};
  std::atomic<int> told_{0};
};

// ------------------------------------------------------------------------------------------------- memory

/// Bytes of this process in memory, asked for without operator new.
double resident_bytes() {
  char text[128] = "";
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t n = read(file, text, sizeof text - 1);
  close(file);
  double pages = 0, resident = 0;
  return n > 0 && std::sscanf(text, "%lf %lf", &pages, &resident) == 2
             ? resident * static_cast<double>(sysconf(_SC_PAGESIZE))
             : 0;
}

struct state {
  double resident = 0, on_device = 0;
  long allocated = 0;
};

/// What the process holds, at the end of the first tenth and at the end of all.
class watch {
 public:
  watch() {
    if (device() != "cpu") exec_ = wb::open_executor(device());
  }
  /// What it allocates itself is not counted.
  state look() const {
    const long before = allocations().value_or(0);
    state s;
    if (exec_) s.on_device = static_cast<double>(exec_->memory_used());
    s.resident = resident_bytes();
    s.allocated = before - of_looks_;
    of_looks_ += allocations().value_or(0) - before;
    return s;
  }
  static void expect_flat(const char* whose, const state& from, const state& to, long of_errors) {
    std::fprintf(stderr,
                 "%s: %.1f MiB of the host, then %.1f; %.1f of the device, then %.1f; %ld allocations\n",
                 whose, from.resident / 1048576, to.resident / 1048576, from.on_device / 1048576,
                 to.on_device / 1048576, to.allocated - from.allocated - of_errors);
    // In seconds it is a matter of luck whether each stream has had its first frame after a tenth.
    if (seconds_in_all() < 30) return;
    EXPECT_EQ(to.allocated - from.allocated - of_errors, 0) << whose;
    // A page that is first touched later is no leak, and what a device that failed holds is kept until the
    // end.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    EXPECT_LE(to.resident, 1.02 * from.resident + 4 * 1048576) << whose;
#endif
    EXPECT_LE(to.on_device, from.on_device + 4 * 1048576) << whose;
  }

 private:
  std::unique_ptr<wb::executor> exec_;
  mutable long of_looks_ = 0;
};

// --------------------------------------------------------------------------------------------- the pipeline

wb::pipeline_config config(std::size_t items, faults& f) {
  wb::pipeline_config c{
      .devices = {device(), device(), device()}, .streams = 2, .most_items = items, .queue = 16};
  c.retries = 2;  // on a busy machine both devices may fail under one frame
  c.fault = [&f](const wb::fault_point& p) { f(p); };
  return c;
}

void expect_sums(const wb::frame_pipeline& p, std::uint64_t failing, const faults& f) {
  const wb::pipeline_counters c = p.counters();
  EXPECT_EQ(c.pushed, c.delivered + c.dropped + c.failed);
  EXPECT_EQ(c.dropped, 0u);
  EXPECT_EQ(c.failed, failing);
  EXPECT_EQ(c.devices_failed, static_cast<std::uint64_t>(f.failed()));
  EXPECT_EQ(c.callback_errors, 0u);
}

/// Pushes for as long as the soak takes: a tenth of it as fast as frames are taken, then at 80 % of that
/// rate. Devices 0 and 1 fail after a third and two thirds. `push` sends frame n. Returns how many there
/// were.
template <class Push>
std::uint64_t drive(const char* whose, faults& f, const watch& w, Push push) {
  using clock = std::chrono::steady_clock;
  const double total = seconds_in_all();
  const auto begin = clock::now();
  const auto since = [&] { return std::chrono::duration<double>(clock::now() - begin).count(); };
  std::uint64_t n = 0;
  for (; since() < total / 10 || n < 200; n++) push(n);
  const double rate = static_cast<double>(n) / since();
  const state start = w.look();
  const std::uint64_t first = n;
  const double paced_from = since();
  int told = 1;
  for (double time = paced_from; time < total; time = since(), n++) {
    const double due = paced_from + static_cast<double>(n - first) / (0.8 * rate);
    if (due > time) std::this_thread::sleep_for(std::chrono::duration<double>(due - time));
    f.fail_devices(static_cast<int>(3 * time / total));
    if (time > 60 * told) {
      const state s = w.look();
      std::fprintf(stderr, "%s: %d min, %.0f frames/s, %.1f MiB of the host, %.1f of the device\n", whose,
                   told++, static_cast<double>(n) / time, s.resident / 1048576, s.on_device / 1048576);
    }
    push(n);
  }
  std::fprintf(stderr, "%s: %llu frames in %.1f s, %.0f a second at first\n", whose,
               static_cast<unsigned long long>(n), since(), rate);
  watch::expect_flat(whose, start, w.look(), f.allocated);
  return n;
}

std::uint64_t failing_of(std::uint64_t pushed) { return (pushed + 96 - 50) / 97; }

wb::code_config outer_code() {
  wb::code_config c("wimax-ldpc");
  wb::testing::ldpc_decoder_in(c).iterations = 10;
  return c;
}

TEST(soak, a_stream_keeps_its_memory_and_counts_every_frame) {
  wb::detector_config d;
  d.type = "nway";
  d.streams = d.rx_antennas = 4;
  d.qam = 16;
  const std::shared_ptr<const wb::codec> code = wb::make_codec(outer_code());
  const std::shared_ptr<const wb::frame_receiver> chain = wb::make_decode_chain({.detector = d}, code);
  const std::size_t items = device() == "cpu" ? 288 : 4608;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<frame> frames;
  for (int n = 0; n < 8; n++) {
    bytes in(wb::offset_of(chain->inputs(), 3, items));
    for (std::size_t i = 0; i < 3; i++) {
      auto* const x = reinterpret_cast<float*>(in.data() + wb::offset_of(chain->inputs(), i, items));
      for (std::size_t j = 0; j < chain->inputs()[i].bytes_of(items) / sizeof(float); j++)
        x[j] = i == 2 ? 0.1f : normal(random);
    }
    frames.push_back(answered(*chain, std::move(in), items));
  }
  faults f;
  const watch w;
  std::atomic<std::uint64_t> wrong = 0, called = 0;
  wb::frame_pipeline p(chain, config(items, f), [&](const wb::frame_result& r) {
    const bool fails = faults::fails(r.sequence);
    wrong += r.sequence != called++ || fails != (r.status == wb::frame_status::failed) ||
             (!fails && !equals(*chain, items, r.outputs, frames[r.sequence % frames.size()].out.data()));
  });
  const std::uint64_t pushed = drive("stream", f, w, [&](std::uint64_t n) {
    wb::frame_slot slot = p.acquire(items);
    const bytes& in = frames[n % frames.size()].in;
    std::memcpy(slot.bytes(0), in.data(), in.size());
    p.push(std::move(slot));
  });
  p.drain();
  expect_sums(p, failing_of(pushed), f);
  EXPECT_EQ(called, pushed);
  EXPECT_EQ(wrong, 0u);
}

// --------------------------------------------------------------------------------------------- two decoders

/// Before each frame in a pipe: which it is, whether the first or the second decoder failed under it, how
/// many devices of the second are to fail in all.
struct head {
  std::uint64_t sequence = 0, failed = 0, devices = 0;
};
void write_all(int to, const void* from, std::size_t n) {
  for (auto* p = static_cast<const char*>(from); n > 0;) {
    const ssize_t done = write(to, p, n);
    if (done <= 0) std::abort();
    p += done, n -= static_cast<std::size_t>(done);
  }
}
/// False at the end of the pipe.
bool read_all(int from, void* to, std::size_t n) {
  for (auto* p = static_cast<char*>(to); n > 0;) {
    const ssize_t done = read(from, p, n);
    if (done <= 0) return false;
    p += done, n -= static_cast<std::size_t>(done);
  }
  return true;
}

std::size_t codewords() { return device() == "cpu" ? 4 : 256; }

/// The second of two decoders: LLRs on standard input, bits on descriptor 3. It knows the end by that of its
/// input.
TEST(soak, DISABLED_the_second_decoder) {
  const auto chain = codec_chain(wb::make_codec(outer_code()), false);
  const std::size_t items = codewords(), in_bytes = chain->inputs()[0].bytes_of(items),
                    out_bytes = chain->outputs()[0].bytes_of(items);
  faults f;
  const watch w;
  std::mutex out;
  const auto answer = [&](const head& h, const std::byte* bits) {
    const std::lock_guard lock(out);
    write_all(3, &h, sizeof h);
    if (bits != nullptr) write_all(3, bits, out_bytes);
  };
  wb::frame_pipeline p(chain, config(items, f), [&](const wb::frame_result& r) {
    const bool failed = r.status == wb::frame_status::failed;
    answer({r.token, failed ? 2u : 0u, 0}, failed ? nullptr : r.outputs);
  });
  state start;
  std::uint64_t pushed = 0;
  for (head h; read_all(0, &h, sizeof h);) {
    if (h.failed != 0) {
      answer(h, nullptr);
      continue;
    }
    wb::frame_slot slot = p.acquire(items);
    if (!read_all(0, slot.bytes(0), in_bytes)) break;
    p.push(std::move(slot), h.sequence);
    if (++pushed == 150) start = w.look();
    if (pushed > 150) f.fail_devices(static_cast<int>(h.devices));
  }
  p.drain();
  watch::expect_flat("second decoder", start, w.look(), f.allocated);
  expect_sums(p, failing_of(pushed), f);
}

/// Inner convolutional codewords whose decoder's LLRs are those of outer LDPC codewords.
std::vector<frame> concatenated(const wb::codec& inner, const wb::codec& outer,
                                const wb::frame_receiver& inner_chain, const wb::frame_receiver& outer_chain,
                                std::size_t items, std::vector<frame>& second) {
  wb::cpu exec({.threads = 1});
  std::mt19937 random(2);
  std::normal_distribution<float> noise(0, 2);
  std::vector<frame> first;
  for (int n = 0; n < 4; n++) {
    const auto rows = [items](auto& v) { return wb::make_view(v.data(), items, v.size() / items); };
    std::vector<std::uint8_t> bits(items * outer.k()), middle(items * outer.n()), coded(items * inner.n());
    for (auto& b : bits) b = random() & 1;
    outer.encode(exec, rows(std::as_const(bits)), rows(middle));
    inner.encode(exec, rows(std::as_const(middle)), rows(coded));
    bytes in(coded.size() * sizeof(float));
    for (std::size_t i = 0; i < coded.size(); i++) {
      const float llr = (coded[i] != 0 ? -4.f : 4.f) + noise(random);
      std::memcpy(in.data() + i * sizeof llr, &llr, sizeof llr);
    }
    first.push_back(answered(inner_chain, std::move(in), items));
    second.push_back(answered(outer_chain, first.back().out, items));
    EXPECT_EQ(std::memcmp(second.back().out.data(), bits.data(), bits.size()), 0) << "too much noise";
  }
  return first;
}

/// Runs the second decoder: descriptors to write to it and to read from it.
pid_t start_second(int& to, int& from) {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) std::abort();
  for (const int descriptor : {in[1], out[0]}) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in[0], 0);
  posix_spawn_file_actions_adddup2(&files, out[1], 3);
  char program[] = "/proc/self/exe", filter[] = "--gtest_filter=soak.DISABLED_the_second_decoder",
       brief[] = "--gtest_brief=1", disabled[] = "--gtest_also_run_disabled_tests";
  char* arguments[] = {program, filter, brief, disabled, nullptr};
  pid_t child = -1;
  EXPECT_EQ(posix_spawn(&child, program, &files, nullptr, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&files);
  close(in[0]);
  close(out[1]);
  to = in[1], from = out[0];
  return child;
}

TEST(soak, two_decoders_in_a_row_keep_their_memory_and_count_every_frame) {
  const std::shared_ptr<const wb::codec> outer_codec = wb::make_codec(outer_code());
  const auto outer = codec_chain(outer_codec, false);
  wb::code_config inner_code("conv");
  wb::testing::k_in(inner_code) = static_cast<int>(outer_codec->n());
  wb::testing::conv_in(inner_code).algorithm = wb::conv_algorithm::max_log_map;
  const std::shared_ptr<const wb::codec> inner_codec = wb::make_codec(inner_code);
  const auto inner = codec_chain(inner_codec, true);
  const std::size_t items = codewords(), soft_bytes = inner->outputs()[0].bytes_of(items),
                    bits_bytes = outer->outputs()[0].bytes_of(items);
  std::vector<frame> second;
  const std::vector<frame> first = concatenated(*inner_codec, *outer_codec, *inner, *outer, items, second);

  int to = -1, from = -1;
  const pid_t child = start_second(to, from);
  std::uint64_t answers = 0, first_failed = 0, second_failed = 0, wrong = 0;
  std::thread reader([&] {
    bytes bits(bits_bytes);
    for (head h; read_all(from, &h, sizeof h); answers++) {
      first_failed += h.failed == 1;
      second_failed += h.failed == 2;
      wrong += (h.failed == 1) != faults::fails(h.sequence);
      if (h.failed != 0) continue;
      if (!read_all(from, bits.data(), bits.size())) break;
      wrong += std::memcmp(bits.data(), second[h.sequence % second.size()].out.data(), bits_bytes) != 0;
    }
  });
  faults f;
  std::uint64_t pushed = 0;
  {
    const watch w;
    wb::frame_pipeline p(inner, config(items, f), [&](const wb::frame_result& r) {
      const head h{r.sequence, r.status == wb::frame_status::failed ? 1u : 0u,
                   static_cast<std::uint64_t>(f.failed())};
      write_all(to, &h, sizeof h);
      if (h.failed == 0) write_all(to, r.outputs, soft_bytes);
    });
    pushed = drive("first decoder", f, w, [&](std::uint64_t n) {
      wb::frame_slot slot = p.acquire(items);
      const bytes& in = first[n % first.size()].in;
      std::memcpy(slot.bytes(0), in.data(), in.size());
      p.push(std::move(slot));
    });
    p.drain();
    expect_sums(p, failing_of(pushed), f);
  }
  close(to);
  reader.join();
  close(from);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the second decoder failed";
  EXPECT_EQ(answers, pushed);
  EXPECT_EQ(first_failed, failing_of(pushed));
  EXPECT_EQ(second_failed, failing_of(pushed - first_failed));
  EXPECT_EQ(wrong, 0u);
}

}  // namespace soak_test

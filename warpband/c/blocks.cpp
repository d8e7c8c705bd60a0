// Code blocks that are computed at once, in the call.
#include <algorithm>
#include <vector>

#include <warpband/c/device.hpp>
#include <warpband/c/errors.hpp>

namespace wb::c {
namespace {

/// Blocks that start together, so that memory is bounded.
constexpr std::size_t most_together = 4096;

/// What a thread keeps for its calls, so that they do not allocate.
template <class Op>
struct call_memory {
  std::vector<typename Op::block> blocks;
  std::vector<block_result> results;
};

template <class Op>
wb_status run(wb_device* device, const typename Op::description* ops, std::size_t n, wb_done* done) {
  return guarded([&] {
    check_given("device", device);
    if (n == 0) return;
    const caller_structures given("ops", ops, n);
    check_given("done", done);
    static thread_local call_memory<Op> kept;
    std::size_t i = 0;
    try {
      lease lane = device->take();
      typename Op::runner& runner = lane->template runner<Op>();
      while (i < n) {
        const std::size_t count = std::min(n - i, most_together);
        kept.blocks.clear();
        for (std::size_t j = 0; j < count; j++) kept.blocks.push_back(block_of<Op>(given, i + j));
        kept.results.resize(count);
        runner.start(lane.exec(), kept.blocks);
        runner.finish(kept.results);
        for (std::size_t j = 0; j < count; j++, i++) done[i] = done_of(given.tag(i), kept.results[j]);
      }
      lane.give_back();
    } catch (...) {
      for (; i < n; i++) done[i] = failed(given.tag(i));
      throw;
    }
  });
}

template <class Op>
wb_status check(const typename Op::description* op) {
  return guarded([&] {
    const caller_structures one("op", op, 1);
    typename Op::description read;
    one.read(0, &read, sizeof read);
    Op::runner::check(Op::convert(read));
  });
}

}  // namespace
}  // namespace wb::c

using namespace wb::c;

extern "C" {

wb_status wb_ldpc_decode_run(wb_device* device, const wb_ldpc_decode* ops, size_t n, wb_done* done) {
  return run<ldpc_decode_operation>(device, ops, n, done);
}
wb_status wb_ldpc_encode_run(wb_device* device, const wb_ldpc_encode* ops, size_t n, wb_done* done) {
  return run<ldpc_encode_operation>(device, ops, n, done);
}
wb_status wb_turbo_decode_run(wb_device* device, const wb_turbo_decode* ops, size_t n, wb_done* done) {
  return run<turbo_decode_operation>(device, ops, n, done);
}
wb_status wb_turbo_encode_run(wb_device* device, const wb_turbo_encode* ops, size_t n, wb_done* done) {
  return run<turbo_encode_operation>(device, ops, n, done);
}

wb_status wb_ldpc_decode_check(const wb_ldpc_decode* op) { return check<ldpc_decode_operation>(op); }
wb_status wb_ldpc_encode_check(const wb_ldpc_encode* op) { return check<ldpc_encode_operation>(op); }
wb_status wb_turbo_decode_check(const wb_turbo_decode* op) { return check<turbo_decode_operation>(op); }
wb_status wb_turbo_encode_check(const wb_turbo_encode* op) { return check<turbo_encode_operation>(op); }

wb_status wb_nr_first_place(uint32_t base_graph, uint32_t lifting_size, uint32_t buffer, uint32_t rv,
                            uint32_t* first) {
  return guarded([&] {
    check_given("first", first);
    *first = static_cast<uint32_t>(wb::nr_first_place(as_int("base_graph", base_graph),
                                                      as_int("lifting_size", lifting_size),
                                                      as_int("buffer", buffer), as_int("rv", rv)));
  });
}
wb_status wb_lte_first_place(uint32_t k, uint32_t buffer, uint32_t rv, uint32_t* first) {
  return guarded([&] {
    check_given("first", first);
    *first = static_cast<uint32_t>(
        wb::lte_first_place(as_int("k", k), as_int("buffer", buffer), as_int("rv", rv)));
  });
}

}  // extern "C"

// `warpband encode` and `warpband decode`: HDF5 files through a channel code.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <variant>

#include <warpband/core/error.hpp>
#include <warpband/core/status.hpp>
#include <warpband/fec/format/format.hpp>
#include <warpband/io/hdf5.hpp>

#include "code_options.hpp"
#include "code_run.hpp"

#if WARPBAND_HDF5

int run_encode(const code_options& options) {
  stop_on_interrupt();
  code_run run(options, "bits", false);
  const wb::codec& code = run.code();
  const std::size_t k = code.k(), n = code.n(), items = run.items(), max_piece = run.piece_of(k + n);
  struct slot {
    buffer<std::uint8_t> bits, coded;
  };
  std::array<slot, 2> slots;
  for (slot& s : slots) s = {{run, max_piece, k}, {run, max_piece, n}};

  const auto start = code_run::clock::now();
  wb::hdf5_writer out(options.out);
  out.set(run.attributes());
  out.create<std::uint8_t>("bits", {items, n});
  progress_line line(options.quiet);
  run_pieces(items, max_piece,
             {.read =
                  [&](const piece& p) {
                    auto& bits = slots[static_cast<std::size_t>(p.slot)].bits.host;
                    run.file().read("bits", p.first, p.items, bits.data());
                    for (std::size_t i = 0; i < p.items * k; i++)
                      if (bits.data()[i] > 1)
                        throw wb::file_error(options.in, fmt::format("bits[{}, {}] is {}: expected 0 or 1",
                                                                     p.first + i / k, i % k, bits.data()[i]));
                  },
              .compute =
                  [&](const piece& p) {
                    slot& s = slots[static_cast<std::size_t>(p.slot)];
                    s.bits.upload(run.exec(), p.items);
                    code.encode(run.exec(), s.bits.rows(p.items), s.coded.rows(p.items));
                    s.coded.download(run.exec(), p.items);
                    run.exec().sync();
                  },
              .write =
                  [&](const piece& p) {
                    out.write("bits", p.first, p.items,
                              slots[static_cast<std::size_t>(p.slot)].coded.host.data());
                  },
              .finished = [&](std::size_t blocks) { run.progress(line, blocks, start); }});
  out.commit();
  line.clear();
  run.report_code("encode", start, nlohmann::ordered_json::object(), "encoded in ");
  return done;
}

namespace {

/// LLRs of the file, in its format.
class llr_rows {
 public:
  llr_rows() = default;
  llr_rows(code_run& run, std::size_t items, std::size_t n) {
    switch (run.llr_format()) {
      case wb::llr_format::int8:
        rows_ = buffer<std::int8_t>(run, items, n);
        break;
      case wb::llr_format::int16:
        rows_ = buffer<std::int16_t>(run, items, n);
        break;
      case wb::llr_format::float32:
        rows_ = buffer<float>(run, items, n);
    }
  }
  static std::size_t bytes(const code_run& run) {
    const wb::llr_format format = run.llr_format();
    // Of integers also half of a float: the two slots share the memory of the conversion.
    return format == wb::llr_format::float32 ? 4 : format == wb::llr_format::int16 ? 4 : 3;
  }
  void read(const code_run& run, const piece& p, bool negative) {
    std::visit(
        [&](auto& rows) {
          run.file().read("llr", p.first, p.items, rows.host.data());
          if constexpr (std::is_same_v<decltype(rows), buffer<float>&>)
            if (negative) negate(rows.host.data(), p.items * rows.host.elements());
        },
        rows_);
  }
  /// ln P(0)/P(1).
  wb::view<const float> on(code_run& run, std::size_t items, bool negative, const wb::float_llrs& floats) {
    return std::visit(
        [&](auto& rows) -> wb::view<const float> {
          rows.upload(run.exec(), items);
          if constexpr (std::is_same_v<decltype(rows), buffer<float>&>)
            return rows.rows(items);
          else
            return floats.of(run.exec(), {rows.rows(items), negative ? -run.llr_scale() : run.llr_scale()});
        },
        rows_);
  }

 private:
  std::variant<buffer<float>, buffer<std::int8_t>, buffer<std::int16_t>> rows_;
};

struct decode_slot {
  llr_rows llr;
  buffer<float> soft;
  buffer<std::uint8_t> bits, packed, status;
  buffer<std::int32_t> iterations;

  void decode(code_run& run, std::size_t items, const code_options& options, const wb::float_llrs& floats) {
    wb::executor& e = run.exec();
    run.code().decode(e, llr.on(run, items, options.p1_over_p0, floats),
                      {.bits = bits.rows(items),
                       .soft = options.soft ? soft.rows(items) : wb::view<float>{},
                       .iterations = iterations.rows(items),
                       .status = status.rows(items)});
    if (options.packed) {
      wb::pack_bits(e, bits.rows(items), packed.rows(items));
      packed.download(e, items);
    } else {
      bits.download(e, items);
    }
    soft.download(e, items);
    iterations.download(e, items);
    status.download(e, items);
    e.sync();
  }
};

struct decode_counts {
  std::uint64_t erased = 0, stopped = 0, iterations = 0;

  void add(const decode_slot& s, std::size_t items) {
    for (std::size_t i = 0; i < items; i++) {
      erased += (s.status.host.data()[i] & wb::status_erased) != 0;
      stopped += (s.status.host.data()[i] & wb::status_stopped) != 0;
      iterations += static_cast<std::uint64_t>(s.iterations.host.data()[i]);
    }
  }
};

}  // namespace

int run_decode(const code_options& options) {
  stop_on_interrupt();
  code_run run(options, "llr", true);
  const wb::codec& code = run.code();
  const std::size_t k = code.k(), n = code.n(), items = run.items(), soft_k = options.soft ? k : 0,
                    packed_k = options.packed ? wb::packed_bytes(k) : 0;
  const std::size_t max_piece = run.piece_of(llr_rows::bytes(run) * n + k + packed_k + 4 * soft_k + 5);
  const wb::float_llrs floats;
  std::array<decode_slot, 2> slots;
  for (decode_slot& s : slots)
    s = {{run, max_piece, n},        {run, max_piece, soft_k}, {run, max_piece, k},
         {run, max_piece, packed_k}, {run, max_piece, 1},      {run, max_piece, 1}};

  const auto start = code_run::clock::now();
  wb::hdf5_writer out(options.out);
  wb::hdf5_attributes attributes = run.attributes();
  run.add_decoder(attributes);
  if (options.packed) attributes["packed"] = std::int64_t{1};
  out.set(attributes);
  out.create<std::uint8_t>("bits", {items, options.packed ? packed_k : k});
  out.create<std::int32_t>("iterations", {items});
  out.create<std::uint8_t>("status", {items});
  if (options.soft) out.create<float>("soft", {items, k});
  progress_line line(options.quiet);
  decode_counts counts;
  run_pieces(items, max_piece,
             {.read =
                  [&](const piece& p) {
                    slots[static_cast<std::size_t>(p.slot)].llr.read(run, p, options.p1_over_p0);
                  },
              .compute =
                  [&](const piece& p) {
                    slots[static_cast<std::size_t>(p.slot)].decode(run, p.items, options, floats);
                  },
              .write =
                  [&](const piece& p) {
                    decode_slot& s = slots[static_cast<std::size_t>(p.slot)];
                    out.write("bits", p.first, p.items,
                              options.packed ? s.packed.host.data() : s.bits.host.data());
                    out.write("iterations", p.first, p.items, s.iterations.host.data());
                    out.write("status", p.first, p.items, s.status.host.data());
                    if (options.soft) {
                      if (options.p1_over_p0) negate(s.soft.host.data(), p.items * k);
                      out.write("soft", p.first, p.items, s.soft.host.data());
                    }
                    counts.add(s, p.items);
                  },
              .finished = [&](std::size_t blocks) { run.progress(line, blocks, start); }});
  out.commit();
  line.clear();
  const double mean = items == 0 ? 0 : static_cast<double>(counts.iterations) / static_cast<double>(items);
  run.report_code("decode", start,
                  {{"erased", counts.erased}, {"stopped", counts.stopped}, {"mean_iterations", mean}},
                  fmt::format("{} erased, {:.3g} iterations each, decoded in ", counts.erased, mean));
  return done;
}

#else

constexpr const char* no_hdf5 = "this build reads no HDF5 files: configure it with -DWARPBAND_HDF5=ON";
int run_encode(const code_options&) { throw wb::error(no_hdf5); }
int run_decode(const code_options&) { throw wb::error(no_hdf5); }

#endif

#include <warpband/nr/pbch/pbch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/take_part.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/nr/pbch/pbch_args.hpp>
#include <warpband/nr/sync/ssb.hpp>

namespace wb {

WB_DECLARE_KERNEL(pbch_equalise)
WB_DECLARE_KERNEL(pbch_map)

namespace {

constexpr int ssb_values = ssb_symbols * ssb_subcarriers;

/// The pseudo-random sequences of many c_init. Bits of c_init add their sequences modulo 2.
class pbch_sequences {
 public:
  pbch_sequences(int bits, std::size_t length) : first_(packed_words(nr_scrambling_sequence(0, length))) {
    for (int b = 0; b < bits; b++) {
      parts_.push_back(packed_words(nr_scrambling_sequence(std::int64_t{1} << b, length)));
      for (std::size_t i = 0; i < first_.size(); i++) parts_.back()[i] ^= first_[i];
    }
  }
  void append(std::int64_t c_init, std::vector<std::uint32_t>& to) const {
    std::vector<std::uint32_t> words = first_;
    for (std::size_t b = 0; b < parts_.size(); b++)
      if ((c_init >> b & 1) != 0)
        for (std::size_t i = 0; i < words.size(); i++) words[i] ^= parts_[b][i];
    to.insert(to.end(), words.begin(), words.end());
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::vector<std::uint32_t>> parts_;
};

/// pbch_equalise_args::words. All objects share it.
const resident<std::uint32_t>& cell_words() {
  static const resident<std::uint32_t> table([] {
    const pbch_sequences dmrs(22, 2 * pbch_dmrs_values), scrambling(10, as_size(8 * pbch_coded_bits));
    std::vector<std::uint32_t> words;
    for (int cell = 0; cell < nr_cell_ids; cell++) {
      for (int i = 0; i < pbch_dmrs_indices; i++) dmrs.append(nr_pbch_dmrs_init(cell, i), words);
      std::vector<std::uint8_t> sss;
      for (const float x : nr_sss(cell)) sss.push_back(x < 0 ? 1 : 0);
      const std::vector<std::uint32_t> sss_words = packed_words(sss);
      words.insert(words.end(), sss_words.begin(), sss_words.end());
      scrambling.append(cell, words);
    }
    return words;
  }());
  return table;
}

/// The least bits of the DMRS index that shift the scrambling: two or three LSBs of i_SSB.
std::uint32_t scrambling_mask(int l_max) { return l_max == 4 ? 3 : 7; }

polar_config pbch_polar_code() {
  return {.kind = polar_kind::pbch, .k = pbch_payload_bits, .coded_bits = pbch_coded_bits};
}

void check_cells(const std::vector<int>& cell_ids, std::size_t blocks) {
  if (cell_ids.size() != blocks)
    throw shape_error("cell_ids", std::to_string(cell_ids.size()) + " cells",
                      "one for each of " + std::to_string(blocks) + " blocks");
  for (const int cell : cell_ids) check_range("cell_ids", cell, 0, nr_cell_ids - 1);
}

constexpr std::size_t most_blocks = std::size_t{1} << 24;

}  // namespace

const std::vector<setting_of<pbch_encoder_config>>& pbch_encoder_settings() {
  using c = pbch_encoder_config;
  static const std::vector<setting_of<c>> settings{
      one_of("l_max", &c::l_max, {4, 8, 64}, "Candidate SS/PBCH blocks of a half frame.")};
  return settings;
}

pbch_encoder::pbch_encoder(const pbch_encoder_config& config)
    : config_((check_settings(pbch_encoder_settings(), config), config)), coder_(pbch_polar_code()) {
  std::vector<float> pss;
  for (int n = 0; n < 3; n++) {
    const std::vector<float> d = nr_pss(n);
    pss.insert(pss.end(), d.begin(), d.end());
  }
  pss_ = resident<float>(std::move(pss));
}

void pbch_encoder::run(executor& exec, const std::vector<nr_ssb_content>& contents,
                       const std::vector<int>& cell_ids, view<std::complex<float>> grids) const {
  const std::size_t blocks = contents.size();
  if (blocks > most_blocks)
    throw shape_error("contents", std::to_string(blocks) + " blocks", "at most 2^24 blocks");
  check_cells(cell_ids, blocks);
  check_shape("grids", grids, blocks, as_size(ssb_values));
  std::vector<std::uint8_t> bits;
  std::vector<std::int32_t> cells(cell_ids.begin(), cell_ids.end()), indices;
  for (std::size_t i = 0; i < blocks; i++) {
    const pbch_payload a =
        nr_pbch_scrambled(nr_pbch_payload(contents[i], config_.l_max), cell_ids[i], config_.l_max);
    bits.insert(bits.end(), a.begin(), a.end());
    indices.push_back(nr_pbch_dmrs_index(contents[i], config_.l_max));
  }
  pss_.check_held();
  if (blocks == 0) return;
  std::byte* memory =
      workspace_.on(exec, blocks * (pbch_payload_bits + pbch_coded_bits + 2 * sizeof(std::int32_t)) + 4 * 64);
  auto* message = take_part<std::uint8_t>(memory, bits.size());
  auto* coded = take_part<std::uint8_t>(memory, blocks * pbch_coded_bits);
  auto* cell = take_part<std::int32_t>(memory, blocks);
  auto* index = take_part<std::int32_t>(memory, blocks);
  exec.upload(message, bits.data(), bits.size());
  exec.upload(cell, cells.data(), sizeof(std::int32_t) * blocks);
  exec.upload(index, indices.data(), sizeof(std::int32_t) * blocks);
  coder_.run(exec, make_view(static_cast<const std::uint8_t*>(message), blocks, pbch_payload_bits),
             make_view(coded, blocks, pbch_coded_bits));
  pbch_map_args args;
  args.coded = make_view(static_cast<const std::uint8_t*>(coded), blocks, pbch_coded_bits);
  args.cell = cell, args.indices = index;
  args.words = cell_words().on(exec);
  args.pss = pss_.on(exec);
  args.scrambling_mask = scrambling_mask(config_.l_max);
  args.grid = as_pairs(grids);
  exec.run(pbch_map_kernels(), &args, blocks);
  exec.sync();
}

const std::vector<setting_of<pbch_decoder_config>>& pbch_decoder_settings() {
  using c = pbch_decoder_config;
  static const std::vector<setting_of<c>> settings{
      one_of("l_max", &c::l_max, {4, 8, 64}, "Candidate SS/PBCH blocks of a half frame."),
      one_of("list_size", &c::list_size, {1, 2, 4, 8, 16, 32}, "Paths of the polar decoder."),
      integer("hypotheses", &c::hypotheses, 1, pbch_dmrs_indices,
              "DMRS sequences, the likeliest first, with which a block is decoded.")};
  return settings;
}

pbch_decoder::pbch_decoder(const pbch_decoder_config& config)
    : config_((check_settings(pbch_decoder_settings(), config), config)),
      coder_(pbch_polar_code(), {.list_size = config.list_size}) {
  std::vector<float> circle;
  for (int k = 0; k < 256; k++) {
    circle.push_back(static_cast<float>(std::cos(std::numbers::pi * k / 128)));
    circle.push_back(static_cast<float>(std::sin(std::numbers::pi * k / 128)));
  }
  circle_ = resident<float>(std::move(circle));
}

std::vector<nr_pbch_block> pbch_decoder::run(executor& exec, view<const std::complex<float>> grids,
                                             const std::vector<int>& cell_ids) const {
  const std::size_t blocks = grids.items, tries = as_size(config_.hypotheses), rows = blocks * tries;
  check_shape("grids", grids, blocks, as_size(ssb_values));
  if (blocks > most_blocks)
    throw shape_error("grids", shape_text(blocks, grids.elements), "at most 2^24 blocks");
  check_cells(cell_ids, blocks);
  circle_.check_held();
  std::vector<nr_pbch_block> found(blocks);
  if (blocks == 0) return found;
  const std::vector<std::int32_t> cells(cell_ids.begin(), cell_ids.end());
  std::byte* memory = workspace_.on(
      exec, sizeof(std::int32_t) * blocks +
                rows * (sizeof(float) * (pbch_coded_bits + pbch_numbers) + pbch_payload_bits + 1) + 5 * 64);
  auto* cell = take_part<std::int32_t>(memory, blocks);
  auto* llr = take_part<float>(memory, rows * pbch_coded_bits);
  auto* numbers = take_part<float>(memory, rows * pbch_numbers);
  auto* bits = take_part<std::uint8_t>(memory, rows * pbch_payload_bits);
  auto* status = take_part<std::uint8_t>(memory, rows);
  exec.upload(cell, cells.data(), sizeof(std::int32_t) * blocks);
  pbch_equalise_args args;
  args.grid = as_pairs(grids);
  args.cell = cell;
  args.words = cell_words().on(exec);
  args.circle = circle_.on(exec);
  args.hypotheses = config_.hypotheses;
  args.scrambling_mask = scrambling_mask(config_.l_max);
  args.llr = llr, args.numbers = numbers;
  exec.run(pbch_equalise_kernels(), &args, blocks);
  coder_.run(exec, make_view(static_cast<const float*>(llr), rows, pbch_coded_bits),
             {.bits = make_view(bits, rows, pbch_payload_bits), .status = make_view(status, rows)});
  std::vector<float> all_numbers(rows * pbch_numbers);
  std::vector<std::uint8_t> all_bits(rows * pbch_payload_bits), all_status(rows);
  exec.download(all_numbers.data(), numbers, sizeof(float) * all_numbers.size());
  exec.download(all_bits.data(), bits, all_bits.size());
  exec.download(all_status.data(), status, all_status.size());
  exec.sync();

  for (std::size_t block = 0; block < blocks; block++) {
    nr_pbch_block& b = found[block];
    std::size_t row = block * tries;
    for (std::size_t i = row; i < row + tries && !b.ok; i++) {
      const bool usable = all_numbers[i * pbch_numbers + 6] > 0;
      if (!usable || (all_status[i] & status_stopped) == 0 || (all_status[i] & status_erased) != 0) continue;
      pbch_payload scrambled;
      std::copy_n(all_bits.begin() + static_cast<std::ptrdiff_t>(i * pbch_payload_bits), pbch_payload_bits,
                  scrambled.begin());
      b.payload = nr_pbch_descrambled(scrambled, cell_ids[block], config_.l_max);
      b.content = nr_pbch_content(b.payload, config_.l_max, static_cast<int>(all_numbers[i * pbch_numbers]));
      b.ok = b.content.has_value();
      row = i;
    }
    const float* x = all_numbers.data() + row * pbch_numbers;
    b.erased = !(x[6] > 0);
    if (b.erased) continue;
    b.dmrs_index = static_cast<int>(x[0]);
    const double snr = static_cast<double>(x[1]) / std::max(static_cast<double>(x[2]), 1e-30);
    b.snr_db = std::clamp(10 * std::log10(std::max(snr, 1e-4)), -40., 60.);
    constexpr double spacings = 1 + 144. / 2048;  // turns of a symbol with its prefix for a spacing
    b.cfo_spacings = std::atan2(x[4], x[3]) / (2 * std::numbers::pi * spacings);
    b.delay_symbols = static_cast<double>(x[5]) / 256;
  }
  return found;
}

}  // namespace wb

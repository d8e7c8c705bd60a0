#include <warpband/nr/pdcch/pdcch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/pairs.hpp>
#include <warpband/core/status.hpp>
#include <warpband/exec/take_part.hpp>
#include <warpband/fec/nr/scrambling.hpp>
#include <warpband/nr/dmrs.hpp>
#include <warpband/nr/pdcch/coreset.hpp>

namespace wb {

WB_DECLARE_KERNEL(pdcch_equalise)
WB_DECLARE_KERNEL(pdcch_map)

namespace {

constexpr int pdcch_group_count = 6;  // of a CCE
constexpr std::size_t most_pdcch_items = std::size_t{1} << 22;

/// Uniform delay profiles in useful symbol durations, and ratios of signal and noise.
constexpr double pdcch_profile_widths[pdcch_widths] = {0.002, 0.01, 0.03, 0.08};
double pdcch_ratio(int i) { return std::pow(10., 0.4 * i - 1.2); }

/// Resource blocks of a bundle and of a CORESET.
int pdcch_bundle_groups(const pdcch_config& c) { return c.interleaved ? c.reg_bundle : pdcch_group_count; }

/// The bundles of a candidate, rising.
std::vector<int> pdcch_bundles(const pdcch_config& c, int first_cce) {
  const int bundle = pdcch_bundle_groups(c), count = c.blocks * c.symbols / bundle,
            columns = count / c.interleaver_rows;
  std::vector<int> found;
  for (int x = pdcch_group_count * first_cce / bundle; x < pdcch_group_count * (first_cce + c.level) / bundle;
       x++)
    found.push_back(
        c.interleaved ? (x % c.interleaver_rows * columns + x / c.interleaver_rows + c.shift) % count : x);
  std::sort(found.begin(), found.end());
  return found;
}

void check_first_cce(const pdcch_config& c, int first_cce) {
  const int last = c.cces() / c.level * c.level - c.level;
  if (first_cce < 0 || first_cce > last || first_cce % c.level != 0)
    throw argument_error(
        "first_cce", std::to_string(first_cce),
        "a multiple of level = " + std::to_string(c.level) + " from 0 to " + std::to_string(last));
}

polar_config pdcch_polar_code(const pdcch_config& c) {
  return {.kind = polar_kind::dci, .k = c.dci_bits, .coded_bits = c.coded_bits(), .rnti = c.rnti};
}

/// Eigenvalues of a symmetric matrix [n, n], which becomes their eigenvectors, a row each. Jacobi's method.
std::vector<double> pdcch_eigen(std::vector<double>& m, int n) {
  const auto index = [n](int i, int j) { return as_size(i * n + j); };
  std::vector<double> a = std::exchange(m, std::vector<double>(m.size()));
  for (int i = 0; i < n; i++) m[index(i, i)] = 1;
  for (int sweep = 0; sweep < 30; sweep++)
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) {
        if (std::fabs(a[index(p, q)]) < 1e-15) continue;
        const double angle = std::atan2(2 * a[index(p, q)], a[index(p, p)] - a[index(q, q)]) / 2,
                     c = std::cos(angle), s = std::sin(angle);
        const auto rotate = [&](std::vector<double>& x, std::size_t i, std::size_t j) {
          const double first = x[i], second = x[j];
          x[i] = c * first + s * second;
          x[j] = c * second - s * first;
        };
        for (int k = 0; k < n; k++) rotate(a, index(p, k), index(q, k));
        for (int k = 0; k < n; k++) rotate(a, index(k, p), index(k, q));
        for (int k = 0; k < n; k++) rotate(m, index(p, k), index(q, k));
      }
  std::vector<double> values;
  for (int i = 0; i < n; i++) values.push_back(std::max(a[index(i, i)], 0.));
  return values;
}

/// Correlation of two subcarriers under a uniform delay profile.
double pdcch_correlation(double width, int subcarriers) {
  const double x = std::numbers::pi * width * subcarriers;
  return subcarriers == 0 ? 1 : std::sin(x) / x;
}

}  // namespace

const std::vector<setting_of<pdcch_config>>& pdcch_settings() {
  using c = pdcch_config;
  static const std::vector<setting_of<c>> settings{
      integer("blocks", &c::blocks, 6, 270, "Resource blocks of the CORESET, a multiple of 6."),
      integer("symbols", &c::symbols, 1, 3, "OFDM symbols of the CORESET."),
      integer("first_symbol", &c::first_symbol, 0, 13, "First OFDM symbol of the CORESET in its slot."),
      integer("dmrs_first_block", &c::dmrs_first_block, 0, 2199,
              "The CORESET's first resource block, counted from where the sequence of DMRS begins: 0 for "
              "CORESET 0, else from common resource block 0."),
      boolean("interleaved", &c::interleaved, "Interleaved mapping of control channel elements (CCEs)."),
      one_of("reg_bundle", &c::reg_bundle, {2, 3, 6},
             "Resource-element groups of a bundle with interleaved mapping; without it bundles have 6."),
      one_of("interleaver_rows", &c::interleaver_rows, {2, 3, 6}, "Rows of the interleaver."),
      integer("shift", &c::shift, 0, 1007, "n_shift of the interleaver: the cell for CORESET 0."),
      integer("dmrs_id", &c::dmrs_id, 0, 65535, "N_ID of the DMRS: the cell for CORESET 0."),
      integer("scrambling_id", &c::scrambling_id, 0, 65535,
              "n_ID of the scrambling: the cell in common search spaces."),
      integer("scrambling_rnti", &c::scrambling_rnti, 0, 65535,
              "n_RNTI of the scrambling: 0 in common search spaces."),
      one_of("level", &c::level, {1, 2, 4, 8, 16}, "Aggregation level: CCEs of a candidate."),
      integer("dci_bits", &c::dci_bits, 1, 140,
              "Bits of the downlink control information (DCI), up to 84 with level = 1."),
      integer("rnti", &c::rnti, 0, 65535, "RNTI that masks the CRC; 65535 for system information.")};
  return settings;
}

void check(const pdcch_config& c) {
  check_settings(pdcch_settings(), c);
  if (c.blocks % pdcch_group_count != 0)
    throw argument_error("blocks", std::to_string(c.blocks), "a multiple of 6");
  check_range("first_symbol", c.first_symbol, 0, 14 - c.symbols);
  check_range("dmrs_first_block", c.dmrs_first_block, 0, 2200 - c.blocks);
  if (c.interleaved) {
    // Bundles are of whole resource blocks: 3 or 6 groups with three symbols, 2 or 6 else.
    if (c.reg_bundle % c.symbols != 0 || (c.symbols == 1 && c.reg_bundle == 3))
      throw argument_error(
          "reg_bundle", std::to_string(c.reg_bundle),
          c.symbols == 3 ? "3 or 6 with symbols = 3" : "2 or 6 with symbols = " + std::to_string(c.symbols));
    if (c.blocks * c.symbols % (c.reg_bundle * c.interleaver_rows) != 0)
      throw argument_error("interleaver_rows", std::to_string(c.interleaver_rows),
                           "a divisor of the " + std::to_string(c.blocks * c.symbols / c.reg_bundle) +
                               " bundles of the CORESET");
  }
  if (c.level > c.cces())
    throw argument_error("level", std::to_string(c.level),
                         "up to the " + std::to_string(c.cces()) + " CCEs of the CORESET");
  check_range("dci_bits", c.dci_bits, 1, std::min(140, c.coded_bits() - 24));
}

std::vector<int> pdcch_groups(const pdcch_config& c, int first_cce) {
  check(c);
  check_first_cce(c, first_cce);
  std::vector<int> groups;
  for (const int bundle : pdcch_bundles(c, first_cce))
    for (int i = 0; i < pdcch_bundle_groups(c); i++) groups.push_back(pdcch_bundle_groups(c) * bundle + i);
  return groups;
}

pdcch_tables::pdcch_tables(const pdcch_config& c) {
  check(c);
  const int groups = pdcch_bundle_groups(c);
  shape.blocks = c.blocks, shape.symbols = c.symbols;
  shape.bundles = pdcch_group_count * c.level / groups;
  shape.bundle_blocks = groups / c.symbols;
  shape.subcarriers = 12 * c.blocks;
  shape.bundle_subcarriers = 12 * shape.bundle_blocks;
  shape.bundle_dmrs = pdcch_block_dmrs * shape.bundle_blocks;
  shape.candidate_blocks = shape.bundles * shape.bundle_blocks;
  shape.values = c.symbols * shape.bundles * shape.bundle_subcarriers;
  shape.dmrs = shape.bundles * shape.bundle_dmrs;
  shape.pilots = 2 * shape.values;
  shape.means = shape.pilots + 2 * c.symbols * shape.dmrs;
  shape.energies = shape.means + 2 * shape.dmrs;
  shape.scores = shape.energies + pdcch_widths * shape.bundle_dmrs;
  shape.parts = shape.scores + pdcch_widths * pdcch_ratios;
  shape.rotations = shape.parts + 2 * shape.dmrs;
  shape.scratch = shape.rotations + 2 * shape.bundle_subcarriers;
  shape.coded_bits = c.coded_bits();
  const std::size_t dmrs_bits = 2 * as_size(pdcch_block_dmrs * c.blocks);
  shape.dmrs_words = static_cast<int>((dmrs_bits + 31) / 32);
  std::vector<std::int32_t> firsts, ranks;
  for (int cce = 0; cce + c.level <= c.cces(); cce += c.level) {
    const std::size_t start = ranks.size();
    ranks.resize(start + as_size(c.blocks), -1);
    int rank = 0;
    for (const int bundle : pdcch_bundles(c, cce)) {
      firsts.push_back(bundle * shape.bundle_blocks);
      for (int i = 0; i < shape.bundle_blocks; i++) ranks[start + as_size(firsts.back() + i)] = rank++;
    }
  }
  first_blocks = resident<std::int32_t>(std::move(firsts));
  block_rank = resident<std::int32_t>(std::move(ranks));
  std::vector<std::uint32_t> words;
  const std::size_t before = 2 * as_size(pdcch_block_dmrs * c.dmrs_first_block);
  for (int slot = 0; slot < pdcch_slots; slot++)
    for (int l = 0; l < c.symbols; l++) {
      const auto sequence = nr_scrambling_sequence(nr_dmrs_init(c.dmrs_id, 14 * slot + c.first_symbol + l, 0),
                                                   before + dmrs_bits);
      const auto in_coreset = packed_words(std::span(sequence).subspan(before));
      words.insert(words.end(), in_coreset.begin(), in_coreset.end());
    }
  dmrs = resident<std::uint32_t>(std::move(words));
  const std::int64_t init =
      (std::int64_t{c.scrambling_rnti} * (1 << 16) + c.scrambling_id) % (std::int64_t{1} << 31);
  scrambling = resident<std::uint32_t>(packed_words(nr_scrambling_sequence(init, as_size(c.coded_bits()))));
}

pdcch_encoder::pdcch_encoder(const pdcch_config& config)
    : config_(config), tables_(config), coder_(pdcch_polar_code(config)) {}

void pdcch_encoder::run(executor& exec, view<const std::uint8_t> bits, const std::vector<int>& slots,
                        const std::vector<int>& first_cces, view<std::complex<float>> grids) const {
  const std::size_t items = bits.items, coded_bits = as_size(config_.coded_bits());
  check_shape("bits", bits, items, as_size(config_.dci_bits));
  if (items > most_pdcch_items)
    throw shape_error("bits", shape_text(items, bits.elements), "at most 2^22 items");
  check_shape("grids", grids, items, config_.elements());
  const auto one_each = [&](const char* name, const std::vector<int>& values) {
    if (values.size() != items)
      throw shape_error(name, std::to_string(values.size()) + " values",
                        "one for each of " + std::to_string(items) + " items");
  };
  one_each("slots", slots);
  one_each("first_cces", first_cces);
  std::vector<std::int32_t> candidates;
  for (std::size_t i = 0; i < items; i++) {
    check_range("slot", slots[i], 0, pdcch_slots - 1);
    check_first_cce(config_, first_cces[i]);
    candidates.push_back(slots[i]);
    candidates.push_back(first_cces[i] / config_.level);
  }
  tables_.dmrs.check_held();
  if (items == 0) return;
  std::byte* memory = workspace_.on(exec, items * (coded_bits + 2 * sizeof(std::int32_t)) + 2 * 64);
  auto* coded = take_part<std::uint8_t>(memory, items * coded_bits);
  auto* listed = take_part<std::int32_t>(memory, candidates.size());
  exec.upload(listed, candidates.data(), sizeof(std::int32_t) * candidates.size());
  coder_.run(exec, bits, make_view(coded, items, coded_bits));
  pdcch_map_args args;
  args.shape = tables_.shape;
  args.coded = make_view(static_cast<const std::uint8_t*>(coded), items, coded_bits);
  args.candidates = listed;
  args.block_rank = tables_.block_rank.on(exec);
  args.dmrs = tables_.dmrs.on(exec);
  args.scrambling = tables_.scrambling.on(exec);
  args.grid = as_pairs(grids);
  exec.run(pdcch_map_kernels(), &args, items);
  exec.sync();
}

const std::vector<setting_of<pdcch_decoder_config>>& pdcch_decoder_settings() {
  using c = pdcch_decoder_config;
  static const std::vector<setting_of<c>> settings = [] {
    auto list = within<c>([](c& x) -> pdcch_config& { return x.channel; }, pdcch_settings());
    list.push_back(one_of("list_size", &c::list_size, {1, 2, 4, 8, 16, 32}, "Paths of the polar decoder."));
    return list;
  }();
  return settings;
}

pdcch_decoder::pdcch_decoder(const pdcch_decoder_config& config)
    : config_((check_settings(pdcch_decoder_settings(), config), config)),
      tables_(config.channel),
      coder_(pdcch_polar_code(config.channel), {.list_size = config.list_size}) {
  const int n = tables_.shape.bundle_dmrs, subcarriers = tables_.shape.bundle_subcarriers;
  std::vector<float> vectors, values, spread, volumes, ratios;
  for (int r = 0; r < pdcch_ratios; r++) ratios.push_back(static_cast<float>(pdcch_ratio(r)));
  for (const double width : pdcch_profile_widths) {
    std::vector<double> correlation;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) correlation.push_back(pdcch_correlation(width, 4 * (i - j)));
    const std::vector<double> eigen = pdcch_eigen(correlation, n);
    for (const double x : correlation) vectors.push_back(static_cast<float>(x));
    for (const double x : eigen) values.push_back(static_cast<float>(x));
    for (int k = 0; k < subcarriers; k++)
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int m = 0; m < n; m++)
          sum += pdcch_correlation(width, k - 4 * m - 1) * correlation[as_size(i * n + m)];
        spread.push_back(static_cast<float>(sum));
      }
    for (int r = 0; r < pdcch_ratios; r++) {
      double volume = 0;
      for (const double x : eigen) volume += std::log1p(config.channel.symbols * pdcch_ratio(r) * x);
      volumes.push_back(static_cast<float>(volume));
    }
  }
  vectors_ = resident<float>(std::move(vectors));
  values_ = resident<float>(std::move(values));
  spread_ = resident<float>(std::move(spread));
  volumes_ = resident<float>(std::move(volumes));
  ratios_ = resident<float>(std::move(ratios));
}

std::vector<nr_pdcch_result> pdcch_decoder::run(executor& exec, view<const std::complex<float>> grids,
                                                const std::vector<nr_pdcch_candidate>& candidates) const {
  const pdcch_config& c = config_.channel;
  const std::size_t items = candidates.size(), coded_bits = as_size(c.coded_bits()),
                    dci_bits = as_size(c.dci_bits);
  check_shape("grids", grids, grids.items, c.elements());
  if (items > most_pdcch_items)
    throw shape_error("candidates", std::to_string(items) + " candidates", "at most 2^22 candidates");
  std::vector<std::int32_t> entries;
  for (const nr_pdcch_candidate& x : candidates) {
    check_range("grid", x.grid, 0, static_cast<int>(std::min(grids.items, most_pdcch_items)) - 1);
    check_range("slot", x.slot, 0, pdcch_slots - 1);
    check_first_cce(c, x.first_cce);
    entries.insert(entries.end(), {x.grid, x.slot, x.first_cce / c.level});
  }
  ratios_.check_held();
  std::vector<nr_pdcch_result> found(items);
  if (items == 0) return found;
  std::byte* memory = workspace_.on(
      exec, items * (sizeof(std::int32_t) * 3 + sizeof(float) * (coded_bits + pdcch_numbers) + dci_bits + 1) +
                5 * 64);
  auto* listed = take_part<std::int32_t>(memory, entries.size());
  auto* llr = take_part<float>(memory, items * coded_bits);
  auto* numbers = take_part<float>(memory, items * pdcch_numbers);
  auto* bits = take_part<std::uint8_t>(memory, items * dci_bits);
  auto* status = take_part<std::uint8_t>(memory, items);
  exec.upload(listed, entries.data(), sizeof(std::int32_t) * entries.size());
  pdcch_equalise_args args;
  args.shape = tables_.shape;
  args.grid = as_pairs(grids);
  args.candidates = listed;
  args.first_blocks = tables_.first_blocks.on(exec);
  args.dmrs = tables_.dmrs.on(exec);
  args.scrambling = tables_.scrambling.on(exec);
  args.filters = {vectors_.on(exec), values_.on(exec), spread_.on(exec), volumes_.on(exec), ratios_.on(exec)};
  args.llr = llr, args.numbers = numbers;
  exec.run(pdcch_equalise_kernels(), &args, items);
  coder_.run(exec, make_view(static_cast<const float*>(llr), items, coded_bits),
             {.bits = make_view(bits, items, dci_bits), .status = make_view(status, items)});
  std::vector<float> all_numbers(items * pdcch_numbers);
  std::vector<std::uint8_t> all_bits(items * dci_bits), all_status(items);
  exec.download(all_numbers.data(), numbers, sizeof(float) * all_numbers.size());
  exec.download(all_bits.data(), bits, all_bits.size());
  exec.download(all_status.data(), status, all_status.size());
  exec.sync();

  for (std::size_t i = 0; i < items; i++) {
    nr_pdcch_result& r = found[i];
    const float* x = all_numbers.data() + i * pdcch_numbers;
    r.bits.assign(dci_bits, 0);
    r.erased = !(x[7] > 0);
    if (r.erased) continue;
    r.ok = (all_status[i] & status_stopped) != 0 && (all_status[i] & status_erased) == 0;
    if (r.ok)
      std::copy_n(all_bits.begin() + static_cast<std::ptrdiff_t>(i * dci_bits), dci_bits, r.bits.begin());
    r.metric = static_cast<double>(x[6]);
    const double snr = static_cast<double>(x[0]) / std::max(static_cast<double>(x[1]), 1e-30);
    r.snr_db = std::clamp(10 * std::log10(std::max(snr, 1e-4)), -40., 60.);
    constexpr double full = 2 * std::numbers::pi, spacings = 1 + 144. / 2048;  // a symbol with its prefix
    if (c.symbols > 1) r.cfo_spacings = std::atan2(x[3], x[2]) / (full * spacings);
    r.delay_symbols = -std::atan2(x[5], x[4]) / full;
  }
  return found;
}

const std::vector<setting_of<pdcch_search_config>>& pdcch_search_settings() {
  using c = pdcch_search_config;
  static const std::vector<setting_of<c>> settings = [] {
    std::vector<setting_of<c>> list;
    for (auto& s :
         within<c>([](c& x) -> pdcch_decoder_config& { return x.decoder; }, pdcch_decoder_settings()))
      if (s.name != "level" && s.name != "dci_bits") list.push_back(std::move(s));
    list.push_back(integers("sizes", &c::sizes, 1, 140, "Bits of the DCIs that are searched.",
                            "a list of integers from 1 to 140, each once"));
    list.push_back(integers("candidates", &c::candidates, 0, 8,
                            "Candidates of 1, 2, 4, 8 and 16 control channel elements.",
                            "a list of five integers from 0 to 6, or 8"));
    list.push_back(integer("coreset_id", &c::coreset_id, 0, 15,
                           "Identity of the CORESET, for a UE-specific search space. Absent: it is common."));
    list.push_back(integer("carrier", &c::carrier, 0, 7,
                           "With coreset_id: n_CI, of the serving cell in cross-carrier scheduling."));
    return list;
  }();
  return settings;
}

pdcch_search::pdcch_search(const pdcch_search_config& config) : config_(config) {
  check_settings(pdcch_search_settings(), config);
  if (config.candidates.size() != 5)
    throw argument_error("candidates", std::to_string(config.candidates.size()) + " numbers",
                         "five: of 1, 2, 4, 8 and 16 CCEs");
  if (std::count(config.candidates.begin(), config.candidates.end(), 7) > 0)
    throw argument_error("candidates", "7", "0 to 6, or 8");
  if (config.carrier != 0 && !config.coreset_id)
    throw argument_error("carrier", std::to_string(config.carrier), "0 without coreset_id");
  if (config.coreset_id) check_range("rnti", config.decoder.channel.rnti, 1, 65535);
  if (config.sizes.empty()) throw argument_error("sizes", "none", "at least one size");
  std::vector<int> sorted = config.sizes;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw argument_error("sizes", std::to_string(*twice) + " twice", "each once");
  pdcch_config coreset = config.decoder.channel;
  coreset.level = coreset.dci_bits = 1;  // those of the search are not used
  check(coreset);
  for (const int size : config.sizes) {
    const std::size_t before = decoders_.size();
    for (int i = 0; i < 5; i++) {
      pdcch_decoder_config d = config.decoder;
      d.channel.level = 1 << i, d.channel.dci_bits = size;
      if (config.candidates[as_size(i)] == 0 || d.channel.level > d.channel.cces() ||
          size > 108 * d.channel.level - 24)
        continue;
      decoders_.emplace_back(d);
    }
    if (decoders_.size() == before)
      throw argument_error("candidates", "none for " + std::to_string(size) + " bits",
                           "a level with candidates for each size, up to the " +
                               std::to_string(coreset.cces()) + " CCEs of the CORESET");
  }
}

std::vector<nr_pdcch_found> pdcch_search::run(executor& exec, view<const std::complex<float>> grids,
                                              const std::vector<int>& slots) const {
  check_shape("grids", grids, grids.items, config_.decoder.channel.elements());
  if (slots.size() != grids.items)
    throw argument_error("slots", std::to_string(slots.size()) + " slots", std::to_string(grids.items));
  for (const int slot : slots) check_range("slots", slot, 0, pdcch_slots - 1);
  std::vector<nr_pdcch_found> found;
  for (const pdcch_decoder& decoder : decoders_) {
    const pdcch_config& c = decoder.config().channel;
    const int count = config_.candidates[as_size(std::countr_zero(static_cast<unsigned>(c.level)))];
    std::vector<nr_pdcch_candidate> candidates;
    for (std::size_t g = 0; g < slots.size(); g++) {
      std::optional<nr_ue_search_space> ue;
      if (config_.coreset_id) ue = nr_ue_search_space{c.rnti, *config_.coreset_id, slots[g], config_.carrier};
      std::vector<int> first_cces = nr_pdcch_candidates(c.cces(), c.level, count, ue);
      std::sort(first_cces.begin(), first_cces.end());  // a small CORESET repeats some
      first_cces.erase(std::unique(first_cces.begin(), first_cces.end()), first_cces.end());
      for (const int first : first_cces) candidates.push_back({static_cast<int>(g), slots[g], first});
    }
    std::vector<nr_pdcch_result> results = decoder.run(exec, grids, candidates);
    for (std::size_t i = 0; i < results.size(); i++) {
      if (!results[i].ok) continue;
      const bool is_known = std::any_of(found.begin(), found.end(), [&](const nr_pdcch_found& f) {
        return f.grid == candidates[i].grid && f.result.bits == results[i].bits;
      });
      if (!is_known)
        found.push_back({candidates[i].grid, candidates[i].slot, c.level, candidates[i].first_cce,
                         std::move(results[i])});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const nr_pdcch_found& a, const nr_pdcch_found& b) { return a.grid < b.grid; });
  return found;
}

}  // namespace wb

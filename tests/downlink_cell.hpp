#pragma once
// A cell of 5G NR in samples, as a transmitter makes them: an SS/PBCH block, a DCI with SI-RNTI in CORESET 0
// and the transport block that it schedules.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tests/on_backends.hpp>
#include <warpband/fec/nr/transport.hpp>
#include <warpband/modem/qam/qam.hpp>
#include <warpband/nr/pbch/pbch.hpp>
#include <warpband/nr/pdcch/coreset.hpp>
#include <warpband/nr/pdcch/dci.hpp>
#include <warpband/nr/pdcch/pdcch.hpp>
#include <warpband/nr/shared_channel.hpp>
#include <warpband/nr/sync/ssb.hpp>
#include <warpband/ofdm/modem/modem.hpp>

namespace wb::testing::downlink_cell {

using sample = std::complex<float>;

/// A cell that sends one SS/PBCH block and SIB1 once.
struct sent_cell {
  double rate_hz = 7.68e6, offset_hz = 0, f0_hz = 3.5e9, cfo_hz = 0, noise_var = 0;
  int spacing_khz = 30, cell_id = 500, level = 4, first_cce = 4, slots_later = 0;
  ssb_case pattern = ssb_case::c;
  nr_ssb_content mib = {};
  nr_si_dci dci = {};
};
inline double start_of(int spacing_khz, int symbol) {  // seconds from the frame's start
  double ts = 0;
  for (int l = 0; l < symbol; l++)
    ts += 2192. * 15 / spacing_khz + (l % (7 * spacing_khz / 15) == 0 ? 16 : 0);
  return ts / 30.72e6;
}
/// Adds OFDM symbols `first_symbol`, ... of a frame, whose middle is at `hz`.
inline void add_symbols(executor& exec, std::vector<sample>& samples, const sent_cell& c, int spacing_khz,
                        int blocks, int first_symbol, int symbols, double hz,
                        const std::vector<sample>& values) {
  const int in_subframe = 14 * spacing_khz / 15;
  const auto n = nr_numerology({.spacing_khz = spacing_khz, .resource_blocks = blocks},
                               static_cast<int>(c.rate_hz / 1e3 / spacing_khz));
  const ofdm_modulator modulator(
      n, {.first_symbol = first_symbol % in_subframe, .symbols = symbols, .carrier_hz = c.f0_hz + hz});
  auto in = on_device(exec, values, 1, values.size());
  auto out = exec.make<sample>(1, modulator.samples());
  modulator.run(exec, in, out);
  const auto wave = exec.to_host(out);
  const std::size_t first =
      static_cast<std::size_t>(std::llround(start_of(spacing_khz, first_symbol) * c.rate_hz));
  for (std::size_t i = 0; i < wave.size() && first + i < samples.size(); i++)
    samples[first + i] +=
        sample(std::complex<double>(wave[i]) *
               std::polar(1., 2 * std::numbers::pi *
                                  std::fmod(hz / c.rate_hz * static_cast<double>(first + i), 1.)));
}

inline std::vector<std::uint8_t> random_bits(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bits(count);
  for (auto& b : bits) b = static_cast<std::uint8_t>(random() % 2);
  return bits;
}
/// The PDSCH of a DCI as a slot's grid.
inline std::vector<sample> pdsch_grid(executor& exec, const nr_channel_config& config, int mcs, int rv,
                                      const std::vector<std::uint8_t>& block,
                                      std::string* scrambled = nullptr) {
  const nr_shared_channel pdsch(config);
  const nr_transport_config t = pdsch.transport(1, mcs);
  nr_transport_encoder encoder(t);
  const auto in = on_device(exec, block, 1, block.size());
  const std::size_t coded_bits = static_cast<std::size_t>(t.coded_bits), symbols = pdsch.symbols_of(0);
  auto coded = exec.make<std::uint8_t>(1, coded_bits);
  encoder.run(exec, in, rv, coded);
  if (scrambled != nullptr)
    for (const auto b : exec.to_host(coded)) *scrambled += static_cast<char>('0' + b);
  auto values = exec.make<sample>(symbols, 1), grid = exec.make<sample>(pdsch.elements(), 1);
  qam_mapper(1 << t.modulation_order)
      .run(exec, make_view(std::as_const(coded).data(), symbols, coded_bits / symbols), values);
  pdsch.map(exec, {make_view(std::as_const(values).data(), 1, symbols)}, grid);
  return exec.to_host(grid);
}
/// 20 ms with the SS/PBCH block.
inline std::vector<sample> ssb_of(executor& exec, const sent_cell& c) {
  std::vector<sample> samples(static_cast<std::size_t>(0.02 * c.rate_hz));
  auto grid = exec.make<sample>(1, 960);
  pbch_encoder({.l_max = 8}).run(exec, {c.mib}, {c.cell_id}, grid);
  const int half_frame = 14 * 5 * c.spacing_khz / 15;
  add_symbols(exec, samples, c, c.spacing_khz, 20,
              half_frame * c.mib.half_frame +
                  nr_ssb_first_symbols(c.pattern, 8)[static_cast<std::size_t>(c.mib.ssb_index)],
              4, c.offset_hz, exec.to_host(grid));
  return samples;
}
/// Where a cell's SIB1 is in time, and its CORESET.
struct sent_occasion {
  nr_coreset0 coreset;
  int slot, frames;
  pdcch_config control;
};
inline sent_occasion occasion_of(const sent_cell& c) {
  const int spacing = c.mib.common_spacing_khz;
  const auto coreset = *nr_coreset0_of(c.spacing_khz, spacing, c.mib.coreset0);
  const auto when = *nr_type0_occasion_of(c.mib.search_space0, c.mib.ssb_index, spacing, coreset.symbols);
  return {.coreset = coreset,
          .slot = when.slot + c.slots_later,
          .frames = (c.mib.sfn + when.sfn_parity) % 2,
          .control = {.blocks = coreset.blocks,
                      .symbols = coreset.symbols,
                      .first_symbol = when.first_symbol,
                      .shift = c.cell_id,
                      .dmrs_id = c.cell_id,
                      .scrambling_id = c.cell_id,
                      .level = c.level,
                      .dci_bits = nr_si_dci_bits(coreset.blocks)}};
}
/// The PDSCH of its DCI, mapped round the PDCCH. Other system information is also mapped round the SS/PBCH
/// block, which must have the same subcarrier spacing.
inline nr_channel_config pdsch_of(const sent_cell& c) {
  const sent_occasion occasion = occasion_of(c);
  const nr_carrier carrier{.spacing_khz = c.mib.common_spacing_khz,
                           .resource_blocks = occasion.coreset.blocks,
                           .cell_id = c.cell_id,
                           .slot = occasion.slot};
  nr_channel_config pdsch = nr_si_channel(c.dci, carrier, c.mib.dmrs_first_symbol, occasion.control);
  pdsch.reserved = nr_pdcch_reserved(occasion.control, c.first_cce);
  const int symbol = nr_ssb_first_symbols(c.pattern, 8)[static_cast<std::size_t>(c.mib.ssb_index)];
  const int ssb_slot = symbol / 14 + 5 * c.mib.half_frame * c.spacing_khz / 15;
  if (c.dci.other_information && c.spacing_khz == c.mib.common_spacing_khz && occasion.frames == 0 &&
      occasion.slot == ssb_slot)
    pdsch.reserved.push_back({.first_block = occasion.coreset.offset,
                              .blocks = c.mib.k_ssb == 0 ? 20 : 21,
                              .first_symbol = symbol % 14,
                              .symbols = 4});
  return pdsch;
}
/// 20 ms with the SS/PBCH block, and SIB1 in the occasion's first slot or the one behind it.
inline std::vector<sample> samples_of(executor& exec, const sent_cell& c,
                                      const std::vector<std::uint8_t>& block) {
  std::vector<sample> samples = ssb_of(exec, c);
  const int spacing = c.mib.common_spacing_khz;
  const auto& [coreset, slot, frames, control] = occasion_of(c);
  const auto bits = nr_si_dci_encode(c.dci, coreset.blocks);
  const auto in = on_device(exec, bits, 1, bits.size());
  auto pdcch = exec.make<sample>(1, control.elements());
  pdcch_encoder(control).run(exec, in, {slot}, {c.first_cce}, pdcch);
  std::vector<sample> values = pdsch_grid(exec, pdsch_of(c), c.dci.mcs, c.dci.rv, block);
  const auto controls = exec.to_host(pdcch);
  for (std::size_t i = 0; i < controls.size(); i++)
    values[12 * static_cast<std::size_t>(coreset.blocks * control.first_symbol) + i] += controls[i];
  const double middle = c.offset_hz + nr_coreset0_first_hz(coreset, c.spacing_khz, spacing, c.mib.k_ssb) +
                        6e3 * coreset.blocks * spacing;
  add_symbols(exec, samples, c, spacing, coreset.blocks, 14 * (slot + 10 * spacing / 15 * frames), 14, middle,
              values);
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, std::sqrt(c.noise_var / 2));
  for (std::size_t i = 0; i < samples.size(); i++) {
    std::complex<double> x =
        std::complex<double>(samples[i]) *
        std::polar(1., 2 * std::numbers::pi * c.cfo_hz / c.rate_hz * static_cast<double>(i));
    if (c.noise_var > 0) x += std::complex<double>(normal(random), normal(random));
    samples[i] = sample(x);
  }
  return samples;
}
inline std::size_t block_bits(const sent_cell& c) {
  return static_cast<std::size_t>(nr_shared_channel(pdsch_of(c)).transport(1, c.dci.mcs).transport_bits);
}

}  // namespace wb::testing::downlink_cell

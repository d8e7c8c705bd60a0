// Measures PUCCH against tables of TS 38.104 section 8.3 (curves/ts38104_pucch.csv), TDLC300-100 with
// antennas of low correlation:
//
//   example_pucch_rows ROWS.csv [OCCASIONS [FIRST [LAST]]]
//
// A line has the result at the required SNR and the margin in dB: down to the last of the tried SNRs at which
// the requirement is met. It has the share of false alarms in noise alone, too. Hops are at both ends of the
// carrier, and slots random. Fails unless every row meets its requirement with at most 1 % of false alarms.
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <warpband/channel/tdl/profile.hpp>
#include <warpband/exec/cpu.hpp>
#include <warpband/nr/pucch/pucch.hpp>

namespace {

using sample = std::complex<float>;

struct row {
  std::string table, test;
  int carrier_prbs = 0;
  double snr_db = 0;
  wb::pucch_config config;
};

std::vector<row> read_rows(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<row> rows;
  std::string line;
  std::getline(file, line);  // names of columns
  while (std::getline(file, line)) {
    std::array<std::string, 13> cell;
    std::istringstream in(line);
    for (std::string& c : cell) std::getline(in, c, ',');
    row r;
    r.table = cell[0], r.test = cell[2], r.carrier_prbs = std::stoi(cell[4]), r.snr_db = std::stod(cell[12]);
    r.config.format = std::stoi(cell[1]);
    r.config.spacing_khz = std::stoi(cell[3]);
    r.config.antennas = std::stoi(cell[5]);
    r.config.symbols = std::stoi(cell[6]);
    r.config.first_symbol = std::stoi(cell[7]);
    r.config.prbs = std::stoi(cell[8]);
    r.config.bits = std::stoi(cell[9]);
    r.config.hopping = cell[10] == "1";
    r.config.second_hop_prb = r.config.hopping ? r.carrier_prbs - r.config.prbs : 0;
    r.config.additional_dmrs = cell[11] == "1";
    rows.push_back(r);
  }
  return rows;
}

/// Channel of one antenna at the resource elements of a PUCCH: a sum of sinusoids for each tap.
class fading {
 public:
  explicit fading(const row& r) : row_(r), taps_(wb::tdl_profile_named("tdlc300").taps) {
    const wb::tdl_profile profile = wb::tdl_profile_named("tdlc300");
    powers_ = wb::tap_powers(profile);
  }
  template <class Random>
  void draw(Random& random, const wb::pucch_shape& s, sample* out) const {
    constexpr int sinusoids = 24;
    std::normal_distribution<float> normal(0, std::sqrt(0.5f));
    std::uniform_real_distribution<float> uniform(0, 1);
    const float symbol_s = 1e-3f * 15 / static_cast<float>(row_.config.spacing_khz) / 14,
                pi = std::numbers::pi_v<float>;
    std::vector<sample> gain(static_cast<std::size_t>(s.symbols));
    for (std::size_t i = 0; i < s.values(); i++) out[i] = 0;
    for (std::size_t tap = 0; tap < taps_.size(); tap++) {
      for (sample& g : gain) g = 0;
      for (int n = 0; n < sinusoids; n++) {
        const float angle = 2 * pi * (static_cast<float>(n) + uniform(random)) / sinusoids;
        const sample step = std::polar(1.f, 2 * pi * 100 * symbol_s * std::cos(angle));
        sample g{normal(random), normal(random)};
        for (sample& sum : gain) sum += g, g *= step;
      }
      const double turn = -2 * std::numbers::pi * 1e3 * row_.config.spacing_khz * 1e-9 * taps_[tap].delay_ns;
      const float scale = static_cast<float>(std::sqrt(powers_[tap] / sinusoids));
      for (int h = 0; h < s.hops; h++) {
        const int offset = h == 0 ? 0 : 12 * row_.config.second_hop_prb;
        sample z = sample(std::polar(static_cast<double>(scale), turn * offset));
        const sample step = sample(std::polar(1., turn));
        for (int k = 0; k < s.subcarriers; k++, z *= step)
          for (int l = s.hop[h].first; l < s.hop[h].first + s.hop[h].symbols; l++)
            out[l * s.subcarriers + k] += z * gain[static_cast<std::size_t>(l)];
      }
    }
  }

 private:
  row row_;
  std::vector<wb::tdl_tap> taps_;
  std::vector<double> powers_;
};

struct decided {
  std::vector<std::uint8_t> bits, detected;
};
decided detect(wb::executor& exec, const wb::pucch_detector& d, const std::vector<sample>& values,
               const std::vector<int>& slots) {
  auto in = exec.make<sample>(slots.size(), d.values());
  exec.upload(in.data(), values.data(), values.size() * sizeof(sample));
  auto bits = exec.make<std::uint8_t>(slots.size(), static_cast<std::size_t>(d.shape().bits));
  auto detected = exec.make<std::uint8_t>(slots.size(), 1);
  d.run(exec, in, slots, {.bits = bits, .detected = detected});
  return {exec.to_host(bits), exec.to_host(detected)};
}

/// Wrong blocks, or wrong bits of HARQ-ACK, in a hundred.
double share_wrong(const row& r, const decided& d, const std::vector<std::uint8_t>& sent) {
  const std::size_t bits = sent.size() / d.detected.size();
  const bool by_bit = r.test == "detection" || r.test == "nack to ack" || r.test == "ack missed";
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < d.detected.size(); i++) {
    std::size_t here = 0;
    for (std::size_t j = i * bits; j < (i + 1) * bits; j++)
      here += r.test == "nack to ack" ? d.bits[j] : d.bits[j] != sent[j] || d.detected[i] == 0;
    wrong += by_bit ? here : here != 0;
  }
  return 100. * static_cast<double>(wrong) / static_cast<double>(by_bit ? sent.size() : d.detected.size());
}

/// Whether the requirement is met, with few false alarms.
bool measure(wb::executor& exec, const row& r, std::size_t occasions, std::size_t number) {
  const wb::pucch_generator generator(r.config);
  const wb::pucch_detector detector(r.config);
  const wb::pucch_shape& s = generator.shape();
  const fading channel(r);
  std::mt19937 random(static_cast<unsigned>(number + 1));
  std::normal_distribution<float> normal(0, std::sqrt(0.5f));
  const double allowed = r.test == "nack to ack" ? 0.1 : 1;
  constexpr std::array steps{0., 0.5, 1., 1.5, 2., 2.5, 3., 4.};
  std::array<double, steps.size()> wrong{};
  std::size_t done = 0, alarms = 0;
  const std::size_t per_batch = 500, antennas = static_cast<std::size_t>(r.config.antennas);
  for (; done < occasions; done += per_batch) {
    std::vector<int> slots;
    std::vector<std::uint8_t> bits;
    for (std::size_t i = 0; i < per_batch; i++) {
      slots.push_back(static_cast<int>(random() % static_cast<unsigned>(s.slots)));
      for (int j = 0; j < s.bits; j++)
        bits.push_back(r.test == "nack to ack"                           ? 0
                       : r.test == "detection" || r.test == "ack missed" ? 1
                                                                         : random() & 1);
    }
    auto message = exec.make<std::uint8_t>(per_batch, static_cast<std::size_t>(s.bits));
    exec.upload(message.data(), bits.data(), bits.size());
    auto values = exec.make<sample>(per_batch, s.values());
    generator.run(exec, message, slots, values);
    const std::vector<sample> sent = exec.to_host(values);
    std::vector<sample> signal(per_batch * detector.values()), noise(signal.size()), h(s.values());
    for (std::size_t i = 0; i < per_batch; i++)
      for (std::size_t a = 0; a < antennas; a++) {
        channel.draw(random, s, h.data());
        for (std::size_t n = 0; n < s.values(); n++)
          signal[(i * antennas + a) * s.values() + n] = h[n] * sent[i * s.values() + n];
      }
    for (sample& z : noise) z = {normal(random), normal(random)};
    for (std::size_t step = 0; step < steps.size(); step++) {
      const float amplitude = static_cast<float>(std::pow(10, (r.snr_db - steps[step]) / 20));
      std::vector<sample> received(signal.size());
      for (std::size_t i = 0; i < received.size(); i++) received[i] = amplitude * signal[i] + noise[i];
      wrong[step] += share_wrong(r, detect(exec, detector, received, slots), bits);
    }
    for (const std::uint8_t found : detect(exec, detector, noise, slots).detected) alarms += found;
  }
  const double batches = static_cast<double>(done / per_batch);
  double margin = -1;
  for (std::size_t step = 0; step < steps.size() && wrong[step] / batches <= allowed; step++)
    margin = steps[step];
  const double alarm_percent = 100. * static_cast<double>(alarms) / static_cast<double>(done);
  std::printf("%s,%d,%s,%d,%d,%d,%d,%d,%.1f,%.3f,%.1f,%.3f\n", r.table.c_str(), r.config.format,
              r.test.c_str(), r.config.spacing_khz, r.carrier_prbs, r.config.antennas, r.config.symbols,
              r.config.additional_dmrs ? 1 : 0, r.snr_db, wrong[0] / batches, margin, alarm_percent);
  std::fflush(stdout);
  return margin >= 0 && alarm_percent <= 1;
}

}  // namespace

int main(int count, char** words) try {
  const std::vector<std::string> given(words + 1, words + count);
  if (given.empty()) {
    std::cerr << "usage: example_pucch_rows ROWS.csv [OCCASIONS [FIRST [LAST]]]\n";
    return 2;
  }
  const std::vector<row> rows = read_rows(given[0]);
  const std::size_t occasions = given.size() > 1 ? std::stoul(given[1]) : 2000,
                    first = given.size() > 2 ? std::stoul(given[2]) : 0,
                    last = given.size() > 3 ? std::stoul(given[3]) : rows.size();
  const auto exec = wb::open_executor("cpu", 1);
  std::puts(
      "table,format,test,spacing_khz,carrier_prbs,antennas,symbols,additional_dmrs,snr_db,wrong_percent,"
      "margin_db,false_alarm_percent");
  bool all_pass = true;
  for (std::size_t i = first; i < last && i < rows.size(); i++)
    all_pass = measure(*exec, rows[i], occasions, i) && all_pass;
  return all_pass ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 1;
}

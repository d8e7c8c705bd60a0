#include <warpband/nr/pucch/pucch_sequences.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

#include <warpband/core/as_size.hpp>
#include <warpband/core/check.hpp>
#include <warpband/core/error.hpp>
#include <warpband/fec/nr/scrambling.hpp>

namespace wb {
namespace {

/// TS 38.211 tables 5.2.2.2-1 to 5.2.2.2-4. Digit d stands for phi = 2 d - 3.
constexpr const char* phi_of_6[30] = {
    "013310", "031130", "000320", "222310", "222013", "021000", "023000", "012021", "010200", "002030",
    "023200", "010220", "223103", "223313", "222031", "222130", "011131", "001210", "000201", "022010",
    "030220", "020001", "220323", "220020", "223133", "220233", "221131", "221311", "221301", "220211"};

constexpr const char* phi_of_12[30] = {
    "020003012220", "032023112333", "033203123030", "001333030210", "011232212102", "003200013123",
    "213111012220", "103100012120", "013201032332", "011001032310", "030330113320", "010110331120",
    "013001021033", "021133011010", "230233321213", "023110011320", "111120133102", "122123311020",
    "023311033030", "003013331020", "323230123210", "032302222303", "033310010230", "310301333010",
    "012023331033", "032133021212", "123021211021", "003330120320", "213221112302", "030300311230"};

constexpr const char* phi_of_18[30] = {
    "131032013011222111", "303123010010321303", "032113012222213101", "003332023320031012",
    "221101200020112132", "302231211022133031", "031232012202331000", "220332303122120013",
    "020020032010001223", "313200120033323030", "000203223002313003", "003331101113200131",
    "010022101011331323", "220000230332013102", "031010220011302322", "320203310010030123",
    "010102301333210310", "013313101210111332", "020113200010022211", "333010131210200133",
    "022022301013031110", "201033102001012333", "002112201333313232", "310200033120132233",
    "311201010010222003", "002033313220003011", "011020311033013111", "003302310210301113",
    "102000223303301302", "032111121330123131"};

constexpr const char* phi_of_24[30] = {
    "103132312010123010333000", "103220200201130333023300", "100211023101102232011300",
    "203101332122301000130100", "130013112323110232102100", "012002203110232101020000",
    "032312020210100001112200", "023121303101031110110330", "020311103210123121200000",
    "221012202120300310230200", "000130323201102232103230", "031321113322233200120230",
    "303102321101303113300300", "031313322023030012301100", "020113230213310301100030",
    "011020011312132013221100", "002133012112211302021110", "313120220030111110012200",
    "020200202000002002202200", "003321112012130101120310", "001110210130203033211200",
    "312130223103203111120000", "020302032101000023123330", "012011222331212110003210",
    "031011131130130301322100", "021001201022122333121210", "131133111310232200010100",
    "300133013222313013132100", "020202232001231032100000", "301231101310103132203000"};

/// exp(-i pi number / period), number up to 2^62.
std::complex<double> pucch_chirp(std::int64_t number, std::int64_t period) {
  return std::polar(
      1., -std::numbers::pi * static_cast<double>(number % (2 * period)) / static_cast<double>(period));
}

int prime_below(int n) {
  for (n--;; n--) {
    bool prime = true;
    for (int d = 2; d * d <= n; d++) prime = prime && n % d != 0;
    if (prime) return n;
  }
}

}  // namespace

std::vector<std::complex<double>> nr_low_papr_sequence(int length, int u, int v) {
  const bool allowed = length == 6 || length == 12 || length == 18 || length == 24 || length == 30 ||
                       (length >= 36 && length <= 3300 && length % 6 == 0);
  if (!allowed) throw argument_error("length", std::to_string(length), "a multiple of 6 from 6 to 3300");
  check_range("u", u, 0, 29);
  check_range("v", v, 0, 1);
  std::vector<std::complex<double>> r;
  if (length <= 24) {
    const auto* table = length == 6    ? phi_of_6
                        : length == 12 ? phi_of_12
                        : length == 18 ? phi_of_18
                                       : phi_of_24;
    for (int n = 0; n < length; n++) r.push_back(pucch_chirp(-(2 * (table[u][n] - '0') - 3), 4));
    return r;
  }
  if (length == 30) {
    for (int n = 0; n < 30; n++) r.push_back(pucch_chirp((u + 1) * (n + 1) * (n + 2), 31));
    return r;
  }
  // q in whole numbers: p = N (u + 1) / 31.
  const int prime = prime_below(length), twice = 2 * prime * (u + 1);
  const int q = (twice + 31) / 62 + (twice / 31 % 2 == 0 ? v : -v);
  for (std::int64_t n = 0; n < length; n++) {
    const std::int64_t m = n % prime;
    r.push_back(pucch_chirp(q * (m * (m + 1) % (2 * prime)), prime));
  }
  return r;
}

pucch_group nr_pucch_group(pucch_hopping mode, int identity, int slot, int hop) {
  check_range("identity", identity, 0, 1023);
  check_range("slot", slot, 0, 159);
  check_range("hop", hop, 0, 1);
  pucch_group g{identity % 30, 0};
  const int first = 2 * slot + hop;
  if (mode == pucch_hopping::enable) {
    const auto c = nr_scrambling_sequence(identity / 30, as_size(8 * first + 8));
    int sum = 0;
    for (int m = 0; m < 8; m++) sum += c[as_size(8 * first + m)] << m;
    g.u = (sum % 30 + identity) % 30;
  }
  if (mode == pucch_hopping::disable)
    g.v = nr_scrambling_sequence(32 * (identity / 30) + identity % 30, as_size(first + 1)).back();
  return g;
}

std::vector<int> nr_pucch_shifts(int identity, int slot) {
  check_range("identity", identity, 0, 1023);
  check_range("slot", slot, 0, 159);
  const auto c = nr_scrambling_sequence(identity, as_size(8 * 14 * (slot + 1)));
  std::vector<int> shifts(14);
  for (int i = 0; i < 8 * 14; i++) shifts[as_size(i / 8)] += c[as_size(8 * 14 * slot + i)] << i % 8;
  return shifts;
}

double pucch_code_turns(int length, int index, int m) {
  constexpr int of_4[4][4] = {{0, 0, 0, 0}, {0, 2, 0, 2}, {0, 0, 2, 2}, {0, 2, 2, 0}};
  if (length == 4) return of_4[index][m] / 4.;
  return static_cast<double>(index * m % length) / length;
}

std::vector<int> pucch_dmrs_symbols(int symbols, bool hopping, bool additional) {
  if (symbols == 4) return hopping ? std::vector<int>{0, 2} : std::vector<int>{1};
  if (additional && symbols >= 10) {
    constexpr int more[5][4] = {{1, 3, 6, 8}, {1, 3, 6, 9}, {1, 4, 7, 10}, {1, 4, 7, 11}, {1, 5, 8, 12}};
    return {std::begin(more[symbols - 10]), std::end(more[symbols - 10])};
  }
  constexpr int two[10][2] = {{0, 3}, {1, 4}, {1, 4}, {1, 5}, {1, 6},
                              {2, 7}, {2, 7}, {2, 8}, {2, 9}, {3, 10}};
  return {two[symbols - 5][0], two[symbols - 5][1]};
}

}  // namespace wb

#pragma once
// The tables of `warpband sim`: a row for each point as it is finished, and the file of --csv.
#include <cstdio>
#include <memory>
#include <string>

#include <warpband/link/result.hpp>

#include "terminal.hpp"

/// The table of one curve, with the columns of its kind of link: one code word a frame, HARQ, massive MIMO.
class curve_table {
 public:
  curve_table(std::FILE* out, const wb::curve_config& curve);
  void header() { table_.header(); }
  /// It does not flush: who does so learns whether anybody reads.
  void row(const wb::point_result& p);

 private:
  std::FILE* out_;
  bool of_bits_;       // the interval
  wb::snr_axis axis_;  // of the sweep
  text_table table_;
};

/// All points of a result as CSV, with the columns that `warpband plot --csv` writes: label, swept
/// parameters, Eb/N0 and SNR in dB, counts, rates, and the ends of 95% intervals where there are any.
std::string result_csv(const wb::run_result& result);

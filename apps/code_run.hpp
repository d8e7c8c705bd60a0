#pragma once
// What `warpband encode` and `decode` do first: open the input, see what it holds and settle the code.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <warpband/code/code_texts.hpp>
#include <warpband/fec/format/format.hpp>

#include "code_options.hpp"

#if WARPBAND_HDF5

class code_run : public array_run {
 public:
  /// Of an input whose blocks are in `array`, bits or LLRs. Throws usage_error, file_error and
  /// argument_error.
  code_run(const code_options& options, const char* array, bool decodes);

  const wb::codec& code() const noexcept { return *code_; }
  /// Of the input's LLRs, and what an integer of 1 is.
  wb::llr_format llr_format() const noexcept { return format_; }
  float llr_scale() const noexcept { return scale_; }

  /// Items of a piece when one needs `item` bytes in each of two slots.
  std::size_t piece_of(std::size_t item) const;
  /// What a file that is written says about itself.
  wb::hdf5_attributes attributes() const;
  /// And what it says about its decoder.
  void add_decoder(wb::hdf5_attributes& a) const;
  /// The line at the end, and the record of --json.
  void report_code(const char* command, clock::time_point start, const nlohmann::ordered_json& extra,
                   const std::string& text) const;

 private:
  /// Format and scale of LLRs, and their shape.
  void settle_llrs();
  void settle_type();
  /// Options without a meaning for this code are refused.
  void check_meanings() const;
  /// What the file says of its code stands for options that are left out, and must agree with the others.
  void settle_settings();
  /// What the file says of a setting, "" where nothing.
  std::string said_of(const wb::setting_of<wb::box>& s) const;
  /// Words were checked: what is wrong now was given to this command.
  wb::code_config configured() const;
  /// k and n, from what is given and the array's shape.
  void settle_sizes(wb::code_config& config) const;
  [[noreturn]] void refuse(const wb::argument_error& e) const;

  const code_options& options_;
  const char* array_;
  bool decodes_;
  const wb::code_kind* kind_ = nullptr;
  wb::setting_values settings_;  // of the options and the file
  std::vector<std::size_t> shape_;
  wb::llr_format format_ = wb::llr_format::float32;
  float scale_ = 1.f;
  wb::code_config config_;  // in force
  std::unique_ptr<wb::codec> code_;
};

#endif

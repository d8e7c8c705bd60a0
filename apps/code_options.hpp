#pragma once
// Options of `warpband encode` and `decode`: which code, and how it is decoded.
#include <optional>
#include <string>
#include <vector>

#include <warpband/code/code_texts.hpp>

#include "arrays.hpp"

struct code_options : array_options {
  std::string code;                  // a name, or the file of a base matrix
  wb::setting_values settings;       // of the code and its decoder
  std::vector<std::string> options;  // that were given, "--rate"
  bool soft = false;
  bool packed = false;                   // decoded bits, eight in a byte
  std::optional<double> llr_scale = {};  // of integer LLRs; absent: that of the file, or 1
};

/// The codes of the command, and their names.
std::vector<const wb::code_kind*> coded_kinds();
std::vector<std::string> code_names();
/// Whether what was given as --code is the file of a base matrix.
bool is_matrix_file(const std::string& code);

/// "--early-stop" for "early_stop", "--code" for "type".
std::string option_of(const std::string& setting);

/// They write the output, or throw.
int run_encode(const code_options& options);
int run_decode(const code_options& options);

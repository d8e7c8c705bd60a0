#pragma once
// Options of `warpband encode` and `decode`: which code, and how it is decoded.
#include <array>
#include <string>
#include <vector>

#include <warpband/link/code_settings.hpp>

#include "arrays.hpp"

struct code_options : array_options {
  std::string code;                  // a name, or the file of a base matrix
  wb::code_settings settings;        // its type is that of `code`, or of the file
  std::vector<std::string> options;  // that were given, "--rate"
  bool soft = false;
};

/// The codes of the command.
inline constexpr std::array all_codes{wb::code_type::lte_turbo,  wb::code_type::lte_transport,
                                      wb::code_type::wimax_ldpc, wb::code_type::wifi_ldpc,
                                      wb::code_type::nr_ldpc,    wb::code_type::nr_dlsch,
                                      wb::code_type::nr_ulsch,   wb::code_type::qc_ldpc,
                                      wb::code_type::conv,       wb::code_type::polar};
std::vector<std::string> code_names();
/// Whether what was given as --code is the file of a base matrix.
bool is_matrix_file(const std::string& code);

/// "--early-stop" for "early_stop", "--code" for "type".
std::string option_of(const std::string& setting);

/// They write the output, or throw.
int run_encode(const code_options& options);
int run_decode(const code_options& options);

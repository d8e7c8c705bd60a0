#pragma once
// The settings of codes in tests: those of each family by reference, also for values that no setting allows.
#include <warpband/code/code_texts.hpp>
#include <warpband/code/conv.hpp>
#include <warpband/code/ctc.hpp>
#include <warpband/code/ctc_harq.hpp>
#include <warpband/code/dvb_s2.hpp>
#include <warpband/code/ldpc.hpp>
#include <warpband/code/lte_transport.hpp>
#include <warpband/code/nr.hpp>
#include <warpband/code/nr_transport.hpp>
#include <warpband/code/polar.hpp>
#include <warpband/code/sparse_ldpc.hpp>
#include <warpband/code/turbo.hpp>
#include <warpband/code/uncoded.hpp>

namespace wb::testing {

/// f of the first of these types that the settings have. Throws argument_error where they have none.
template <class T, class... More, class F>
decltype(auto) with_settings_of(code_config& c, F f) {
  if (c.settings.find<T>() != nullptr) return f(c.edit<T>());
  if constexpr (sizeof...(More) != 0)
    return with_settings_of<More...>(c, f);
  else
    throw argument_error("crc", "given", "none");
}
template <class Settings>
struct settings_in {
  Settings& operator()(code_config& c) const { return c.edit<Settings>(); }
  Settings operator()(const code_config& c) const { return c.get<Settings>(); }
};
inline constexpr settings_in<turbo_settings> turbo_in;
inline constexpr settings_in<ldpc_settings> ldpc_in;
inline constexpr settings_in<qc_ldpc_settings> qc_in;
inline constexpr settings_in<conv_settings> conv_in;
inline constexpr settings_in<polar_code_settings> polar_in;
inline constexpr settings_in<ctc_code_settings> ctc_in;

inline std::optional<crc_polynomial>& crc_in(code_config& c) {
  return with_settings_of<turbo_settings, ldpc_settings, qc_ldpc_settings, sparse_ldpc_code_settings,
                          dvb_s2_settings, nr_ldpc_settings, conv_settings, uncoded_settings>(
      c, [](auto& s) -> auto& { return s.crc; });
}
/// A member that may be absent: one to be given a value.
inline int& given(int& member) { return member; }
inline int& given(std::optional<int>& member) { return member ? *member : member.emplace(0); }
inline int& k_in(code_config& c) {
  if (c.settings.find<polar_code_settings>() != nullptr) return c.edit<polar_code_settings>().code.k;
  if (c.settings.find<ctc_code_settings>() != nullptr) return c.edit<ctc_code_settings>().code.k;
  if (is_transport(c))
    return with_settings_of<lte_transport_settings, nr_transport_settings, ctc_harq_settings>(
        c, [](auto& s) -> auto& { return s.transport_block_size; });
  return with_settings_of<turbo_settings, ldpc_settings, qc_ldpc_settings, sparse_ldpc_code_settings,
                          dvb_s2_settings, nr_ldpc_settings, conv_settings, uncoded_settings>(
      c, [](auto& s) -> auto& { return given(s.k); });
}
/// Leaves out k of a code that may.
inline void leave_out_k(code_config& c) {
  if (c.settings.find<ctc_code_settings>() != nullptr) {
    ctc_in(c).code.k = 0;
    return;
  }
  with_settings_of<turbo_settings, ldpc_settings, qc_ldpc_settings, sparse_ldpc_code_settings,
                   dvb_s2_settings, nr_ldpc_settings, conv_settings, uncoded_settings>(
      c, [](auto& s) { s.k = {}; });
}
inline int& n_in(code_config& c) {
  return with_settings_of<ldpc_settings, nr_ldpc_settings>(c, [](auto& s) -> auto& { return given(s.n); });
}
inline std::optional<int>& base_graph_in(code_config& c) {
  return with_settings_of<nr_ldpc_settings, nr_transport_settings>(
      c, [](auto& s) -> auto& { return s.base_graph; });
}
inline transport_settings& sent_in(code_config& c) {
  return with_settings_of<lte_transport_settings, nr_transport_settings, ctc_harq_settings>(
      c, [](auto& s) -> auto& { return s.sent; });
}
inline turbo_decoder_config& turbo_decoder_in(code_config& c) {
  return with_settings_of<turbo_settings, lte_transport_settings>(c,
                                                                  [](auto& s) -> auto& { return s.decoder; });
}
inline ldpc_decoder_config& ldpc_decoder_in(code_config& c) {
  return with_settings_of<ldpc_settings, qc_ldpc_settings, nr_ldpc_settings, nr_transport_settings>(
      c, [](auto& s) -> auto& { return s.decoder; });
}
// The same of what is not to be changed.
template <class F>
auto read(const code_config& c, F f) {
  code_config copy = c;
  return std::decay_t<decltype(f(copy))>(f(copy));
}
inline int k_in(const code_config& c) { return static_cast<int>(sizes_of(c).k); }
inline int n_in(const code_config& c) {
  return read(c, [](code_config& x) { return n_in(x); });
}
inline std::optional<int> base_graph_in(const code_config& c) {
  return read(c, [](code_config& x) { return base_graph_in(x); });
}
inline transport_settings sent_in(const code_config& c) {
  return read(c, [](code_config& x) { return sent_in(x); });
}
inline turbo_decoder_config turbo_decoder_in(const code_config& c) {
  return read(c, [](code_config& x) { return turbo_decoder_in(x); });
}
inline ldpc_decoder_config ldpc_decoder_in(const code_config& c) {
  return read(c, [](code_config& x) { return ldpc_decoder_in(x); });
}

}  // namespace wb::testing

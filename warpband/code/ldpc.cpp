#include <warpband/code/ldpc.hpp>

#include <algorithm>
#include <climits>
#include <filesystem>

#include <warpband/code/decoder_choices.hpp>
#include <warpband/code/matrix_file.hpp>
#include <warpband/code/nr.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/ldpc/ldpc_file.hpp>

namespace wb {
namespace {

/// What wimax-ldpc and wifi-ldpc differ in.
struct ldpc_standard {
  std::string name;
  std::vector<std::string> rates;
  int shortest, longest, step;
  ldpc_code (*code)(int n, int rate);
  std::string text, n_allowed, lengths;
};

const ldpc_standard& wimax() {
  static const ldpc_standard standard{
      "wimax-ldpc",
      {"1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6"},
      576,
      2304,
      96,
      [](int n, int rate) { return wimax_ldpc(n, static_cast<wimax_rate>(rate)); },
      "IEEE 802.16e: --n 576, 672, ... 2304, --rate 1/2 (default), 2/3A, 2/3B, 3/4A, 3/4B or 5/6",
      "an integer: 576 to 2304 in steps of 96",
      "n = 576, 672, ... 2304"};
  return standard;
}
const ldpc_standard& wifi() {
  static const ldpc_standard standard{
      "wifi-ldpc",
      {"1/2", "2/3", "3/4", "5/6"},
      648,
      1944,
      648,
      [](int n, int rate) { return wifi_ldpc(n, static_cast<wifi_rate>(rate)); },
      "IEEE 802.11n: --n 648, 1296 or 1944, --rate 1/2 (default), 2/3, 3/4 or 5/6",
      "an integer: 648, 1296 or 1944",
      "n = 648, 1296 or 1944"};
  return standard;
}

/// The rate's place among those of the standard.
int rate_index(const ldpc_standard& standard, const std::string& rate) {
  const auto i = std::find(standard.rates.begin(), standard.rates.end(), rate);
  if (i == standard.rates.end()) throw argument_error("rate", "\"" + rate + "\"", among(standard.rates));
  return static_cast<int>(i - standard.rates.begin());
}

ldpc_code code_of(const ldpc_standard& standard, const ldpc_settings& s) {
  return standard.code(s.n.value_or(standard.longest), rate_index(standard, s.rate));
}
/// The code of a file, which is read once.
ldpc_code code_of(const qc_ldpc_settings& s) {
  if (s.matrix) return *s.matrix;
  if (s.base_matrix.empty())
    throw argument_error("base_matrix", "\"\"", "a file: a list of shifts (CSV) or an alist");
  return read_ldpc_code((std::filesystem::path(s.folder) / s.base_matrix).string(),
                        s.lifting_size.value_or(0));
}
code_sizes sizes(const ldpc_code& code) {
  return {static_cast<std::size_t>(code.k()), static_cast<std::size_t>(code.n())};
}

template <class T>
setting_of<T> k_setting(const char* allowed, const char* text) {
  return integer("k", &T::k, 1, INT_MAX, text, allowed);
}
template <class T>
std::vector<setting_of<T>> of_decoder() {
  return within<T>([](T& s) -> ldpc_decoder_config& { return s.decoder; }, ldpc_decoder_settings());
}

std::vector<setting_of<ldpc_settings>> settings_of(const ldpc_standard& standard) {
  using c = ldpc_settings;
  std::vector<std::pair<std::string, std::string>> rates;
  for (const std::string& r : standard.rates) rates.emplace_back(r, r);
  return {k_setting<c>("an integer: that of n and rate", "Follows from n and the rate and may be left out."),
          integer("n", &c::n, 1, INT_MAX, "Bits of a codeword.", standard.n_allowed),
          words<c, std::string>("rate", &c::rate, rates, "Code rate."), crc_setting(&c::crc)};
}
std::vector<setting_of<qc_ldpc_settings>> of_file() {
  using c = qc_ldpc_settings;
  return {
      k_setting<c>("an integer: that of the base matrix",
                   "Follows from the base matrix and may be left out."),
      text("base_matrix", &c::base_matrix,
           "Path of a file with a quasi-cyclic parity-check matrix; a relative path starts at the scenario's "
           "folder. The file is CSV with a row of shifts in each line, -1 for a zero block, or alist.")
          .without_default(),
      integer_or_auto("lifting_size", &c::lifting_size, 1, 4096,
                      "z: size of the blocks. \"auto\": what the file says, in CSV by a comment \"# z = "
                      "27\"; with alist the largest z for which the matrix is quasi-cyclic.",
                      "1 to 4096"),
      crc_setting(&c::crc)};
}

template <class T>
void check_code(T& s, const ldpc_code& code, const std::string& given) {
  if (!s.k) s.k = code.k();
  if (s.k != code.k())
    throw argument_error(
        "k", std::to_string(*s.k),
        std::to_string(code.k()) + ", as n = " + std::to_string(code.n()) + " and " + given + " give");
  check(code, s.decoder, s.crc.has_value());
}
ldpc_settings complete(const ldpc_standard& standard, ldpc_settings s) {
  const ldpc_code code = code_of(standard, s);
  s.n = code.n();
  check_code(s, code, "rate " + s.rate);
  return s;
}
qc_ldpc_settings complete(qc_ldpc_settings s) {
  const ldpc_code code = code_of(s);
  if (!s.matrix) {
    s.matrix = std::make_shared<const ldpc_code>(code);
    s.lifting_size = code.z();
  }
  check_code(s, code, "its base matrix");
  return s;
}

class ldpc_codec final : public codec {
 public:
  ldpc_codec(const ldpc_code& code, const ldpc_decoder_config& decoder, std::optional<crc_polynomial> crc)
      : code_(code), encoder_(code_), decoder_(code_, decoder, as_ldpc_crc(crc)) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(code_.k()); }
  std::size_t n() const noexcept override { return static_cast<std::size_t>(code_.n()); }
  std::size_t thread_bytes(bool decodes) const noexcept override { return ldpc_thread_bytes(code_, decodes); }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    encoder_.run(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    check_optional_shape("bits", out.bits, llr.items, k());  // the decoder gives all n too
    check_optional_shape("soft", out.soft, llr.items, k());
    decoder_.run(exec, llr,
                 {.bits = out.bits,
                  .soft = out.soft,
                  .extrinsic = {},
                  .iterations = out.iterations,
                  .status = out.status});
  }

 private:
  ldpc_code code_;
  ldpc_encoder encoder_;
  ldpc_decoder decoder_;
};

class soft_ldpc final : public soft_decoder {
 public:
  soft_ldpc(const ldpc_code& code, const ldpc_decoder_config& config, std::optional<crc_polynomial> crc)
      : decoder_(code, config, as_ldpc_crc(crc)) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(decoder_.code().k()); }
  std::size_t n() const noexcept override { return static_cast<std::size_t>(decoder_.code().n()); }
  int most_iterations() const noexcept override { return decoder_.config().iterations; }
  std::size_t state_size() const noexcept override { return decoder_.state_values(); }
  bool stops_by_checks() const noexcept override {
    return decoder_.config().early_stop != ldpc_early_stop::none;
  }
  void run(executor& exec, view<const float> llr, const soft_decoder_state& state,
           const soft_decoder_output& out) const override {
    check_optional_shape("bits", out.bits, llr.items, k());
    check_optional_shape("extrinsic", out.extrinsic, llr.items, n());
    check_optional_shape("state", state.values, llr.items, state_size());
    decoder_.run(exec, llr,
                 {.bits = out.bits,
                  .soft = {},
                  .extrinsic = out.extrinsic,
                  .messages = {},
                  .state = state.values,
                  .reads_messages = !state.fresh,
                  .writes_messages = !state.last,
                  .iterations = out.iterations,
                  .status = out.status});
  }

 private:
  ldpc_decoder decoder_;
};

named_values describe(const box& b) {
  const auto& s = b.get<qc_ldpc_settings>();
  const ldpc_code code = code_of(s);
  std::vector<std::int32_t> numbers{code.z(), code.rows(), code.columns()};
  numbers.insert(numbers.end(), code.matrix().shifts.begin(), code.matrix().shifts.end());
  return described_matrix("qc-ldpc", b, sizes(code), s.crc, numbers);
}

std::optional<std::size_t> k_of(const ldpc_standard& standard, ldpc_settings s, std::size_t n) {
  if (n == 0 || n > static_cast<std::size_t>(standard.longest)) return std::nullopt;
  s.n = static_cast<int>(n);
  (void)rate_index(standard, s.rate);
  try {
    return sizes(code_of(standard, s)).k;
  } catch (const argument_error&) {
    return std::nullopt;
  }
}

/// n is that of the rows, unless it is given.
ldpc_settings fit(const ldpc_standard& standard, ldpc_settings s, const code_rows& rows) {
  const auto fits = [&](const code_sizes& z) { return rows.values == (rows.decodes ? z.n : z.k); };
  if (!rows.has("n")) {
    s.n.reset();
    for (int n = standard.shortest; n <= standard.longest; n += standard.step) {
      ldpc_settings other = s;
      other.n = n;
      if (fits(sizes(code_of(standard, other)))) s.n = n;
    }
    if (!s.n)
      rows.refuse(rows.decodes
                      ? "[batch, n] with " + standard.lengths
                      : "[batch, k] with the k of a code of rate " + s.rate + ", " + standard.lengths);
  }
  const code_sizes found = sizes(code_of(standard, s));
  if (!fits(found))
    rows.refuse("[batch, " + std::to_string(rows.decodes ? found.n : found.k) +
                "] for n = " + std::to_string(found.n) + ", rate " + s.rate);
  if (!rows.has("k")) s.k = static_cast<int>(found.k);
  return s;
}

code_kind kind_of(const ldpc_standard& standard) {
  const auto s = [](const box& b) -> const ldpc_settings& { return b.get<ldpc_settings>(); };
  return {
      .name = standard.name,
      .text = standard.text,
      .settings = code_and_decoder(settings_of(standard), of_decoder<ldpc_settings>()),
      .initial = box(ldpc_settings{.n = standard.longest}),
      .complete = [=, &standard](const box& b) { return box(complete(standard, s(b))); },
      .sizes = [=, &standard](const box& b) { return sizes(code_of(standard, s(b))); },
      .make = [=, &standard](const box& b) -> std::unique_ptr<codec> {
        return std::make_unique<ldpc_codec>(code_of(standard, s(b)), s(b).decoder, s(b).crc);
      },
      .k_of = [=, &standard](const box& b, std::size_t n) { return k_of(standard, s(b), n); },
      .crc = [=](const box& b) { return s(b).crc; },
      .make_soft =
          [=, &standard](const box& b) {
            return make_soft_ldpc(code_of(standard, s(b)), s(b).decoder, s(b).crc);
          },
      .k_follows_from = {"n", "rate"},
      .candidates =
          [=](const box& b, bool on_device) {
            return with_decoders(s(b), ldpc_candidates(s(b).decoder, on_device));
          },
      .fit = [=, &standard](const box& b, const code_rows& rows) { return box(fit(standard, s(b), rows)); }};
}

}  // namespace

std::size_t ldpc_thread_bytes(const ldpc_code& code, bool decodes) {
  constexpr std::size_t widest = 16;  // values in a lane of any instruction set
  // A bit of each of a lane's codewords; or of one codeword A twice in padded columns, and its messages.
  const auto columns = static_cast<std::size_t>(code.columns()),
             blocks = static_cast<std::size_t>(code.blocks()), z = static_cast<std::size_t>(code.z());
  return sizeof(float) * (decodes ? 2 * columns * (2 * z + 64) + (blocks + columns) * (z + 32)
                                  : widest * (columns + blocks) * z);
}

std::vector<ldpc_decoder_config> ldpc_candidates(const ldpc_decoder_config& base, bool on_device) {
  std::vector<ldpc_decoder_config> decoders{base};
  const auto add = [&](ldpc_algorithm algorithm, ldpc_precision precision) {
    decoders.push_back(base);
    decoders.back().algorithm = algorithm;
    decoders.back().precision = precision;
  };
  add(ldpc_algorithm::normalised_min_sum, ldpc_precision::int8);
  add(ldpc_algorithm::normalised_min_sum, ldpc_precision::float32);
  add(ldpc_algorithm::sum_product, ldpc_precision::float32);
  if (on_device) add(ldpc_algorithm::normalised_min_sum, ldpc_precision::float16);
  return with_iterations_of(decoders, {4, 6, 8, 10, 15, 20, 30});
}

std::unique_ptr<soft_decoder> make_soft_ldpc(const ldpc_code& code, const ldpc_decoder_config& config,
                                             std::optional<crc_polynomial> crc) {
  return std::make_unique<soft_ldpc>(code, config, crc);
}

ldpc_code ldpc_code_of(const code_config& c) {
  if (const auto* nr = c.settings.find<nr_ldpc_settings>()) return nr_code_of(*nr);
  if (const auto* file = c.settings.find<qc_ldpc_settings>()) return code_of(*file);
  return code_of(c.type == wifi().name ? wifi() : wimax(), c.get<ldpc_settings>());
}

code_kind wimax_ldpc_kind() { return kind_of(wimax()); }
code_kind wifi_ldpc_kind() { return kind_of(wifi()); }
code_kind qc_ldpc_kind() {
  const auto s = [](const box& b) -> const qc_ldpc_settings& { return b.get<qc_ldpc_settings>(); };
  return {.name = "qc-ldpc",
          .text =
              "a base matrix from a file, CSV of shifts or alist: --base-matrix FILE, --lifting-size; the "
              "same is --code FILE with a name that ends in .csv, .alist or .txt",
          .settings = code_and_decoder(of_file(), of_decoder<qc_ldpc_settings>()),
          .initial = box(qc_ldpc_settings{}),
          .complete = [=](const box& b) { return box(complete(s(b))); },
          .sizes = [=](const box& b) { return sizes(code_of(s(b))); },
          .make = [=](const box& b) -> std::unique_ptr<codec> {
            return std::make_unique<ldpc_codec>(code_of(s(b)), s(b).decoder, s(b).crc);
          },
          .k_of = [=](const box& b, std::size_t n) { return k_of_matrix(sizes(code_of(s(b))), n); },
          .crc = [=](const box& b) { return s(b).crc; },
          .make_soft = [=](const box& b) { return make_soft_ldpc(code_of(s(b)), s(b).decoder, s(b).crc); },
          .in_folder =
              [=](const box& b, const std::string& folder) {
                qc_ldpc_settings moved = s(b);
                moved.folder = folder;
                return box(moved);
              },
          .k_follows_from = {"base_matrix"},
          .candidates =
              [=](const box& b, bool on_device) {
                return with_decoders(s(b), ldpc_candidates(s(b).decoder, on_device));
              },
          .described = describe,
          .fit =
              [=](const box& b, const code_rows& rows) {
                return fit_matrix(b, sizes(code_of(s(b))), rows, "n of the base matrix",
                                  "k of the base matrix");
              }};
}

}  // namespace wb

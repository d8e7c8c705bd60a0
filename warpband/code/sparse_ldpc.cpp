#include <warpband/code/sparse_ldpc.hpp>

#include <climits>

#include <warpband/code/decoder_choices.hpp>
#include <warpband/code/matrix_file.hpp>
#include <warpband/core/check.hpp>
#include <warpband/fec/sparse_ldpc/standard_matrix.hpp>

namespace wb {
namespace {

using settings = sparse_ldpc_code_settings;

/// The matrix of a standard, or of a file, which is read once.
parity_check_matrix matrix_of(const settings& s) {
  if (s.read) return *s.read;
  if (s.matrix.empty())
    throw argument_error("matrix", "\"\"",
                         "a name such as ccsds/tc-128, or a file: an alist, or AFF3CT's QC format");
  return parity_check_matrix_of(s.matrix, s.folder, {.punctured = s.punctured, .shortened = s.shortened});
}
code_sizes sizes(const parity_check_matrix& h) {
  return {static_cast<std::size_t>(h.k()), static_cast<std::size_t>(h.sent())};
}

std::vector<setting_of<settings>> of_code() {
  using c = settings;
  const char* const columns = "a list of columns of the matrix, from 0";
  return {
      integer("k", &c::k, 1, INT_MAX, "Follows from the matrix and may be left out.",
              "an integer: n of the matrix less its rank and shortened columns"),
      text(
          "matrix", &c::matrix,
          "Path of a file with a sparse parity-check matrix, an alist or AFF3CT's QC format; a relative path "
          "starts at the scenario's folder. Or the name of a standard's matrix: ccsds/ar4ja-1024-1/2, "
          "ccsds/c2-8160, ccsds/tc-128, dvb-s2/normal-1/2 and others.")
          .without_default(),
      integers("punctured", &c::punctured, 0, (1 << 20) - 1,
               "Columns that are not sent. The decoder begins with LLR 0 for their bits.", columns),
      integers("shortened", &c::shortened, 0, (1 << 20) - 1,
               "Columns that are not sent, as their bits are 0.", columns),
      crc_setting(&c::crc)};
}
std::vector<setting_of<settings>> of_decoder() {
  return within<settings>([](settings& s) -> sparse_ldpc_config& { return s.decoder; },
                          sparse_ldpc_settings());
}

settings complete(settings s) {
  const parity_check_matrix h = matrix_of(s);
  if (!s.read) s.read = std::make_shared<const parity_check_matrix>(h);
  if (!s.k) s.k = h.k();
  if (s.k != h.k())
    throw argument_error("k", std::to_string(*s.k),
                         std::to_string(h.k()) + ", as n = " + std::to_string(h.n()) + ", " +
                             std::to_string(h.parity_columns().size()) + " parity columns and " +
                             std::to_string(h.shortened().size()) + " shortened ones give");
  if (h.k() == 0) throw argument_error("matrix", "\"" + s.matrix + "\"", "one of a rank below its columns");
  check_settings(sparse_ldpc_settings(), s.decoder);
  return s;
}

class sparse_ldpc_codec final : public codec {
 public:
  sparse_ldpc_codec(const parity_check_matrix& h, const sparse_ldpc_config& config)
      : encoder_(h), decoder_(h, config) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(decoder_.matrix().k()); }
  std::size_t n() const noexcept override { return static_cast<std::size_t>(decoder_.matrix().sent()); }
  std::size_t thread_bytes(bool decodes) const noexcept override {
    return sparse_ldpc_thread_bytes(decoder_.matrix(), decodes);
  }
  void encode(executor& exec, view<const std::uint8_t> bits, view<std::uint8_t> coded) const override {
    encoder_.run(exec, bits, coded);
  }
  void decode(executor& exec, view<const float> llr, const decoder_output& out) const override {
    check_optional_shape("bits", out.bits, llr.items, k());  // the decoder gives all n too
    check_optional_shape("soft", out.soft, llr.items, k());
    decoder_.run(exec, llr,
                 {.bits = out.bits, .soft = out.soft, .iterations = out.iterations, .status = out.status});
  }

 private:
  sparse_ldpc_encoder encoder_;
  sparse_ldpc_decoder decoder_;
};

class soft_sparse_ldpc final : public soft_decoder {
 public:
  soft_sparse_ldpc(const parity_check_matrix& h, const sparse_ldpc_config& config) : decoder_(h, config) {}
  std::size_t k() const noexcept override { return static_cast<std::size_t>(decoder_.matrix().k()); }
  std::size_t n() const noexcept override { return static_cast<std::size_t>(decoder_.matrix().sent()); }
  int most_iterations() const noexcept override { return decoder_.config().iterations; }
  bool stops_by_checks() const noexcept override { return true; }
  void run(executor& exec, view<const float> llr, const soft_decoder_state&,
           const soft_decoder_output& out) const override {
    check_optional_shape("bits", out.bits, llr.items, k());
    check_optional_shape("extrinsic", out.extrinsic, llr.items, n());
    decoder_.run(
        exec, llr,
        {.bits = out.bits, .extrinsic = out.extrinsic, .iterations = out.iterations, .status = out.status});
  }

 private:
  sparse_ldpc_decoder decoder_;
};

/// All that the code follows from.
std::vector<std::int32_t> numbers_of(const parity_check_matrix& h) {
  std::vector<std::int32_t> numbers{h.n(), h.checks()};
  for (const auto* rows : {&h.rows(), &h.encoder_rows()})
    for (const auto& row : *rows) {
      numbers.push_back(static_cast<std::int32_t>(row.size()));
      numbers.insert(numbers.end(), row.begin(), row.end());
    }
  for (const auto* columns : {&h.punctured(), &h.shortened()}) {
    numbers.push_back(static_cast<std::int32_t>(columns->size()));
    numbers.insert(numbers.end(), columns->begin(), columns->end());
  }
  return numbers;
}

named_values describe(const box& b) {
  const auto& s = b.get<settings>();
  const parity_check_matrix h = matrix_of(s);
  return described_matrix("ldpc", b, sizes(h), s.crc, numbers_of(h));
}

std::vector<sparse_ldpc_config> candidates(const sparse_ldpc_config& base) {
  std::vector<sparse_ldpc_config> decoders(3, base);
  decoders[1].algorithm = ldpc_algorithm::normalised_min_sum;
  decoders[2].algorithm = ldpc_algorithm::sum_product;
  return with_iterations_of(decoders, {5, 10, 20, 30, 50});
}

}  // namespace

std::size_t sparse_ldpc_thread_bytes(const parity_check_matrix& h, bool decodes) {
  constexpr std::size_t widest = 16;  // values in a lane of any instruction set
  const auto columns = static_cast<std::size_t>(h.n()), checks = static_cast<std::size_t>(h.checks());
  return sizeof(float) * widest * (decodes ? 3 * columns + 2 * checks + h.ones() : 2 * columns);
}

code_kind sparse_ldpc_kind() {
  const auto s = [](const box& b) -> const settings& { return b.get<settings>(); };
  return {
      .name = "ldpc",
      .text =
          "any sparse parity-check matrix: --matrix FILE, an alist or AFF3CT's QC format, or a name such as "
          "ccsds/ar4ja-1024-1/2 or dvb-s2/normal-1/2; --punctured and --shortened columns",
      .settings = code_and_decoder(of_code(), of_decoder()),
      .initial = box(settings{}),
      .complete = [=](const box& b) { return box(complete(s(b))); },
      .sizes = [=](const box& b) { return sizes(matrix_of(s(b))); },
      .make = [=](const box& b) -> std::unique_ptr<codec> {
        return std::make_unique<sparse_ldpc_codec>(matrix_of(s(b)), s(b).decoder);
      },
      .k_of = [=](const box& b, std::size_t n) { return k_of_matrix(sizes(matrix_of(s(b))), n); },
      .crc = [=](const box& b) { return s(b).crc; },
      .make_soft = [=](const box& b) -> std::unique_ptr<soft_decoder> {
        return std::make_unique<soft_sparse_ldpc>(matrix_of(s(b)), s(b).decoder);
      },
      .in_folder =
          [=](const box& b, const std::string& folder) {
            settings moved = s(b);
            moved.folder = folder;
            return box(moved);
          },
      .k_follows_from = {"matrix", "shortened"},
      .candidates = [=](const box& b, bool) { return with_decoders(s(b), candidates(s(b).decoder)); },
      .described = describe,
      .fit =
          [=](const box& b, const code_rows& rows) {
            return fit_matrix(b, sizes(matrix_of(s(b))), rows, "bits that are sent of a codeword",
                              "information bits of the matrix");
          }};
}

}  // namespace wb

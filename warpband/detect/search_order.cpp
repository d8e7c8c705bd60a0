#include <warpband/detect/search_order.hpp>

#include <algorithm>
#include <numeric>

#include <warpband/core/error.hpp>

namespace wb {
namespace {

/// Throws argument_error for none of the words.
const std::string& name_of(stream_sort sort) {
  const auto number = static_cast<int>(sort);
  if (number < 0 || static_cast<std::size_t>(number) >= stream_sorts().size())
    throw argument_error("sort", std::to_string(number), "none, norm, norm-ascending, sqrd or fsd");
  return stream_sorts()[static_cast<std::size_t>(number)].first;
}

}  // namespace

const std::vector<std::pair<std::string, stream_sort>>& stream_sorts() {
  static const std::vector<std::pair<std::string, stream_sort>> sorts{
      {"none", stream_sort::none},
      {"norm", stream_sort::norm},
      {"norm-ascending", stream_sort::norm_ascending},
      {"sqrd", stream_sort::sqrd},
      {"fsd", stream_sort::fsd}};
  return sorts;
}

const std::vector<setting_of<search_order>>& search_order_settings() {
  using c = search_order;
  static const std::vector<setting_of<c>> settings{
      integers(
          "order", &c::order, 0, 7,
          "The search sees the columns of H in this order. ot, mtt, kbest and sphere begin with the last "
          "stream of the list and end with the first. Pass p of nway has entry p at the top of the tree. "
          "Below "
          "it are the entries before it, cyclically. Left out: 0, 1, 2, ...",
          "a list with each of 0 to streams - 1 once")
          .only_with("sort", {"none"}),
      words(
          "sort", &c::sort, stream_sorts(),
          "Sort the streams of each use instead of `order`: by falling or rising norm of their columns of H, "
          "or as a sorted QR decomposition takes them. With norm kbest and sphere begin with the weakest "
          "stream, as Sionna's kbest does; with norm-ascending and sqrd with the strongest. fsd, of nway "
          "alone, goes by noise amplification: a level that keeps all points takes the stream of the "
          "largest, any other that of the least.")
          .left_out_by_default()};
  return settings;
}

search_order completed(const search_order& s, int streams, bool has_full_levels) {
  std::vector<int> columns(static_cast<std::size_t>(streams));
  std::iota(columns.begin(), columns.end(), 0);
  if (!s.order.empty() &&
      !std::is_permutation(s.order.begin(), s.order.end(), columns.begin(), columns.end()))
    throw argument_error(
        "order", text_of_order(s.order),
        streams == 1 ? "0, the one stream" : "each of 0 to " + std::to_string(streams - 1) + " once");
  const std::string& sort = name_of(s.sort);
  if (s.sort == stream_sort::fsd && !has_full_levels)
    throw argument_error("sort", sort, "none, norm, norm-ascending or sqrd: fsd is of nway alone");
  if (s.sort != stream_sort::none && !s.order.empty())
    throw argument_error("order", text_of_order(s.order), "unset with sort = " + sort);
  return {s.order == columns ? std::vector<int>{} : s.order, s.sort};
}

void set_order(search_args& call, const search_order& s) {
  static_assert(sort_none == static_cast<int>(stream_sort::none) &&
                sort_falling == static_cast<int>(stream_sort::norm) &&
                sort_rising == static_cast<int>(stream_sort::norm_ascending) &&
                sort_by_qr == static_cast<int>(stream_sort::sqrd) &&
                sort_fsd == static_cast<int>(stream_sort::fsd));
  call.sort = static_cast<int>(s.sort);
  if (s.order.empty()) return;
  call.order = 0;
  for (std::size_t k = 0; k < s.order.size(); k++)
    call.order |= static_cast<std::uint32_t>(s.order[k]) << 4 * k;
}

std::string text_of_order(const std::vector<int>& order) {
  std::string text;
  for (const int stream : order) text += (text.empty() ? "" : ",") + std::to_string(stream);
  return text;
}

}  // namespace wb

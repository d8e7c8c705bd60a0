#include <warpband/massive/massive.hpp>

namespace wb {

const char* name_of(massive_mode mode) noexcept {
  switch (mode) {
    case massive_mode::cholesky:
      return "cholesky";
    case massive_mode::cg:
      return "cg";
    case massive_mode::jacobi_cg:
      return "jacobi_cg";
    case massive_mode::zf:
      return "zf";
    case massive_mode::mf:
      return "mf";
  }
  return "other";
}

}  // namespace wb

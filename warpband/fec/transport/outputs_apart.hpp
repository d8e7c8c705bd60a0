#pragma once
// Results of a transport decoder must not share memory.
#include <warpband/core/overlap.hpp>

namespace wb {

/// Throws shape_error where two outputs of a transport decoder overlap.
template <class Output>
void check_outputs_apart(const Output& out) {
  view<float> extrinsic;  // of some decoders
  if constexpr (requires { out.extrinsic; }) extrinsic = out.extrinsic;
  check_apart({{"bits", out.bits},
               {"ok", out.ok},
               {"block_ok", out.block_ok},
               {"iterations", out.iterations},
               {"status", out.status},
               {"extrinsic", extrinsic}});
}

}  // namespace wb

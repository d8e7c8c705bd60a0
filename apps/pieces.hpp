#pragma once
// Batches that are larger than memory, in pieces: while one is computed, the one before is written and the
// next is read. Two slots of buffers suffice, because the slot whose results are written is the one that is
// read into next.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <future>

/// Items [first, first + items) of a batch, in slot 0 or 1.
struct piece {
  int slot = 0;
  std::size_t first = 0, items = 0;
};

/// What to do with a piece. `read` and `write` are called from another thread than `compute`, never both at
/// once; what they throw ends the run.
struct piece_steps {
  std::function<void(const piece&)> read, compute, write;
  std::function<void(std::size_t items)> finished;  // so many items are computed
};

/// Runs all pieces of a batch in order. At least one item a piece.
inline void run_pieces(std::size_t items, std::size_t most, const piece_steps& steps) {
  if (items == 0) return;
  const auto at = [&](std::size_t i) {
    return piece{static_cast<int>(i % 2), i * most, std::min(most, items - i * most)};
  };
  const std::size_t pieces = (items + most - 1) / most;
  steps.read(at(0));
  for (std::size_t i = 0; i < pieces; i++) {
    auto files = std::async(std::launch::async, [&, i] {
      if (i > 0) steps.write(at(i - 1));
      if (i + 1 < pieces) steps.read(at(i + 1));
    });
    steps.compute(at(i));  // if it throws, the destructor of `files` waits
    files.get();
    if (steps.finished) steps.finished(at(i).first + at(i).items);
  }
  steps.write(at(pieces - 1));
}

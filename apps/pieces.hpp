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
inline void run_pieces(std::size_t items, std::size_t max_piece, const piece_steps& steps) {
  if (items == 0) return;
  const auto piece_at = [&](std::size_t i) {
    return piece{static_cast<int>(i % 2), i * max_piece, std::min(max_piece, items - i * max_piece)};
  };
  const std::size_t pieces = (items + max_piece - 1) / max_piece;
  steps.read(piece_at(0));
  for (std::size_t i = 0; i < pieces; i++) {
    auto files = std::async(std::launch::async, [&, i] {
      if (i > 0) steps.write(piece_at(i - 1));
      if (i + 1 < pieces) steps.read(piece_at(i + 1));
    });
    steps.compute(piece_at(i));  // if it throws, the destructor of `files` waits
    files.get();
    if (steps.finished) steps.finished(piece_at(i).first + piece_at(i).items);
  }
  steps.write(piece_at(pieces - 1));
}

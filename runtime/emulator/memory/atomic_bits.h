// Arrays of bits that several threads set at once: which bytes were written, which sectors touched.
//
// Relaxed atomics: a bit is a fact of its own and orders nothing. A word whose bits are set already
// is only read, so that threads that share a sector do not take its cache line from each other.
#ifndef STAX_RUNTIME_EMULATOR_MEMORY_ATOMIC_BITS_H_
#define STAX_RUNTIME_EMULATOR_MEMORY_ATOMIC_BITS_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace stax::emulator {

class AtomicBits {
 public:
  static constexpr int kWordBits = 64;

  AtomicBits() = default;
  // All zero; memory that is not used costs nothing.
  explicit AtomicBits(uint64_t bits)
      : words_(static_cast<uint64_t*>(calloc(bits / kWordBits + 1, sizeof(uint64_t)))) {}

  // Whether the bits [first, first + count) are set.
  bool AllSet(uint64_t first, uint64_t count) const {
    for (Piece piece(first, count); piece.bits != 0; piece.Next()) {
      uint64_t word = __atomic_load_n(&words_[piece.word], __ATOMIC_RELAXED);
      if ((word & piece.bits) != piece.bits) return false;
    }
    return true;
  }

  bool Test(uint64_t bit) const { return AllSet(bit, 1); }

  void Set(uint64_t first, uint64_t count) {
    for (Piece piece(first, count); piece.bits != 0; piece.Next()) {
      uint64_t* word = &words_[piece.word];
      if ((__atomic_load_n(word, __ATOMIC_RELAXED) & piece.bits) == piece.bits) continue;
      __atomic_fetch_or(word, piece.bits, __ATOMIC_RELAXED);
    }
  }

  // The same where no other thread is at the bits.
  void SetAlone(uint64_t first, uint64_t count) {
    for (Piece piece(first, count); piece.bits != 0; piece.Next()) words_[piece.word] |= piece.bits;
  }

  void ClearAlone(uint64_t bits) { std::fill_n(words_.get(), bits / kWordBits + 1, 0); }

  uint64_t Word(uint64_t word) const { return __atomic_load_n(&words_[word], __ATOMIC_RELAXED); }

 private:
  // The bits of a range that lie in one word.
  struct Piece {
    uint64_t word;
    uint64_t bits = 0;
    uint64_t left;  // of the range, after this word

    Piece(uint64_t first, uint64_t count) : word(first / kWordBits) {
      uint64_t offset = first % kWordBits;
      uint64_t here = std::min(count, kWordBits - offset);
      left = count - here;
      if (here != 0) bits = ~uint64_t{0} >> (kWordBits - here) << offset;
    }
    void Next() {
      ++word;
      uint64_t here = std::min<uint64_t>(left, kWordBits);
      left -= here;
      bits = here == 0 ? 0 : ~uint64_t{0} >> (kWordBits - here);
    }
  };

  struct Freer {
    void operator()(uint64_t* words) const { free(words); }
  };
  std::unique_ptr<uint64_t[], Freer> words_;
};

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_MEMORY_ATOMIC_BITS_H_

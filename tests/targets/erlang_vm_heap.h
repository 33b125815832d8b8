// SPDX-License-Identifier: BSD-2-Clause
//
// The heap of a process: words, and a copying collector.
//
// An object is a header, which has the number of words that follow, and these words. A word is a small
// integer (odd), or the place of an object on the same heap (even). Objects are immutable, so they refer only
// to older ones. So a minor collection need not look at objects that have survived an earlier one: none of
// them refers to a younger one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

using Word = uint64_t;

constexpr Word small(uint64_t number) { return number << 1 | 1; }
constexpr bool is_small(Word word) { return word & 1; }
constexpr uint64_t value_of(Word word) { return word >> 1; }

class Heap {
 public:
  explicit Heap(size_t capacity) : capacity_(capacity) {}

  bool has_room(size_t words) const { return words_.size() + words <= capacity_; }
  void grow() { capacity_ *= 2; }
  std::span<const Word> object(Word reference) const {
    const size_t at = value_of(reference);
    return {&words_[at + 1], value_of(words_[at])};
  }

  // There must be room. References in the words must be to this heap.
  Word make(std::span<const Word> words) {
    const size_t at = words_.size();
    words_.push_back(small(words.size()));
    words_.insert(words_.end(), words.begin(), words.end());
    return at << 1;
  }

  // Both keep what the roots reach, update the roots, and return how many words were reclaimed.
  size_t collect_young(std::span<Word> roots) { return collect(old_, roots); }
  size_t collect_all(std::span<Word> roots) { return collect(0, roots); }

 private:
  size_t collect(size_t from, std::span<Word> roots) {
    const size_t before = words_.size();
    std::vector<Word> kept;
    for (Word& root : roots) root = moved(root, from, kept);
    for (size_t at = 0; at < kept.size();) {
      const size_t end = at + 1 + value_of(kept[at]);
      while (++at < end) {
        const Word word = moved(kept[at], from, kept);  // may move the vector
        kept[at] = word;
      }
    }
    words_.resize(from);
    words_.insert(words_.end(), kept.begin(), kept.end());
    old_ = words_.size();
    return before - old_;
  }

  // Where the object will be; its header then has this place for later references.
  Word moved(Word word, size_t from, std::vector<Word>& kept) {
    if (is_small(word) || value_of(word) < from) return word;
    Word& header = words_[value_of(word)];
    if (!is_small(header)) return header;
    const Word place = (from + kept.size()) << 1;
    const auto object = words_.begin() + ptrdiff_t(value_of(word));
    kept.insert(kept.end(), object, object + ptrdiff_t(1 + value_of(header)));
    return header = place;
  }

  std::vector<Word> words_;
  size_t capacity_;
  size_t old_ = 0;  // objects below it have survived a collection
};

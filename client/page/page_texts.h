// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tracectl {

// Texts by number, without duplicates; 0 is the empty text.
class PageTexts {
 public:
  static constexpr size_t kLongest = 1024;  // bytes; longer texts are cut off, and end with kCut
  static constexpr std::string_view kCut = "...";

  explicit PageTexts(size_t most_bytes);
  // Its lookup table refers to it.
  PageTexts(const PageTexts&) = delete;
  PageTexts& operator=(const PageTexts&) = delete;

  // 0 if the text does not fit; such texts are counted.
  uint32_t number_of(std::string_view text);

  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t number) const;
  const std::string& bytes() const { return bytes_; }  // all texts, one after another
  uint64_t left_out() const { return left_out_; }
  uint64_t cut() const { return cut_; }

 private:
  // Looks texts up by number or by content, so that no text is stored twice.
  struct Hash {
    using is_transparent = void;
    const PageTexts* texts;
    size_t operator()(uint32_t number) const { return (*this)((*texts)[number]); }
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Equal {
    using is_transparent = void;
    const PageTexts* texts;
    std::string_view text(uint32_t number) const { return (*texts)[number]; }
    static std::string_view text(std::string_view text) { return text; }
    bool operator()(const auto& a, const auto& b) const { return text(a) == text(b); }
  };

  uint32_t number_of_fitting(std::string_view text, bool is_cut);

  const size_t most_bytes_;
  std::string bytes_;
  std::vector<uint32_t> ends_;
  std::unordered_set<uint32_t, Hash, Equal> numbers_;
  uint64_t left_out_ = 0;
  uint64_t cut_ = 0;  // of those that are kept
};

}  // namespace tracectl

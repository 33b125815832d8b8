// SPDX-License-Identifier: BSD-2-Clause
#include "client/page/page_texts.h"

namespace tracectl {

PageTexts::PageTexts(size_t most_bytes)
    : most_bytes_(most_bytes), numbers_(0, Hash{this}, Equal{this}) {
  ends_.push_back(0);
  numbers_.insert(0);
}

std::string_view PageTexts::operator[](size_t number) const {
  const size_t begin = number ? ends_[number - 1] : 0;
  return std::string_view(bytes_).substr(begin, ends_[number] - begin);
}

uint32_t PageTexts::number_of(std::string_view text) {
  if (text.size() <= kLongest) return number_of_fitting(text, false);
  std::string beginning(text.substr(0, kLongest - kCut.size()));
  return number_of_fitting(beginning += kCut, true);
}

uint32_t PageTexts::number_of_fitting(std::string_view text, bool is_cut) {
  if (const auto known = numbers_.find(text); known != numbers_.end()) return *known;
  if (bytes_.size() + text.size() > most_bytes_) return ++left_out_, 0;
  bytes_ += text;
  cut_ += is_cut;
  ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  const auto number = static_cast<uint32_t>(ends_.size() - 1);
  numbers_.insert(number);
  return number;
}

}  // namespace tracectl

// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/options.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tracectl::generator {
namespace {

constexpr std::array<std::string_view, 6> kIgnored{"-32",   "-64",     "-fpic",
                                                   "-fPIC", "--types", "--no-pyparsing"};

Error bad_usage(const std::string& message) {
  return {Code::invalid, message + "; see tracectl-usdt --help"};
}

class Reader {
 public:
  explicit Reader(const std::vector<std::string>& words) : words_(words) {}

  Result<Options> run() {
    for (; next_ < words_.size(); next_++)
      if (auto taken = take(words_[next_]); !taken) return taken.error();
    if (is_answered_) return options_;
    return complete();
  }

 private:
  Status take(const std::string& word) {
    if (word == "--help") return answer(Options::Action::help);
    if (word == "--version") return answer(Options::Action::version);
    if (std::find(kIgnored.begin(), kIgnored.end(), word) != kIgnored.end()) return ok();
    if (word.size() < 2 || word[0] != '-') return ok();  // an object for -G
    if (word[1] == '-') return bad_usage("there is no option " + word);
    return take_letters(word);
  }

  Status answer(Options::Action action) {
    if (!is_answered_) options_.action = action;
    is_answered_ = true;
    return ok();
  }

  // -h, -hs FILE, -sFILE.
  Status take_letters(const std::string& word) {
    for (size_t i = 1; i < word.size(); i++) {
      const char letter = word[i];
      if (takes_value(letter)) return take_value(letter, word.substr(i + 1));
      if (!take_flag(letter))
        return bad_usage(std::string{"there is no option -"} + letter +
                         (word.size() > 2 ? " as in " + word : ""));
    }
    return ok();
  }

  static bool takes_value(char letter) {
    return std::string_view{"soIDUx"}.find(letter) != std::string_view::npos;
  }

  bool take_flag(char letter) {
    switch (letter) {
      case 'h': is_header_ = true; return true;
      case 'G': is_object_ = true; return true;
      case 'C': options_.is_preprocessed = true; return true;
      case 'V': return static_cast<bool>(answer(Options::Action::version));
      case 'k':
      case 'q':
      case 'v':
      case 'w':
      case 'Z': return true;
      default: return false;
    }
  }

  Status take_value(char letter, std::string value) {
    const std::string option{'-', letter};
    if (value.empty()) {
      if (next_ + 1 == words_.size()) return bad_usage(option + " needs a value");
      value = words_[++next_];
    }
    if (letter == 's') options_.input = value;
    if (letter == 'o') options_.output = value;
    if (letter == 'I' || letter == 'D' || letter == 'U')
      options_.preprocessor.push_back(option + value);
    return ok();
  }

  Result<Options> complete() {
    if (is_header_ == is_object_)
      return bad_usage("one of -h, to make a header, and -G, to make an object file, is needed");
    if (options_.input.empty()) return bad_usage("-s FILE is needed: the provider file");
    options_.action = is_header_ ? Options::Action::header : Options::Action::object;
    if (options_.output.empty()) options_.output = default_output();
    return options_;
  }

  // In the current folder: FILE.h or FILE.o.
  std::string default_output() const {
    std::string name = options_.input.substr(options_.input.rfind('/') + 1);
    const size_t dot = name.rfind('.');
    if (dot != name.npos && dot != 0) name.resize(dot);
    return name + (is_header_ ? ".h" : ".o");
  }

  const std::vector<std::string>& words_;
  size_t next_ = 0;
  Options options_;
  bool is_header_ = false;
  bool is_object_ = false;
  bool is_answered_ = false;
};

}  // namespace

Result<Options> read_options(const std::vector<std::string>& words) { return Reader{words}.run(); }

std::string help_text() {
  return R"(Makes a header of typed USDT probes from a DTrace provider file.
Usage: tracectl-usdt -h [-C [-I DIR] [-D NAME[=VALUE]] [-U NAME]] -s FILE [-o FILE]
       tracectl-usdt -G [-C [-I DIR] [-D NAME[=VALUE]] [-U NAME]] -s FILE [-o FILE] [OBJECT...]

Options:
  -h                   make the header: PROVIDER_NAME(...) and PROVIDER_NAME_ENABLED()
  -G                   make an object file; it is empty, as nothing is missing without it
  -s FILE              the provider file
  -o FILE              what is made: by default FILE.h or FILE.o, here; - is the standard output
  -C                   run the C preprocessor, $CC -E, over the provider file first
  -I DIR, -D NAME[=VALUE], -U NAME
                       for the preprocessor
  --help               print this
  -V, --version        print the version
Taken for the sake of builds, and without a meaning here: -32, -64, -fpic, -fPIC, -k, -q, -v, -w, -x WHAT,
-Z, --types, --no-pyparsing.
)";
}

}  // namespace tracectl::generator

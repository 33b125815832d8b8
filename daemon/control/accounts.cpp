// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/accounts.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "daemon/control/text_file.h"

namespace tracectl {
namespace {

// passwd(5): NAME:PASSWORD:NUMBER:...
bool is_line_of(const std::string& line, uid_t user, std::string& name) {
  std::istringstream fields(line);
  std::string password, number;
  std::getline(fields, name, ':');
  std::getline(fields, password, ':');
  std::getline(fields, number, ':');
  uid_t found = 0;
  const char* const end = number.data() + number.size();
  const auto [after, error] = std::from_chars(number.data(), end, found);
  return error == std::errc{} && after == end && !number.empty() && found == user;
}

// None if the file cannot be read.
std::optional<std::vector<std::string>> names_of(uid_t user) {
  constexpr size_t kMostBytes = 1 << 20;
  const auto text = read_text_file("/etc/passwd", kMostBytes);
  if (!text) return std::nullopt;
  std::istringstream lines(*text);
  std::vector<std::string> names;
  for (std::string line, name; std::getline(lines, line);)
    if (is_line_of(line, user, name)) names.push_back(name);
  return names;
}

}  // namespace

std::optional<std::string> account_of(uid_t user) {
  const auto names = names_of(user);
  if (!names || names->empty()) return std::nullopt;
  return names->front();
}

bool is_account_of(uid_t user, const std::string& name) {
  const auto names = names_of(user);
  return !names || std::find(names->begin(), names->end(), name) != names->end();
}

}  // namespace tracectl

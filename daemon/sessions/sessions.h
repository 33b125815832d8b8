// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/base/id_pool.h"
#include "daemon/base/result.h"
#include "daemon/switching/session.h"

namespace tracectl {

// The sessions, by name. A pointer to a session is valid until the session is removed.
class Sessions {
 public:
  using ByName = std::map<std::string, Session>;

  // Fail with Code::not_found.
  Result<Session*> find(const std::string& name);
  Result<const Session*> find(const std::string& name) const;
  const Session* of_number(uint32_t number) const;
  bool has(const std::string& name) const { return by_name_.contains(name); }

  ByName::iterator begin() { return by_name_.begin(); }
  ByName::iterator end() { return by_name_.end(); }
  ByName::const_iterator begin() const { return by_name_.begin(); }
  ByName::const_iterator end() const { return by_name_.end(); }
  size_t size() const { return by_name_.size(); }
  bool empty() const { return by_name_.empty(); }

  // Returns this name, which must be possible and not in use; for an empty one, a new name.
  Result<std::string> name_for(const std::string& wanted);
  // Makes a session with a number of its own. Fails if all numbers are in use.
  Result<Session*> make(const std::string& name);
  void remove(Session& session);

  // Takes numbers that a former daemon has given, before any other is taken.
  void take_numbers(std::vector<uint32_t> numbers) { numbers_.restore(std::move(numbers)); }
  // Makes a session with one of them.
  Session& make_with(uint32_t number, const std::string& name);
  // Removes such a session; its number stays taken until it is given back.
  void remove_but_number(Session& session);
  void give_back(uint32_t number) { numbers_.give_back(number); }

 private:
  ByName by_name_;
  IdPool numbers_{0, TC_MAX_SESSIONS};
  uint64_t unnamed_made_ = 0;
};

}  // namespace tracectl

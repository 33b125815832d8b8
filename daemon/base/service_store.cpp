// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/service_store.h"

#include <fcntl.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

namespace tracectl {
namespace {

constexpr std::string_view kMark = "kept.";
constexpr size_t kMostNameBytes = 255;  // systemd's limit
// systemd answers within a millisecond, but not while it reloads its units.
constexpr uint64_t kLongestWaitUs = 5'000'000;

bool is_in_names(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

Status check(const StoredName& stored) {
  if (!stored.name.empty() && std::all_of(stored.name.begin(), stored.name.end(), is_in_names) &&
      stored.text().size() <= kMostNameBytes)
    return ok();
  return Error{Code::invalid, "\"" + stored.name + "\" is no name for a kept descriptor"};
}

Error is_full(size_t most) {
  return Error{Code::exhausted,
               "systemd's store of descriptors for the daemon is full, with " +
                   std::to_string(most) +
                   ": delete saved sessions, or raise FileDescriptorStoreMax= in a drop-in "
                   "of tracectld.service"};
}

std::optional<size_t> number_in_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (!text) return std::nullopt;
  size_t number = 0;
  const std::string_view all = text;
  const auto [after, error] = std::from_chars(text, text + all.size(), number);
  if (error != std::errc{} || after != text + all.size()) return std::nullopt;
  return number;
}

std::optional<size_t> most_that_systemd_keeps() {
  const auto given = number_in_environment("FDSTORE");
  return given ? given : number_in_environment("TRACECTLD_FDSTORE");
}

// An owned list that ends with a null.
struct FreeNames {
  void operator()(char** names) const {
    for (char** at = names; at && *at; ++at) std::free(*at);
    std::free(names);
  }
};

}  // namespace

std::optional<StoredName> StoredName::read(std::string_view text) {
  if (!text.starts_with(kMark)) return std::nullopt;
  text.remove_prefix(kMark.size());
  StoredName stored;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, stored.number);
  if (error != std::errc{} || after == end || *after != '.') return std::nullopt;
  stored.name.assign(after + 1, end);
  if (!check(stored)) return std::nullopt;
  return stored;
}

std::string StoredName::text() const {
  return std::string(kMark) + std::to_string(number) + "." + name;
}

ServiceStore::ServiceStore(std::vector<Stored> passed, std::optional<size_t> most)
    : most_(most), passed_(std::move(passed)) {
  std::sort(passed_.begin(), passed_.end(),
            [](const Stored& a, const Stored& b) { return a.name < b.name; });
  for (const Stored& one : passed_) in_store_.insert(one.name);
  if (!in_store_.empty()) next_number_ = in_store_.rbegin()->number + 1;
}

// FDPOLL=0, because systemd would poll the descriptor otherwise, and drop it when the other end closes.
Status ServiceStore::save(const std::string& name, int fd) { return put(name, fd, kReserved); }

Status ServiceStore::save_state(const std::string& name, int fd) { return put(name, fd, 0); }

// A file that systemd keeps once under two names counts twice here: some room may stay unused, but there is never
// less than this says.
Status ServiceStore::put(const std::string& name, int fd, size_t reserved) {
  StoredName stored{next_number_, name};
  if (auto good = check(stored); !good) return good;
  if (most_ && in_store_.size() + reserved >= *most_) return is_full(*most_);
  const std::string message = "FDSTORE=1\nFDPOLL=0\nFDNAME=" + stored.text();
  const int sent = ::sd_pid_notify_with_fds(0, 0, message.c_str(), &fd, 1);
  if (sent < 0) return Error::from_errno("hand a descriptor to systemd to keep", -sent);
  if (sent == 0)
    return Error{Code::unsupported, "systemd cannot store descriptors: NOTIFY_SOCKET is gone"};
  in_store_.insert(std::move(stored));
  ++next_number_;
  return ok();
}

void ServiceStore::forget(const std::string& name) {
  std::erase_if(passed_, [&](const Stored& one) { return one.name.name == name; });
  std::erase_if(in_store_, [&](const StoredName& stored) {
    if (stored.name != name) return false;
    ::sd_notify(0, ("FDSTOREREMOVE=1\nFDNAME=" + stored.text()).c_str());
    any_forgotten_ = true;
    return true;
  });
}

// systemd handles our messages in order, so it has closed the dropped descriptors when it reaches the barrier.
void ServiceStore::wait_until_forgotten() {
  if (std::exchange(any_forgotten_, false)) ::sd_notify_barrier(0, kLongestWaitUs);
}

std::vector<SavedDescriptor> ServiceStore::look(std::string_view prefix) const {
  std::vector<SavedDescriptor> seen;
  for (const Stored& one : passed_)
    if (one.name.name.starts_with(prefix))
      seen.push_back({one.name.name, Fd{::fcntl(one.fd.get(), F_DUPFD_CLOEXEC, 0)}});
  return seen;
}

std::vector<SavedDescriptor> ServiceStore::take(std::string_view prefix) {
  std::vector<SavedDescriptor> taken;
  std::erase_if(passed_, [&](Stored& one) {
    if (!one.name.name.starts_with(prefix)) return false;
    taken.push_back({one.name.name, std::move(one.fd)});
    return true;
  });
  return taken;
}

void ServiceStore::forget_untaken() {
  while (!passed_.empty()) forget(std::string(passed_.back().name.name));
}

// The environment is not changed, because socket_of_service() reads it too.
Result<std::unique_ptr<ServiceStore>> open_service_store() {
  if (!std::getenv("NOTIFY_SOCKET")) return std::unique_ptr<ServiceStore>();
  char** listed = nullptr;
  const int count = ::sd_listen_fds_with_names(0, &listed);
  const std::unique_ptr<char*, FreeNames> names{listed};
  if (count < 0) return Error::from_errno("take what systemd has kept", -count);
  std::vector<ServiceStore::Stored> passed;
  for (int i = 0; i < count; ++i)
    if (auto name = StoredName::read(listed[i]))
      passed.push_back({std::move(*name), Fd{SD_LISTEN_FDS_START + i}});
  return std::make_unique<ServiceStore>(std::move(passed), most_that_systemd_keeps());
}

}  // namespace tracectl

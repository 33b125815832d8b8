// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/unit_plan.h"

#include <systemd/sd-bus.h>

#include <algorithm>
#include <array>
#include <utility>

#include "daemon/base/event_loop.h"
#include "daemon/process/systemd_bus.h"

namespace tracectl {
namespace {

constexpr const char* kUnit = "org.freedesktop.systemd1.Unit";
constexpr const char* kService = "org.freedesktop.systemd1.Service";
constexpr std::string_view kOfService = ".service", kOfSlice = ".slice";

Error unreadable(int err) { return Error::from_errno("read what systemd answers", -err); }

// The properties of one unit.
class Properties {
 public:
  Properties(SystemdBus& bus, std::string object, uint64_t end_ns)
      : bus_(bus), object_(std::move(object)), end_ns_(end_ns) {}

  Result<std::string> text(const char* interface, const char* name) {
    auto property = get(interface, name);
    if (!property) return property.error();
    const char* value = nullptr;
    if (const int err = sd_bus_message_read(property->get(), "v", "s", &value); err < 0)
      return unreadable(err);
    return std::string(value);
  }

  // The programs of a list of commands.
  Result<std::vector<std::string>> programs(const char* name) {
    auto property = get(kService, name);
    if (!property) return property.error();
    std::vector<std::string> paths;
    if (const int err = read_programs(**property, paths); err < 0) return unreadable(err);
    return paths;
  }

 private:
  Result<SystemdBus::Message> get(const char* interface, const char* name) {
    return bus_.call({object_.c_str(), "org.freedesktop.DBus.Properties", "Get"}, {interface, name},
                     end_ns_);
  }

  // org.freedesktop.systemd1(5): keeps the path and skips the rest.
  static int read_programs(sd_bus_message& message, std::vector<std::string>& paths) {
    int done = sd_bus_message_enter_container(&message, 'v', "a(sasbttttuii)");
    if (done >= 0) done = sd_bus_message_enter_container(&message, 'a', "(sasbttttuii)");
    while (done >= 0) {
      done = sd_bus_message_enter_container(&message, 'r', "sasbttttuii");
      if (done <= 0) break;
      const char* path = nullptr;
      done = sd_bus_message_read_basic(&message, 's', &path);
      if (done > 0) paths.emplace_back(path);
      if (done >= 0) done = sd_bus_message_skip(&message, "asbttttuii");
      if (done >= 0) done = sd_bus_message_exit_container(&message);
    }
    return done;
  }

  SystemdBus& bus_;
  const std::string object_;
  const uint64_t end_ns_;
};

// systemd prefixes _ to names that could be files of the kernel, which begin with a controller's
// name.
bool is_name_of_cgroup(std::string_view unit) {
  constexpr std::array kControllers{"cpu",    "cpuacct", "cpuset",    "io",   "blkio",
                                    "memory", "devices", "pids",      "rdma", "hugetlb",
                                    "misc",   "cgroup",  "perf_event"};
  const std::string_view first = unit.substr(0, unit.find('.'));
  return !first.empty() && !first.starts_with('_') &&
         std::find(kControllers.begin(), kControllers.end(), first) == kControllers.end();
}

Result<UnitPlan> plan_of(Properties& unit, const std::string& name) {
  auto state = unit.text(kUnit, "LoadState");
  if (!state) return state.error();
  if (auto loaded = check_loaded(name, *state); !loaded) return loaded.error();
  auto id = unit.text(kUnit, "Id");
  auto slice = unit.text(kService, "Slice");
  auto root = unit.text(kService, "RootDirectory");
  auto image = unit.text(kService, "RootImage");
  auto programs = unit.programs("ExecStart");
  for (const auto* text : {&id, &slice, &root, &image})
    if (!*text) return text->error();
  if (!programs) return programs.error();
  if (!is_name_of_cgroup(*id))
    return Error{Code::unsupported, "it is not known what cgroup systemd makes for " + *id};
  if (!root->empty() || !image->empty()) programs->clear();
  return UnitPlan{cgroup_of_slice(*slice) + "/" + *id, std::move(*programs)};
}

}  // namespace

std::string cgroup_of_slice(std::string_view slice) {
  std::string path;
  if (slice.ends_with(kOfSlice)) slice.remove_suffix(kOfSlice.size());
  if (slice.empty() || slice == "-") return path;
  for (size_t end = 0; end != slice.npos;) {
    end = slice.find('-', end + 1);
    path += "/" + std::string(slice.substr(0, end)) + std::string(kOfSlice);
  }
  return path;
}

Result<UnitPlan> plan_of_unit(const std::string& unit, uint64_t end_ns) {
  if (!unit.ends_with(kOfService))
    return Error{Code::unsupported, "only of a service it is known what systemd will execute"};
  auto loop = EventLoop::open();
  if (!loop) return loop.error();
  auto bus = SystemdBus::open(
      *loop, [] {}, end_ns);
  if (!bus) return bus.error();
  auto object = (*bus)->object_of(unit, end_ns);
  if (!object) return object.error();
  Properties properties(**bus, std::move(*object), end_ns);
  return plan_of(properties, unit);
}

}  // namespace tracectl

// SPDX-License-Identifier: BSD-2-Clause
//
// A hit of one site of the program `hot`, or of another with probes hot:*, in various setups in turn:
// nothing, an empty BPF program, a session with some spec, another tool.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/kernel/kernel.h"
#include "daemon/model/pattern.h"
#include "daemon/sessions/engine.h"
#include "daemon/spec/parse.h"
#include "tests/bench/command.h"
#include "tests/bench/measure.h"
#include "tests/bench/site.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl::bench {

inline constexpr uint64_t kCalls = 300'000;
inline constexpr int kRounds = 21;
inline constexpr int kToolRounds = 5;

inline void wait_until_armed(const on_kernel::Program& target, Command& tool) {
  while (on_kernel::changed_code(target.pid(), target.path()).empty()) {
    tool.expect_running();
    ::usleep(1000);
  }
}

class Setup {
 public:
  // The target does not fork.
  explicit Setup(const KernelOptions& options = {.fast_nops = true}, const char* program = "hot")
      : target_(program, {}),
        engine_(on_kernel::must(Engine::start(on_kernel::must(Kernel::open(options)),
                                              {.quota = {.events_per_second = UINT32_MAX}}))) {}

  on_kernel::Program& target() { return target_; }

  double unprobed(const Site& site) { return ns_of_a_call(target_, site, kCalls); }

  double with_empty(const Site& site) {
    const Fd link = empty_.arm(target_, site);
    return ns_of_a_call(target_, site, kCalls);
  }

  // At the entry of the site's function, and at its return.
  double with_empty_session(const Site& site) {
    const Fd link = empty_session_.arm(target_, offset_of(target_.path(), site.function));
    return ns_of_a_call(target_, site, kCalls);
  }

  double with_spec(const Site& site, const std::string& spec, const std::string& when = "") {
    return with_setting(site, std::string("usdt::hot:") + site.probe, spec, when);
  }

  // In a session whose user may not trace every process, but may trace this one: each hit checks that.
  double with_spec_of_user(const Site& site, const std::string& spec) {
    struct stat user_namespace {};
    ::stat("/proc/self/ns/user", &user_namespace);
    owner_ =
        Owner{::geteuid(), ::getegid(), ~uint64_t{0}, static_cast<uint32_t>(user_namespace.st_ino)};
    const double ns = with_spec(site, spec);
    owner_.reset();
    return ns;
  }

  // At the entry of the site's function.
  double with_spec_of_call(const Site& site, const std::string& spec, Returns returns) {
    return with_setting(site, std::string("uprobe::") + site.function, spec, "", returns);
  }

  double with_setting(const Site& site, const std::string& pattern, const std::string& spec,
                      const std::string& when, Returns returns = Returns::automatic) {
    on_kernel::must(engine_->create_session("bench", std::nullopt, owner_));
    if (owner_) show_what_is_the_users();
    Setting set{on_kernel::must(parse_pattern(pattern)), on_kernel::process(target_.pid()),
                on_kernel::must(parse_spec(spec)), returns};
    if (!when.empty()) set.spec.when = on_kernel::must(parse_condition(when));
    on_kernel::must(engine_->drafts().set("bench", {std::move(set)}));
    on_kernel::must(engine_->commits().commit("bench", {}));
    const double ns = ns_of_a_call(target_, site, kCalls);
    if (const auto hits =
            on_kernel::must(engine_->counting().read("bench", false)).results.totals.hits;
        hits != kCalls)
      throw std::runtime_error("counted " + std::to_string(hits));
    on_kernel::must(engine_->delete_session("bench"));
    return ns;
  }

  double with_tool(std::vector<std::string> words, const Site& site) {
    Command tool{std::move(words)};
    wait_until_armed(target_, tool);
    const double ns = ns_of_a_call(target_, site, kCalls);
    tool.end(SIGINT);
    return ns;
  }

 private:
  void show_what_is_the_users() {
    const std::string path = target_.path();
    on_kernel::must(
        engine_->give_file("bench", Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}, path));
    const std::string memory = "/proc/" + std::to_string(target_.pid()) + "/mem";
    const Fd proof{::open(memory.c_str(), O_RDONLY | O_CLOEXEC)};
    const int descriptor = proof.get();
    on_kernel::must(engine_->proofs().prove({&descriptor, 1}, "bench"));
  }

  on_kernel::Program target_;
  EmptyProgram empty_;
  EmptyProgram empty_session_{kAttachUprobeSession};
  std::unique_ptr<Engine> engine_;
  std::optional<Owner> owner_;
};

inline std::vector<std::string> bpftrace(const on_kernel::Program& target, const Site& site,
                                         const std::string& action) {
  return {"bpftrace", "-p", std::to_string(target.pid()), "-e",
          "usdt:" + target.path() + ":hot:" + site.probe + " { " + action + " }"};
}

inline std::string row(const char* what, const Site& site) {
  return std::string(what) + ", " + site.name + ", ns";
}

}  // namespace tracectl::bench

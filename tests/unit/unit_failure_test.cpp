// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/unit_failure.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>

#include "daemon/base/clock.h"
#include "daemon/process/unit_failures.h"

using namespace tracectl;

namespace {

UnitState unit_state(const char* active, const char* sub, const char* result,
                     const char* invocation) {
  UnitState state;
  state.id = "a.service";
  state.active_state = active;
  state.sub_state = sub;
  state.result = result;
  state.invocation_id = invocation;
  return state;
}

UnitFailure unit_failure(const std::string& result, std::optional<Ending> ending = {}) {
  UnitFailure failure{.unit = "a.service", .result = result, .main_pid = {}, .main_ending = {}};
  if (ending) failure.main_pid = 12;
  failure.main_ending = ending;
  return failure;
}

Ending exited(int code) { return {.exit_code = code, .signal = {}}; }
Ending killed(int signal) { return {.exit_code = {}, .signal = signal}; }

TEST(UnitFailure, IsToldInASentence) {
  EXPECT_EQ(text(unit_failure("signal", killed(SIGSEGV))),
            "the unit a.service has failed: its process 12 was killed by SIGSEGV");
  EXPECT_EQ(text(unit_failure("core-dump", killed(SIGRTMIN + 1))),
            "the unit a.service has failed: its process 12 was killed by signal " +
                std::to_string(SIGRTMIN + 1));
  EXPECT_EQ(text(unit_failure("exit-code", exited(7))),
            "the unit a.service has failed: its process 12 exited with 7");
}

TEST(UnitFailure, IsNotBlamedOnAMainProcessThatEndedWell) {
  for (const auto& ending : {std::optional<Ending>{}, std::optional{exited(0)}})
    EXPECT_EQ(text(unit_failure("exit-code", ending)),
              "the unit a.service has failed: a command of it exited with an error");
  // The main process was killed by systemd's signal, which is not the cause.
  EXPECT_EQ(text(unit_failure("watchdog", killed(SIGABRT))),
            "the unit a.service has failed: it no longer told systemd's watchdog that it runs");
  EXPECT_EQ(text(unit_failure("oom-kill", killed(SIGKILL))),
            "the unit a.service has failed: the kernel killed a process of it for want of memory");
}

TEST(UnitFailure, WithAResultOfALaterSystemdIsToldByIt) {
  EXPECT_EQ(text(unit_failure("solar-flare")),
            "the unit a.service has failed: systemd calls its result \"solar-flare\"");
}

TEST(UnitHistory, TellsAFailureOnceHoweverOftenItIsSeen) {
  UnitHistory history;
  EXPECT_FALSE(history.next(unit_state("active", "running", "success", "1")));
  const auto first = history.next(unit_state("failed", "failed", "signal", "1"));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->unit, "a.service");
  EXPECT_EQ(first->result, "signal");
  EXPECT_FALSE(history.next(unit_state("failed", "failed", "signal", "1")));
  // The state while it is being started again.
  EXPECT_FALSE(history.next(unit_state("failed", "failed", "success", "2")));
  EXPECT_FALSE(history.next(unit_state("active", "running", "success", "2")));
  EXPECT_TRUE(history.next(unit_state("failed", "failed", "signal", "2")));
}

TEST(UnitHistory, TellsEachFailureOfAServiceThatIsRestarted) {
  UnitHistory history;
  for (const char* invocation : {"1", "2"}) {
    EXPECT_FALSE(history.next(unit_state("active", "running", "success", invocation)));
    EXPECT_TRUE(history.next(unit_state("activating", "auto-restart", "exit-code", invocation)));
  }
  // Started too often: systemd gives up, which is not another failure.
  EXPECT_FALSE(history.next(unit_state("inactive", "dead", "exit-code", "2")));
  EXPECT_FALSE(history.next(unit_state("failed", "failed", "exit-code", "2")));
}

TEST(UnitHistory, DoesNotTellWhatEndsWell) {
  UnitHistory history;
  EXPECT_FALSE(history.next(unit_state("inactive", "dead", "success", "1")));
  EXPECT_FALSE(history.next(unit_state("activating", "auto-restart", "success", "1")));
  // It is being stopped, and the error may not be final.
  EXPECT_FALSE(history.next(unit_state("deactivating", "stop-sigterm", "timeout", "2")));
  EXPECT_TRUE(history.next(unit_state("failed", "failed", "timeout", "2")));
}

TEST(UnitHistory, WithoutInvocationsGoesByTheState) {
  UnitHistory history;
  EXPECT_TRUE(history.next(unit_state("failed", "failed", "resources", "")));
  EXPECT_FALSE(history.next(unit_state("failed", "failed", "resources", "")));
  EXPECT_FALSE(history.next(unit_state("inactive", "dead", "success", "")));
  EXPECT_TRUE(history.next(unit_state("failed", "failed", "resources", "")));
}

TEST(UnitHistory, TellsHowTheMainProcessEnded) {
  auto now = unit_state("failed", "failed", "core-dump", "1");
  now.exec_main_pid = 12;
  now.exec_main_code = CLD_DUMPED;
  now.exec_main_status = SIGABRT;
  EXPECT_EQ(UnitHistory{}.next(now), unit_failure("core-dump", killed(SIGABRT)));
  now.result = "exit-code";
  now.exec_main_code = CLD_EXITED;
  now.exec_main_status = 3;
  EXPECT_EQ(UnitHistory{}.next(now), unit_failure("exit-code", exited(3)));
  now.exec_main_code = 0;  // it runs, and another process of the unit has failed
  EXPECT_EQ(UnitHistory{}.next(now)->main_ending, std::nullopt);
}

TEST(UnitFailures, TakeNamesAsSystemctlDoes) {
  EXPECT_EQ(full_unit_name("nginx"), "nginx.service");
  EXPECT_EQ(full_unit_name("nginx.service"), "nginx.service");
  EXPECT_EQ(full_unit_name("ssh.socket"), "ssh.socket");
  EXPECT_EQ(full_unit_name("org.example.thing"), "org.example.thing.service");
}

// A system bus at the address in a variable, for tests without a bus.
class NoUnitFailures : public testing::Test {
 protected:
  NoUnitFailures() : folder_(std::filesystem::temp_directory_path() / "tracectl-bus-XXXXXX") {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:path=" + socket()).c_str(), 1);
  }
  ~NoUnitFailures() override {
    ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    std::filesystem::remove_all(folder_);
  }

  std::string socket() const { return folder_ + "/bus"; }
  Error refused() {
    auto loop = EventLoop::open();
    UnitFailures failures{*loop, [](const UnitFailure&) {}, [](const Error&) {}};
    const auto watched = failures.watch({"a"});
    EXPECT_FALSE(watched);
    return watched ? Error{} : watched.error();
  }

 private:
  std::string folder_;
};

TEST_F(NoUnitFailures, WithoutABus) {
  const Error error = refused();
  EXPECT_EQ(error.code, Code::unsupported);
  EXPECT_EQ(error.message,
            "reach systemd by the system's bus: No such file or directory: units are watched "
            "where systemd and dbus run");
}

TEST_F(NoUnitFailures, WhereTheBusStandsStillAndNobodyIsHeldUpForLong) {
  const Fd listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  socket().copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(listening.get(), 1), 0);
  const uint64_t begin_ns = boot_ns();
  EXPECT_EQ(refused().code, Code::unsupported);
  const uint64_t ns = boot_ns() - begin_ns;
  EXPECT_GE(ns, UnitFailures::kLongestNs);
  EXPECT_LT(ns, 5 * UnitFailures::kLongestNs);  // sd-bus would wait for 25 s
}

}  // namespace

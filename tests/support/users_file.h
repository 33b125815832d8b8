// SPDX-License-Identifier: BSD-2-Clause
//
// A user who may not trace every process, with a program of its own: a copy of one in tests/targets.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {

inline constexpr uid_t kUser = 4001;

inline uint32_t own_user_namespace() {
  struct stat status {};
  ::stat("/proc/self/ns/user", &status);
  return static_cast<uint32_t>(status.st_ino);
}

inline Owner user(uid_t id = kUser, uint64_t capabilities = 0) {
  return {id, id, capabilities, own_user_namespace()};
}

class WithUsersFile : public KernelTest {
 protected:
  explicit WithUsersFile(std::string program = "changes") : program_(std::move(program)) {}

  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    // Owned by the user, so that it may be armed in processes of all users.
    path_ = std::filesystem::temp_directory_path() / (program_ + "-" + std::to_string(::getpid()));
    std::filesystem::copy_file(target_path(program_), path_,
                               std::filesystem::copy_options::overwrite_existing);
    ASSERT_EQ(::chmod(path_.c_str(), 0755), 0);
    ASSERT_EQ(::chown(path_.c_str(), kUser, kUser), 0);
  }
  void TearDown() override {
    if (!path_.empty()) std::filesystem::remove(path_);
  }

  std::string probe(const std::string& function) const {
    return "uprobe:" + path_ + ":" + function;
  }
  static Target everybody() {
    Target all;
    all.all = true;
    return all;
  }
  void create_for(const Owner& owner, const std::string& session) {
    must(engine->create_session(session, std::nullopt, owner));
    must(engine->give_file(session, Fd{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)}, path_));
  }

  // Starts it by setpriv(1), and proves it to the existing sessions of users.
  std::unique_ptr<Program> run_by(std::vector<std::string> words) {
    words.push_back(path_);
    auto program = std::make_unique<Program>("/usr/bin/setpriv", words);
    prove(*program);
    return program;
  }
  std::unique_ptr<Program> run_by_user() {
    return run_by({"--reuid=4001", "--regid=4001", "--clear-groups"});
  }
  static Fd memory_of(const Program& program) {
    return Fd{
        ::open(("/proc/" + std::to_string(program.pid()) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)};
  }
  // Proves it to all sessions that need a proof.
  void prove(const Program& program) {
    const Fd memory = memory_of(program);
    const int descriptor = memory.get();
    for (const auto& [name, session] : engine->sessions())
      if (session.access.owner) must(engine->proofs().prove({&descriptor, 1}, name));
  }
  static void say(Program& program, const std::string& line) {
    program.send(line);
    program.finish();
  }

  const std::string program_;
  std::string path_;
};

}  // namespace tracectl::on_kernel

// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/service_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <vector>

#include "tests/support/must.h"

namespace tracectl {
namespace {

// The messages to systemd on the socket that it passes to its services.
class Systemd {
 public:
  Systemd() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;  // the kernel chooses an abstract name
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)), 0);
    socklen_t length = sizeof(address);
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    const std::string name(address.sun_path + 1, length - sizeof(sa_family_t) - 1);
    ::setenv("NOTIFY_SOCKET", ("@" + name).c_str(), 1);
  }
  ~Systemd() { ::unsetenv("NOTIFY_SOCKET"); }

  struct Message {
    std::string text;
    Fd fd;
  };
  Message next_sent() {
    pollfd sent{socket_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&sent, 1, 60'000), 1);
    return next();
  }
  Message next() {
    char text[4096];
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
    iovec bytes{text, sizeof(text)};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t size = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (size < 0) return {};
    Message got{{text, static_cast<size_t>(size)}, {}};
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
      int fd = -1;
      if (part->cmsg_type == SCM_RIGHTS) std::memcpy(&fd, CMSG_DATA(part), sizeof(fd));
      if (fd >= 0) got.fd = Fd{fd};
    }
    return got;
  }

 private:
  Fd socket_;
};

Fd some_file() { return Fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)}; }

ServiceStore store_of(const std::vector<std::string>& passed) {
  std::vector<ServiceStore::Stored> stored;
  for (const std::string& name : passed) stored.push_back({*StoredName::read(name), some_file()});
  return ServiceStore{std::move(stored)};
}

std::vector<std::string> names_of(const std::vector<SavedDescriptor>& taken) {
  std::vector<std::string> names;
  for (const SavedDescriptor& one : taken) names.push_back(one.name);
  return names;
}

TEST(ServiceStore, SystemdGetsADuplicateUnderAName) {
  Systemd systemd;
  ServiceStore store{{}};
  const Fd file = some_file();
  ASSERT_TRUE(store.save("sessions.1", file.get()));
  const auto message = systemd.next();
  EXPECT_EQ(message.text, "FDSTORE=1\nFDPOLL=0\nFDNAME=kept.1.sessions.1");
  struct stat ours {
  }, theirs{};
  ASSERT_EQ(::fstat(file.get(), &ours), 0);
  ASSERT_EQ(::fstat(message.fd.get(), &theirs), 0);
  EXPECT_EQ(ours.st_rdev, theirs.st_rdev);
}

TEST(ServiceStore, AllOfANameAreForgottenAndNoOthers) {
  Systemd systemd;
  ServiceStore store = store_of({"kept.4.ring", "kept.5.ring2"});
  const Fd file = some_file();
  ASSERT_TRUE(store.save("ring", file.get()));
  EXPECT_EQ(systemd.next().text, "FDSTORE=1\nFDPOLL=0\nFDNAME=kept.6.ring");
  store.forget("ring");
  EXPECT_EQ(systemd.next().text, "FDSTOREREMOVE=1\nFDNAME=kept.4.ring");
  EXPECT_EQ(systemd.next().text, "FDSTOREREMOVE=1\nFDNAME=kept.6.ring");
  EXPECT_EQ(systemd.next().text, "");
  EXPECT_EQ(names_of(store.take("ring")), std::vector<std::string>{"ring2"});
}

TEST(ServiceStore, WhoWaitsGoesOnWhenSystemdHasTakenWhatWasSentBefore) {
  Systemd systemd;
  ServiceStore store = store_of({"kept.1.link"});
  store.forget("link");
  auto waiting = std::async(std::launch::async, [&] { store.wait_until_forgotten(); });
  EXPECT_EQ(systemd.next_sent().text, "FDSTOREREMOVE=1\nFDNAME=kept.1.link");
  {
    const auto barrier = systemd.next_sent();
    EXPECT_EQ(barrier.text, "BARRIER=1");
    EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  }
  waiting.get();
  store.wait_until_forgotten();
  EXPECT_EQ(systemd.next().text, "") << "there is nothing to be waited for";
}

TEST(ServiceStore, WhatIsTakenComesInTheOrderInWhichItWasKeptWhateverSystemdsIs) {
  ServiceStore store = store_of({"kept.10.file.b", "kept.3.map.x", "kept.9.file.a"});
  EXPECT_EQ(names_of(store.take("file.")), (std::vector<std::string>{"file.a", "file.b"}));
  EXPECT_TRUE(store.take("file.").empty()) << "handed out twice";
}

TEST(ServiceStore, WhatNobodyHasTakenIsForgottenAndWhatWasTakenIsKeptOn) {
  Systemd systemd;
  ServiceStore store = store_of({"kept.1.map.a", "kept.2.odd"});
  const auto taken = store.take("map.");
  store.forget_untaken();
  EXPECT_EQ(systemd.next().text, "FDSTOREREMOVE=1\nFDNAME=kept.2.odd");
  EXPECT_EQ(systemd.next().text, "");
}

TEST(ServiceStore, ANameThatSystemdWouldNotTakeIsRefused) {
  Systemd systemd;
  ServiceStore store{{}};
  const Fd file = some_file();
  for (const std::string& name :
       {std::string("a:b"), std::string("a\nFDNAME=c"), std::string(), std::string(250, 'a')})
    EXPECT_FALSE(store.save(name, file.get())) << name;
  EXPECT_EQ(systemd.next().text, "");
}

TEST(ServiceStore, WhatSystemdWouldDropIsRefusedAndIsNotSentToIt) {
  Systemd systemd;
  ServiceStore store{{}, ServiceStore::kReserved + 2};
  const Fd file = some_file();
  ASSERT_TRUE(store.save("link.1", file.get()));
  ASSERT_TRUE(store.save("link.2", file.get()));
  systemd.next();
  systemd.next();
  const auto refused = store.save("link.3", file.get());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::exhausted);
  EXPECT_EQ(systemd.next().text, "");
  store.forget("link.1");
  EXPECT_TRUE(store.save("link.3", file.get()));
}

// systemd's socket holds few unread messages, so they are read one by one.
TEST(ServiceStore, AFullStoreHasRoomForStatesUntilThatIsFullToo) {
  Systemd systemd;
  ServiceStore store{{}, ServiceStore::kReserved + 1};
  const Fd file = some_file();
  ASSERT_TRUE(store.save("link.1", file.get()));
  ASSERT_FALSE(store.save("link.2", file.get()));
  for (size_t i = 0; i < ServiceStore::kReserved; ++i) {
    ASSERT_TRUE(store.save_state("engine." + std::to_string(i), file.get())) << i;
    systemd.next();
  }
  EXPECT_FALSE(store.save_state("engine.99", file.get()));
}

TEST(ServiceStore, WhatAFormerProcessHasLeftTakesRoom) {
  Systemd systemd;
  std::vector<ServiceStore::Stored> passed;
  passed.push_back({*StoredName::read("kept.1.map.a"), some_file()});
  ServiceStore store{std::move(passed), ServiceStore::kReserved + 1};
  const Fd file = some_file();
  EXPECT_FALSE(store.save("link.1", file.get()));
  const auto taken = store.take("map.");
  EXPECT_FALSE(store.save("link.1", file.get())) << "systemd keeps what was taken";
  store.forget("map.a");
  EXPECT_TRUE(store.save("link.1", file.get()));
}

// $FDSTORE is from systemd itself; a test of the service compares the other variable with the unit.
TEST(ServiceStore, HowMuchThereIsSaysTheEnvironment) {
  Systemd systemd;
  const Fd file = some_file();
  const std::string fits = std::to_string(ServiceStore::kReserved + 1);
  const auto keeps = [&] {
    auto store = on_kernel::must(open_service_store());
    return store->save("a", file.get()).has_value();
  };
  EXPECT_TRUE(keeps()) << "where nobody says it";
  ::setenv("TRACECTLD_FDSTORE", "3", 1);
  EXPECT_FALSE(keeps());
  ::setenv("FDSTORE", fits.c_str(), 1);
  EXPECT_TRUE(keeps());
  ::unsetenv("FDSTORE");
  ::unsetenv("TRACECTLD_FDSTORE");
}

TEST(ServiceStore, OtherNamesAreNoneOfTheStores) {
  for (const char* name : {"tracectld.socket", "stored", "kept.", "kept.x.y", "kept.7", "kept.7.",
                           "kept.-1.a", "kept.99999999999999999999.a"})
    EXPECT_FALSE(StoredName::read(name)) << name;
}

TEST(ServiceStore, ThereIsNoneWhereSystemdHasNotStartedTheProcess) {
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_EQ(on_kernel::must(open_service_store()), nullptr);
}

}  // namespace
}  // namespace tracectl

// SPDX-License-Identifier: BSD-2-Clause
//
// Rights to trace, as far as they are decided outside the kernel.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/control/rights.h"
#include "daemon/process/credentials.h"

namespace tracectl {
namespace {

constexpr const char* kStatus =
    "Name:\tUid: 7 7 7 7\nUmask:\t0022\nState:\tS (sleeping)\n"
    "Uid:\t4001\t4002\t4003\t4004\nGid:\t10\t11\t12\t13\nGroups:\t10 \n"
    "CapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\nCapEff:\t0000000000000000\n";

TEST(Credentials, AreReadOfStatus) {
  const auto read = parse_status(kStatus);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->uids, (std::array<uid_t, 3>{4001, 4002, 4003}));
  EXPECT_EQ(read->gids, (std::array<gid_t, 3>{10, 11, 12}));
  EXPECT_EQ(read->capabilities, 0x1ffffffffffu);
}

TEST(Credentials, AreNotReadOfWhatIsNoStatus) {
  for (const char* text : {"", "Uid:\t1\t2\n", "Uid:\t1\t2\t3\t4\nGid:\t1\t2\t3\t4\n",
                           "Uid:\t1\t2\t99999999999\t4\nGid:\t1\t2\t3\t4\nCapPrm:\t0\n",
                           "Uid:\ta\tb\tc\td\nGid:\t1\t2\t3\t4\nCapPrm:\t0\n",
                           "Uid:\t1\t2\t3\t4\nGid:\t1\t2\t3\t4\nCapPrm:\tx\n", "Uid:", "\n\n\n"})
    EXPECT_FALSE(parse_status(text)) << text;
}

const Owner kOwner{.uid = 4001, .gid = 10, .capabilities = 0b110, .user_namespace = 5};

Credentials own() {
  return {.uids = {4001, 4001, 4001},
          .gids = {10, 10, 10},
          .capabilities = 0b10,
          .user_namespace = 5,
          .dumpable = true};
}

TEST(Credentials, OfAnotherInAnyOfThemHide) {
  EXPECT_FALSE(is_hidden_from(kOwner, own()));
  for (size_t i = 0; i < 3; ++i) {
    Credentials other = own();
    other.uids[i] = 4002;
    EXPECT_TRUE(is_hidden_from(kOwner, other)) << i;
    other = own();
    other.gids[i] = 11;
    EXPECT_TRUE(is_hidden_from(kOwner, other)) << i;
  }
  Credentials other = own();
  other.capabilities = 0b1000;
  EXPECT_TRUE(is_hidden_from(kOwner, other));
  other = own();
  other.user_namespace = 6;
  EXPECT_TRUE(is_hidden_from(kOwner, other));
  other = own();
  other.dumpable = false;
  EXPECT_TRUE(is_hidden_from(kOwner, other));
}

constexpr gid_t kGroup = 77;
constexpr uint32_t kOwnNamespace = 5;
constexpr uint64_t kPtrace = 1 << 19;  // CAP_SYS_PTRACE of linux/capability.h

TEST(Rights, OfRootAndTheGroupAreToTraceAll) {
  PeerIdentity peer{
      .uid = 4001, .gid = 10, .pid = 1, .groups = {10, 20}, .capabilities = 0, .user_namespace = 5};
  const auto limited = [&] { return owner_of(peer, {kGroup, kOwnNamespace}); };
  EXPECT_EQ(limited(), (Owner{4001, 10, 0, 5}));
  peer.groups = {20, kGroup};
  EXPECT_FALSE(limited());
  peer.groups = {};
  peer.gid = kGroup;
  EXPECT_FALSE(limited());
  EXPECT_TRUE(owner_of(peer, {std::nullopt, kOwnNamespace})) << "there is no such group";
  peer.gid = 10;
  peer.uid = 0;
  peer.capabilities = kPtrace;
  EXPECT_FALSE(limited());
}

TEST(Rights, OfRootWithoutCapabilitiesAreAUsers) {
  PeerIdentity peer{.uid = 0, .gid = 0, .pid = 1, .groups = {}, .user_namespace = kOwnNamespace};
  peer.capabilities = ~kPtrace;
  EXPECT_EQ(owner_of(peer, {kGroup, kOwnNamespace}), (Owner{0, 0, ~kPtrace, kOwnNamespace}));
}

TEST(Rights, OfAUserWithCapabilitiesAreAUsers) {
  const PeerIdentity peer{.uid = 4001,
                          .gid = 10,
                          .pid = 1,
                          .groups = {},
                          .capabilities = ~uint64_t{0},
                          .user_namespace = kOwnNamespace};
  EXPECT_TRUE(owner_of(peer, {kGroup, kOwnNamespace}));
}

// Like those of a setuid program, or of a program that has changed its ids since it connected.
TEST(Rights, OfWhomTheIdsAreNotOneAreAUsers) {
  const PeerIdentity peer{.uid = 0,
                          .gid = kGroup,
                          .pid = 1,
                          .groups = {kGroup},
                          .capabilities = 0,
                          .user_namespace = kOwnNamespace,
                          .ids_are_one = false};
  EXPECT_EQ(owner_of(peer, {kGroup, kOwnNamespace}), (Owner{0, kGroup, 0, kOwnNamespace}));
}

// The creator of a user namespace chooses the ids in it.
TEST(Rights, OfAnotherUserNamespaceAreAUsers) {
  const PeerIdentity peer{.uid = 0,
                          .gid = kGroup,
                          .pid = 1,
                          .groups = {kGroup},
                          .capabilities = ~uint64_t{0},
                          .user_namespace = 6};
  EXPECT_TRUE(owner_of(peer, {kGroup, kOwnNamespace}));
}

TEST(Rights, AreOfWhoConnected) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const auto peer = identify_peer(ends[0]);
  ASSERT_TRUE(peer) << peer.error().message;
  EXPECT_EQ(peer->uid, ::geteuid());
  EXPECT_EQ(peer->gid, ::getegid());
  EXPECT_EQ(peer->pid, ::getpid());
  const auto process = Process::open(::getpid());
  const auto self = credentials_of(*process);
  ASSERT_TRUE(self);
  EXPECT_EQ(peer->capabilities, self->capabilities);
  EXPECT_EQ(peer->user_namespace, self->user_namespace);
  EXPECT_TRUE(peer->ids_are_one);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace tracectl

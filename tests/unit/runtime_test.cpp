// SPDX-License-Identifier: BSD-2-Clause
//
// <tracectl/runtime.h> as programs see it. The tests act as a tracer: they raise the semaphore like
// the kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tracectl/runtime.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace {

using ::testing::ElementsAre;

struct Provider {
  tracectl_provider* it;
  explicit Provider(const char* name) : it(tracectl_provider_create(name, "")) {}
  ~Provider() { tracectl_provider_free(it); }
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
};

void set_semaphore(const tracectl_probe& probe, uint16_t value) {
  *const_cast<volatile uint16_t*>(probe.semaphore) = value;
}

size_t executable_mappings(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find(" r-xp ") != line.npos && line.find(name) != line.npos;
  return count;
}

const tracectl_argument kNumber{TRACECTL_UINT64, "number"};

// ---- sites that record their arguments ----

using SeenWords = std::array<uint64_t, 12>;
SeenWords seen;
int calls;

void note_words(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                uint64_t h, uint64_t i, uint64_t j, uint64_t k, uint64_t l) {
  seen = {a, b, c, d, e, f, g, h, i, j, k, l};
  ++calls;
}
void note_call() { ++calls; }

tracectl_probe armed(void (*site)()) {
  static const uint16_t semaphore = 1;
  calls = 0;
  seen = {};
  return {&semaphore, site, nullptr};
}

tracectl_probe armed_for_words() { return armed(reinterpret_cast<void (*)()>(note_words)); }

enum class Colour : int8_t { red = -3 };

TEST(Fire, ArgumentsAreWordsInTheirOrder) {
  const tracectl_probe probe = armed_for_words();
  const char* const text = "text";
  TRACECTL_FIRE(&probe, -1, int8_t{-2}, uint8_t{200}, 4000000000u, text, nullptr, Colour::red, true,
                INT64_MIN, UINT64_MAX, 'a', 12);
  EXPECT_THAT(seen, ElementsAre(UINT64_MAX, UINT64_MAX - 1, 200, 4000000000,
                                reinterpret_cast<uint64_t>(text), 0, UINT64_MAX - 2, 1,
                                uint64_t{1} << 63, UINT64_MAX, 'a', 12));
  EXPECT_EQ(calls, 1);
}

TEST(Fire, ArgumentsOfTheFunctionAreTheSame) {
  const tracectl_probe probe = armed_for_words();
  const uint64_t words[] = {1, 2, 3};
  tracectl_probe_fire(&probe, words, 3);
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  const std::vector<uint64_t> too_many(20, 7);
  tracectl_probe_fire(&probe, too_many.data(), too_many.size());
  EXPECT_EQ(seen[11], 7u);
  EXPECT_TRUE(tracectl_probe_is_enabled(&probe));
}

TEST(Fire, NoArguments) {
  const tracectl_probe probe = armed(note_call);
  TRACECTL_FIRE(&probe);
  EXPECT_EQ(calls, 1);
}

TEST(Fire, NothingIsComputedForAProbeThatIsNotEnabled) {
  const Provider provider("unit");
  const tracectl_probe* const probe = tracectl_probe_add(provider.it, "p", &kNumber, 1);
  int computed = 0;
  for (const tracectl_probe* one : {probe, static_cast<const tracectl_probe*>(nullptr)}) {
    TRACECTL_FIRE(one, ++computed);
    tracectl_probe_fire(one, nullptr, 1);
    EXPECT_FALSE(tracectl_probe_is_enabled(one));
  }
  ASSERT_EQ(tracectl_provider_load(provider.it), 0);
  TRACECTL_FIRE(probe, ++computed);
  EXPECT_EQ(computed, 0);
  set_semaphore(*probe, 1);
  TRACECTL_FIRE(probe, ++computed);
  EXPECT_EQ(computed, 1);
}

// ---- names and limits ----

TEST(Runtime, NamesThatNoPatternCouldHaveAreRefused) {
  const Provider provider("unit");
  for (const std::string& name :
       {std::string(), std::string("a:b"), std::string("a b"), std::string("a*"),
        std::string("a/b"), std::string("\xc3\xa4"), std::string("a\n"), std::string(129, 'a')}) {
    errno = 0;
    EXPECT_EQ(tracectl_provider_create(name.c_str(), ""), nullptr) << name;
    EXPECT_EQ(errno, EINVAL);
    errno = 0;
    EXPECT_EQ(tracectl_probe_add(provider.it, name.c_str(), nullptr, 0), nullptr) << name;
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_NE(tracectl_probe_add(provider.it, std::string(128, 'a').c_str(), nullptr, 0), nullptr);
  EXPECT_EQ(tracectl_probe_add_numbered(provider.it, std::string(124, 'a').c_str(), 2, nullptr, 0),
            nullptr);
}

TEST(Runtime, ArgumentsThatCannotBeAreRefused) {
  const Provider provider("unit");
  const tracectl_argument bad_type{static_cast<tracectl_type>(11), "a"};
  const tracectl_argument no_type{static_cast<tracectl_type>(0), "a"};
  const tracectl_argument bad_name{TRACECTL_INT8, "1a"};
  for (const tracectl_argument& bad : {bad_type, no_type, bad_name})
    EXPECT_EQ(tracectl_probe_add(provider.it, "p", &bad, 1), nullptr);
  const std::vector<tracectl_argument> thirteen(13, kNumber);
  EXPECT_EQ(tracectl_probe_add(provider.it, "p", thirteen.data(), 13), nullptr);
  EXPECT_NE(tracectl_probe_add(provider.it, "p", thirteen.data(), 12), nullptr);
  EXPECT_EQ(tracectl_probe_add(provider.it, "p", nullptr, 1), nullptr);
}

TEST(Runtime, EverythingTakesNull) {
  EXPECT_EQ(tracectl_probe_add(nullptr, "p", nullptr, 0), nullptr);
  EXPECT_EQ(tracectl_user_trace_add(nullptr, 1), nullptr);
  EXPECT_EQ(tracectl_provider_load(nullptr), -1);
  EXPECT_EQ(tracectl_provider_remove(nullptr), -1);
  EXPECT_EQ(tracectl_probe_remove(nullptr, nullptr), -1);
  tracectl_provider_free(nullptr);
  EXPECT_EQ(tracectl_probe_at(nullptr, 5, 1), nullptr);
  EXPECT_FALSE(tracectl_user_trace_enabled(nullptr, 0));
  tracectl_user_trace_fire(nullptr, 0, nullptr, nullptr, nullptr, 0, nullptr, 0);
}

// ---- loading ----

TEST(Runtime, ThousandsOfProbesTakeFewImages) {
  const Provider provider("unit-many");
  constexpr size_t kMany = 10'000;
  const auto* const first = tracectl_probe_add_numbered(provider.it, "n", kMany, &kNumber, 1);
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(tracectl_provider_load(provider.it), 0);
  EXPECT_EQ(executable_mappings("unit-many"), 3u);
  std::set<const volatile uint16_t*> semaphores;
  std::set<void (*)()> sites;
  for (size_t i = 0; i < kMany; ++i) {
    const tracectl_probe* const probe = tracectl_probe_at(first, kMany, i);
    EXPECT_FALSE(tracectl_probe_enabled(probe));
    semaphores.insert(probe->semaphore);
    sites.insert(probe->site);
    set_semaphore(*probe, 1);
    TRACECTL_FIRE(probe, i);
  }
  EXPECT_EQ(semaphores.size(), kMany);
  EXPECT_EQ(sites.size(), kMany);
  EXPECT_EQ(tracectl_probe_at(first, kMany, kMany), nullptr);
}

TEST(Runtime, LoadedProbesStayWhereTheyAre) {
  const Provider provider("unit-twice");
  const tracectl_probe* const one = tracectl_probe_add(provider.it, "one", nullptr, 0);
  ASSERT_EQ(tracectl_provider_load(provider.it), 0);
  const tracectl_probe before = *one;
  ASSERT_EQ(tracectl_provider_load(provider.it), 0);
  EXPECT_EQ(executable_mappings("unit-twice"), 1u);
  ASSERT_NE(tracectl_probe_add(provider.it, "two", nullptr, 0), nullptr);
  ASSERT_EQ(tracectl_provider_load(provider.it), 0);
  EXPECT_EQ(executable_mappings("unit-twice"), 2u);
  EXPECT_EQ(one->semaphore, before.semaphore);
  EXPECT_EQ(one->site, before.site);
}

// ---- removing ----

TEST(Runtime, ARemovedProbeIsNotEnabledAndMayStillBeCalled) {
  const Provider provider("unit-gone");
  const tracectl_probe* const probe = tracectl_probe_add(provider.it, "p", &kNumber, 1);
  ASSERT_EQ(tracectl_provider_load(provider.it), 0);
  set_semaphore(*probe, 1);
  const tracectl_probe on_its_way = *probe;  // as read by a thread that is about to call it
  ASSERT_EQ(tracectl_probe_remove(provider.it, probe), 0);
  EXPECT_FALSE(tracectl_probe_enabled(probe));
  EXPECT_EQ(executable_mappings("unit-gone"), 0u);
  EXPECT_EQ(*on_its_way.semaphore, 0);
  reinterpret_cast<void (*)(uint64_t)>(on_its_way.site)(1);
}

TEST(Runtime, AnImageIsThereUntilItsLastProbeIsRemoved) {
  const Provider provider("unit-last");
  const tracectl_probe* const one = tracectl_probe_add(provider.it, "one", nullptr, 0);
  const tracectl_probe* const two = tracectl_probe_add(provider.it, "two", nullptr, 0);
  ASSERT_EQ(tracectl_provider_load(provider.it), 0);
  set_semaphore(*one, 1);
  ASSERT_EQ(tracectl_probe_remove(provider.it, one), 0);
  ASSERT_EQ(tracectl_probe_remove(provider.it, one), 0);  // a second removal does nothing
  EXPECT_FALSE(tracectl_probe_enabled(one));
  EXPECT_EQ(executable_mappings("unit-last"), 1u);
  set_semaphore(*two, 1);
  EXPECT_TRUE(tracectl_probe_enabled(two));
  ASSERT_EQ(tracectl_probe_remove(provider.it, two), 0);
  EXPECT_EQ(executable_mappings("unit-last"), 0u);
}

TEST(Runtime, WhatIsRemovedBeforeItIsLoadedIsNotLoaded) {
  const Provider provider("unit-never");
  const tracectl_probe* const probe = tracectl_probe_add(provider.it, "p", nullptr, 0);
  ASSERT_EQ(tracectl_probe_remove(provider.it, probe), 0);
  ASSERT_EQ(tracectl_provider_load(provider.it), 0);
  EXPECT_EQ(executable_mappings("unit-never"), 0u);
}

int descriptor_of(const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto file = std::filesystem::read_symlink(entry, gone).string();
    if (file.find(name) != file.npos) return std::stoi(entry.path().filename());
  }
  return -1;
}

// A program may close all descriptors, and open others.
TEST(Runtime, ADescriptorThatIsAnotherFilesByNowStaysOpen) {
  for (const bool removed : {true, false}) {
    int number = -1;
    {
      const Provider provider("unit-closed");
      tracectl_probe_add(provider.it, "p", nullptr, 0);
      ASSERT_EQ(tracectl_provider_load(provider.it), 0);
      number = descriptor_of("unit-closed");
      ASSERT_EQ(dup2(STDIN_FILENO, number), number);
      if (removed) {
        ASSERT_EQ(tracectl_provider_remove(provider.it), 0);
      }
    }
    EXPECT_EQ(close(number), 0);
  }
}

TEST(Runtime, DescriptorsAreClosedWithTheirImages) {
  const Provider provider("unit-open");
  const tracectl_probe* const probe = tracectl_probe_add(provider.it, "p", nullptr, 0);
  ASSERT_EQ(tracectl_provider_load(provider.it), 0);
  EXPECT_GE(descriptor_of("unit-open"), 0);
  ASSERT_EQ(tracectl_probe_remove(provider.it, probe), 0);
  EXPECT_EQ(descriptor_of("unit-open"), -1);
}

TEST(Runtime, ManyMayUseAProviderAtOnce) {
  const Provider provider("unit-threads");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const auto* const probe = tracectl_probe_add(provider.it, "p", &kNumber, 1);
        EXPECT_EQ(tracectl_provider_load(provider.it), 0);
        set_semaphore(*probe, 1);
        TRACECTL_FIRE(probe, i);
        EXPECT_EQ(tracectl_probe_remove(provider.it, probe), 0);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(executable_mappings("unit-threads"), 0u);
}

TEST(Runtime, FreedProvidersLeaveNoMappings) {
  const size_t before = executable_mappings("usdt-");
  for (int i = 0; i < 3; ++i) {
    const Provider provider("unit-freed");
    tracectl_probe_add(provider.it, "p", nullptr, 0);
    tracectl_user_trace_add(provider.it, 5);
    ASSERT_EQ(tracectl_provider_load(provider.it), 0);
    if (i == 1) {
      ASSERT_EQ(tracectl_provider_remove(provider.it), 0);
    }
  }
  EXPECT_EQ(executable_mappings("usdt-"), before);
}

}  // namespace

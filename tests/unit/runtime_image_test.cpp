// SPDX-License-Identifier: BSD-2-Clause
extern "C" {
#include "usdt/runtime/image.h"
}

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "daemon/object/elf_image.h"
#include "daemon/object/notes.h"
#include "tests/support/elf_builder.h"

namespace tracectl {
namespace {

using ::testing::ElementsAre;

constexpr size_t kPage = 4096;
constexpr uint8_t kEntries[] = "uint32_t\0items\0\1";
constexpr image_signature kNone{"", nullptr, 0};
constexpr image_signature kOneWord{"4@%rdi", kEntries, sizeof kEntries - 1};

struct Built {
  image view{};
  std::unique_ptr<uint8_t, void (*)(void*)> bytes{nullptr, std::free};

  std::string_view text() const { return {reinterpret_cast<const char*>(view.bytes), view.size}; }
  ElfFile file() const {
    auto file = ElfFile::open(on_file::as_file(text()).get(), "/image", "/none");
    EXPECT_TRUE(file) << file.error().message;
    return std::move(*file);
  }
};

Built build(const std::vector<image_probe>& probes, const char* provider = "shop",
            size_t page = kPage) {
  Built built;
  EXPECT_EQ(image_build(provider, probes.data(), probes.size(), page, &built.view), 0);
  built.bytes.reset(built.view.bytes);
  return built;
}

std::vector<image_probe> many(size_t count, const std::string& name) {
  return std::vector<image_probe>(count, {name.c_str(), &kOneWord});
}

TEST(RuntimeImage, ItsProbesAreReadBack) {
  const Built built = build({{"opened", &kNone}, {"order__placed", &kOneWord}});
  const auto sites = read_usdt_sites(built.file());
  ASSERT_TRUE(sites) << sites.error().message;
  ASSERT_EQ(sites->size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*sites)[i].provider, "shop");
    EXPECT_EQ((*sites)[i].offset, built.view.first_site + IMAGE_SITE_STRIDE * i);
    EXPECT_EQ((*sites)[i].semaphore, built.view.semaphores + 2 * i);
  }
  EXPECT_EQ((*sites)[0].name, "opened");
  EXPECT_EQ((*sites)[0].args_text, "");
  EXPECT_EQ((*sites)[1].name, "order__placed");
  EXPECT_EQ((*sites)[1].args_text, "4@%rdi");
}

// As in <tracectl/usdt.h>: nops of 1, 10 and 5 bytes and a return.
TEST(RuntimeImage, SitesAreFunctions) {
  const Built built = build({{"a", &kNone}, {"b", &kNone}});
  const ElfFile file = built.file();
  ASSERT_EQ(file.functions().size(), 2u);
  for (const Function& function : file.functions()) {
    EXPECT_THAT(*file.read_at_most(function.offset, function.size),
                ElementsAre(0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0f,
                            0x1f, 0x44, 0x00, 0x00, 0xc3));
    EXPECT_EQ(function.address % IMAGE_SITE_STRIDE, 0u);
  }
  EXPECT_EQ(file.functions()[1].name, "_tracectl.site.shop.b");
}

TEST(RuntimeImage, DeclaredTypesStandInANoteOfTheirOwn) {
  const Built built = build({{"placed", &kOneWord}});
  const auto note = built.file().open_again()->section_bytes(".note.tracectl");
  ASSERT_TRUE(note);
  constexpr size_t kHeader = 12 + 12;  // three words and the owner
  ASSERT_EQ(note->size(), kHeader + 16 + sizeof kEntries - 1);
  const std::string_view text{reinterpret_cast<const char*>(note->data()), note->size()};
  EXPECT_EQ(text.substr(12, 9), (std::string_view{"tracectl\0", 9}));
  EXPECT_EQ(static_cast<uint8_t>(text[kHeader]), built.view.first_site & 0xff);
  EXPECT_EQ(text.substr(kHeader + 16), (std::string_view{"uint32_t\0items\0\1", 16}));
}

TEST(RuntimeImage, SemaphoresHaveTheirOwnPages) {
  for (const size_t page : {size_t{4096}, size_t{65536}}) {
    const Built built = build(many(3000, "p"), "shop", page);
    EXPECT_EQ(built.view.semaphores % page, 0u);
    EXPECT_EQ(built.view.mapped_size % page, 0u);
    EXPECT_GE(built.view.semaphores, built.view.first_site + 3000 * IMAGE_SITE_STRIDE);
    EXPECT_GE(built.view.mapped_size, built.view.semaphores + 3000 * 2);
    EXPECT_GT(built.view.size, built.view.mapped_size);
  }
}

TEST(RuntimeImage, TheBuildIdIsThatOfTheContents) {
  const std::string one = build({{"a", &kNone}}).file().build_id();
  EXPECT_EQ(one.size(), 2 * IMAGE_BUILD_ID_SIZE);
  EXPECT_EQ(build({{"a", &kNone}}).file().build_id(), one);
  EXPECT_NE(build({{"b", &kNone}}).file().build_id(), one);
  EXPECT_NE(build({{"a", &kOneWord}}).file().build_id(), one);
  EXPECT_NE(build({{"a", &kNone}}, "Shop").file().build_id(), one);
}

// The longest names and arguments are the first to reach a limit of readers.
TEST(RuntimeImage, TheFullestOneIsRead) {
  std::string places;
  for (int i = 0; i < 12; ++i) places += "-8@48(%rsp) ";
  const std::vector<uint8_t> entries(12 * (12 + 129 + 1), 'x');
  const image_signature longest{places.c_str(), entries.data(), entries.size()};
  const std::string name(128, 'n');
  for (const image_probe& probe : {image_probe{name.c_str(), &longest}, {"n", &kNone}}) {
    const size_t each = image_note_bytes("provider", &probe);
    const size_t count = std::min<size_t>(IMAGE_MOST_PROBES, IMAGE_MOST_NOTE_BYTES / each);
    const ElfFile file = build(std::vector<image_probe>(count, probe), "provider").file();
    EXPECT_LE(file.section(".note.stapsdt")->size, IMAGE_MOST_NOTE_BYTES);
    EXPECT_LE(file.section(".note.tracectl")->size, IMAGE_MOST_NOTE_BYTES);
    const auto sites = read_usdt_sites(file);
    ASSERT_TRUE(sites) << sites.error().message;
    EXPECT_EQ(sites->size(), count);
  }
}

TEST(RuntimeImage, TheEmptyOneHasSitesAndNoProbes) {
  const Built built = build(many(1000, "p"));
  std::vector<uint8_t> code(built.view.semaphores);
  image_write_empty(code.data(), code.size(), kPage);
  for (size_t i = 0; i < 1000; ++i) {
    const size_t site = built.view.first_site + i * IMAGE_SITE_STRIDE;
    ASSERT_EQ(std::memcmp(&code[site], built.view.bytes + site, IMAGE_SITE_STRIDE), 0);
  }
  const std::string_view text{reinterpret_cast<const char*>(code.data()), code.size()};
  const auto file = ElfFile::open(on_file::as_file(text).get(), "/empty", "/none");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(read_usdt_sites(*file)->size(), 0u);
  EXPECT_EQ(file->functions().size(), 0u);
}

}  // namespace
}  // namespace tracectl

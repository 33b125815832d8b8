// SPDX-License-Identifier: BSD-2-Clause
//
// Sources of the rules: GDB's manual, "Debugging Information in Separate Files" and "Debugging
// information in a special section" (MiniDebugInfo).
#include "daemon/object/debug_files.h"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace tracectl {
namespace {

constexpr uint64_t kMostUnpackedBytes = 64 << 20;
constexpr uint64_t kMostDebugBytes = 1 << 30;  // of debug sections, unpacked

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

Fd open_here(const std::string& path) {
  return Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
}

// One for the process, like its rights.
std::function<Fd(const std::string&)>& opener_of_process() {
  static std::function<Fd(const std::string&)> opener = open_here;
  return opener;
}

std::optional<Fd> open_regular(const std::string& path) {
  Fd fd = opener_of_process()(path);
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return fd;
}

std::optional<ElfImage> open_image(const std::string& path) {
  auto fd = open_regular(path);
  if (!fd) return std::nullopt;
  auto image = ElfImage::open(std::move(*fd), path);
  if (!image) return std::nullopt;
  return std::move(*image);
}

std::optional<ElfImage> by_build_id(const std::string& build_id, const std::string& root) {
  if (build_id.size() < 4) return std::nullopt;
  auto image = open_image(root + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) +
                          ".debug");
  if (!image || image->build_id() != build_id) return std::nullopt;
  return image;
}

// ---- by debug link: a file name and the CRC of that file ----

struct DebugLink {
  std::string name;
  uint32_t crc = 0;
};

std::optional<DebugLink> debug_link_of(const ElfImage& image) {
  const auto bytes = image.section_bytes(".gnu_debuglink");
  if (!bytes) return std::nullopt;
  const auto* text = reinterpret_cast<const char*>(bytes->data());
  const size_t length = ::strnlen(text, bytes->size());
  const size_t crc_at = (length + 1 + 3) / 4 * 4;
  if (length == 0 || crc_at + 4 > bytes->size()) return std::nullopt;
  DebugLink link{std::string(text, length), 0};
  std::memcpy(&link.crc, bytes->data() + crc_at, sizeof(link.crc));
  if (link.name.find('/') != std::string::npos) return std::nullopt;
  return link;
}

std::optional<uint32_t> crc_of(const std::string& path) {
  auto fd = open_regular(path);
  if (!fd) return std::nullopt;
  std::array<uint8_t, 65536> buffer;
  uint32_t crc = 0;
  for (;;) {
    const ssize_t count = ::read(fd->get(), buffer.data(), buffer.size());
    if (count < 0) return std::nullopt;
    if (count == 0) return crc;
    crc = lzma_crc32(buffer.data(), static_cast<size_t>(count), crc);
  }
}

std::optional<ElfImage> by_debug_link(const ElfImage& image, const std::string& path,
                                      const std::string& build_id, const std::string& root) {
  const auto link = debug_link_of(image);
  if (!link) return std::nullopt;
  const std::string directory = directory_of(path);
  for (const std::string& candidate :
       {directory + "/" + link->name, directory + "/.debug/" + link->name,
        root + directory + "/" + link->name}) {
    if (candidate == path || crc_of(candidate) != link->crc) continue;
    auto found = open_image(candidate);
    if (!found) continue;
    const std::string id = found->build_id();
    if (build_id.empty() || id.empty() || id == build_id) return found;
  }
  return std::nullopt;
}

// ---- by alternate link: a file name and the build id of that file ----

std::optional<std::string> common_path(const std::string& name, const std::string& root) {
  const size_t at = name.find("/.dwz/");
  if (at == std::string::npos || name.find("/../") != std::string::npos) return std::nullopt;
  return root + name.substr(at);
}

// ---- .gnu_debugdata: an ELF file packed by xz ----

std::optional<std::vector<char>> unpack(const std::vector<uint8_t>& packed) {
  std::vector<char> out;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMostUnpackedBytes, 0) != LZMA_OK) return std::nullopt;
  stream.next_in = packed.data();
  stream.avail_in = packed.size();
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK && out.size() < kMostUnpackedBytes) {
    const size_t done = out.size();
    out.resize(done + (1 << 20));
    stream.next_out = reinterpret_cast<uint8_t*>(out.data() + done);
    stream.avail_out = out.size() - done;
    result = lzma_code(&stream, LZMA_FINISH);
    out.resize(out.size() - stream.avail_out);
  }
  lzma_end(&stream);
  if (result != LZMA_STREAM_END) return std::nullopt;
  return out;
}

std::optional<ElfImage> packed_in(const ElfImage& image, const std::string& path) {
  const auto packed = image.section_bytes(".gnu_debugdata");
  if (!packed) return std::nullopt;
  auto bytes = unpack(*packed);
  if (!bytes) return std::nullopt;
  auto found = ElfImage::open(std::move(*bytes), ".gnu_debugdata of " + path);
  if (!found) return std::nullopt;
  return std::move(*found);
}

// ---- checks before libdw reads a file ----

uint64_t unpacked_bytes(Elf_Scn* section, const GElf_Shdr& header) {
  GElf_Chdr packed;
  if ((header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &packed))
    return std::max<uint64_t>(packed.ch_size, header.sh_size);
  return header.sh_size;
}

// The size of the debug sections; none if one is of the old compressed kind.
std::optional<uint64_t> debug_bytes(const ElfImage& image) {
  size_t names = 0;
  uint64_t all = 0;
  if (elf_getshdrstrndx(image.elf(), &names) != 0) return std::nullopt;
  for (Elf_Scn* at = elf_nextscn(image.elf(), nullptr); at; at = elf_nextscn(image.elf(), at)) {
    GElf_Shdr header;
    if (!gelf_getshdr(at, &header)) return std::nullopt;
    const char* name = elf_strptr(image.elf(), names, header.sh_name);
    if (!name) continue;
    if (std::string_view(name).starts_with(".zdebug")) return std::nullopt;
    if (header.sh_type != SHT_NOBITS && std::string_view(name).starts_with(".debug"))
      all += std::min(unpacked_bytes(at, header), kMostDebugBytes + 1);
  }
  return all;
}

}  // namespace

void open_debug_files_by(std::function<Fd(const std::string& path)> opener) {
  opener_of_process() = opener ? std::move(opener) : open_here;
}

std::vector<ElfImage> open_debug_files(const ElfImage& image, const std::string& path,
                                       const std::string& build_id, const std::string& debug_root,
                                       const NamedDebugFile* named) {
  std::vector<ElfImage> files;
  std::optional<ElfImage> separate;
  if (named)
    if (auto opened = open_named(*named, path, build_id)) separate = std::move(*opened);
  if (!separate) separate = by_build_id(build_id, debug_root);
  if (!separate) separate = by_debug_link(image, path, build_id, debug_root);
  if (separate) files.push_back(std::move(*separate));
  if (auto packed = packed_in(image, path)) files.push_back(std::move(*packed));
  return files;
}

Result<ElfImage> open_named(const NamedDebugFile& named, const std::string& path,
                            const std::string& build_id) {
  Fd fd{::fcntl(named.fd.get(), F_DUPFD_CLOEXEC, 0)};
  if (!fd) return Error::from_errno("duplicate the descriptor of " + named.path);
  auto image = ElfImage::open(std::move(fd), named.path);
  if (!image) return image.error();
  const std::string id = image->build_id();
  if (!id.empty() && id == build_id) return image;
  return Error{Code::invalid,
               named.path + " has " + (id.empty() ? "no build id" : "the build id " + id) +
                   ", and " + path + " has " + (build_id.empty() ? "none" : build_id) +
                   ": it is not the debug information of that file",
               "debug_files"};
}

std::optional<ElfImage> open_common_file(const ElfImage& image, const std::string& debug_root) {
  const auto bytes = image.section_bytes(".gnu_debugaltlink");
  if (!bytes) return std::nullopt;
  const auto* text = reinterpret_cast<const char*>(bytes->data());
  const size_t length = ::strnlen(text, bytes->size());
  if (length == bytes->size()) return std::nullopt;
  const auto path = common_path(std::string(text, length), debug_root);
  if (!path) return std::nullopt;
  auto found = open_image(*path);
  if (!found || found->build_id() != hex_of(std::span(*bytes).subspan(length + 1)))
    return std::nullopt;
  return found;
}

std::optional<ElfImage> open_split_file(const std::string& path) {
  auto image = open_image(path);
  if (!image || !may_read_debug_info(*image)) return std::nullopt;
  return image;
}

bool may_read_debug_info(const ElfImage& image) {
  const auto bytes = debug_bytes(image);
  return bytes && *bytes <= kMostDebugBytes;
}

}  // namespace tracectl

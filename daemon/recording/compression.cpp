// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/recording/compression.h"

#include <zstd.h>

namespace tracectl::recording {
namespace {

constexpr int kLevel = 1;  // the fastest, because recording must not take much CPU time

}  // namespace

std::string compressed(std::string_view plain) {
  std::string out(::ZSTD_compressBound(plain.size()), '\0');
  const size_t size = ::ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), kLevel);
  if (::ZSTD_isError(size) || size >= plain.size()) return {};
  out.resize(size);
  return out;
}

std::optional<std::string> decompressed(std::string_view stored, size_t plain_bytes) {
  std::string out(plain_bytes, '\0');
  const size_t size = ::ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
  if (::ZSTD_isError(size) || size != plain_bytes) return std::nullopt;
  return out;
}

}  // namespace tracectl::recording

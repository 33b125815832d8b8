// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "daemon/base/fd.h"

namespace tracectl {

Result<std::string> read_text_file(const std::string& path, size_t most_bytes) {
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file) return Error::from_errno("open it");
  std::string text(most_bytes + 1, '\0');
  size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < text.size(); size += static_cast<size_t>(got)) {
    got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0) return Error::from_errno("read it");
  }
  if (size > most_bytes)
    return Error{Code::invalid, "it has more than " + std::to_string(most_bytes) + " bytes"};
  text.resize(size);
  return text;
}

}  // namespace tracectl

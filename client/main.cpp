// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/remote.h"
#include "client/connection/wait.h"
#include "client/output/output.h"
#include "client/verbs/command_line.h"

using namespace tracectl;

int main(int argc, char** argv) {
  CommandLine line;
  const Words words{argv + 1, argv + argc};
  if (auto status = read(words, line)) return *status;
  if (!line.common.host.empty()) {
    const auto there = without_host(words);
    return there ? run_remote(line.common.host, *there) : (fail(there.error()), kUsage);
  }
  if (line.common.end_with_input)
    if (auto set = end_with_input(); !set) return fail(set.error());
  return line.chosen->run(line.common);
}

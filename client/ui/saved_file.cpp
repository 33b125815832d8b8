// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/saved_file.h"

#include <filesystem>

#include "client/output/output_file.h"
#include "daemon/protocol/session_file.h"

namespace tracectl::ui {
namespace {

Result<std::string> program_of(int64_t pid) {
  std::error_code error;
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  const std::string program = std::filesystem::read_symlink(link, error);
  if (error) return Error::from_errno(link, error.value());
  return program;
}

}  // namespace

Status write_session_file(const SaveAs& request, int64_t pid, double budget) {
  auto program = program_of(pid);
  if (!program) return program.error();
  protocol::SessionFile saved{.settings = {}, .budget = budget};
  protocol::TargetPart target;
  target.executables = {*program};
  for (const WantedSetting& setting : request.settings)
    saved.settings.push_back(
        {.pattern = setting.pattern, .scope = "local", .target = target, .action = setting.action});
  auto file = OutputFile::open(request.name);
  if (!file) return file.error();
  file->write(protocol::text_of(saved) + "\n");
  return file->commit();
}

}  // namespace tracectl::ui

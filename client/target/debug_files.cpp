// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/debug_files.h"

#include <elfutils/debuginfod.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "client/output/output.h"
#include "daemon/base/fd.h"
#include "daemon/protocol/stacks.h"

namespace tracectl {
namespace {

// Shows the progress of a download, on one line that is overwritten.
int show_progress(debuginfod_client* client, long done, long all) {
  const auto* name = static_cast<const std::string*>(debuginfod_get_user_data(client));
  const std::string share = all > 0 ? fmt::format(" {:3} %", 100 * done / all) : "";
  print_error(fmt::format("\rdebug file of {}:{}", *name, share));
  return 0;  // continue
}

int show_nothing(debuginfod_client*, long, long) { return 0; }

}  // namespace

void DebugFiles::End::operator()(debuginfod_client* client) const { debuginfod_end(client); }

DebugFiles::DebugFiles(const CommonOptions& common) : format_(common.stack_format) {
  if (format_ != StackFormat::symbols) return;
  if (auto named = NamedDebugFiles::open(common.debug_paths))
    named_ = std::move(*named);
  else
    print_error(named.error().message + "\n");
  const char* urls = std::getenv(DEBUGINFOD_URLS_ENV_VAR);
  if (!urls || !*urls) return;
  server_.reset(debuginfod_begin());
  const bool shows = !common.quiet && ::isatty(STDERR_FILENO);
  if (server_) debuginfod_set_progressfn(server_.get(), shows ? show_progress : show_nothing);
}

std::shared_ptr<ObjectSymbols> DebugFiles::fetch(const Frame& frame) {
  if (named_)
    if (auto symbols = named_->symbols_of(frame.build_id, frame.module)) return symbols;
  return server_ ? download(frame) : nullptr;
}

// Null if no server has it, or the file that came does not match.
std::shared_ptr<ObjectSymbols> DebugFiles::download(const Frame& frame) {
  std::string name = frame.module;
  debuginfod_set_user_data(server_.get(), &name);
  // A length of 0 means that the id is text.
  const Fd fd{debuginfod_find_debuginfo(
      server_.get(), reinterpret_cast<const unsigned char*>(frame.build_id.c_str()), 0, nullptr)};
  debuginfod_set_user_data(server_.get(), nullptr);
  if (!fd) return nullptr;
  auto symbols = ObjectSymbols::open(fd.get(), frame.module);
  if (!symbols || (*symbols)->elf().build_id() != frame.build_id) return nullptr;
  return *symbols;
}

std::shared_ptr<ObjectSymbols> DebugFiles::file_of(const Frame& frame) {
  const auto [known, is_new] = known_.try_emplace(frame.build_id);
  if (is_new) known->second = fetch(frame);
  return known->second;
}

std::vector<Frame> DebugFiles::completed(const Frame& frame, bool is_probed) {
  if (!named_ && !server_) return {frame};
  if (!frame.file.empty() || frame.inlined || frame.build_id.empty()) return {frame};
  const auto file = file_of(frame);
  if (!file) return {frame};
  using Of = ObjectSymbols::Of;
  std::vector<Frame> found =
      file->frames_at(frame.offset, is_probed ? Of::instruction : Of::return_address);
  if (found.back().function.empty()) return {frame};
  for (Frame& one : found) one.address = frame.address;
  found.back().size_bytes = frame.size_bytes;
  return found;
}

Stack DebugFiles::completed(const Stack& stack) { return shown_as(format_, with_names(stack)); }

Stack DebugFiles::with_names(const Stack& stack) {
  if (!server_ && (!named_ || named_->is_empty())) return stack;
  Stack complete{.by = stack.by, .end = stack.end, .frames = {}};
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    auto frames = completed(stack.frames[i], i == 0);
    std::move(frames.begin(), frames.end(), std::back_inserter(complete.frames));
  }
  return complete;
}

void DebugFiles::complete(protocol::ReadReply& reply) {
  for (protocol::RowPart& row : reply.rows) {
    if (const auto stack = stack_of(row.stack, row.stack_by, row.stack_end); stack && *stack)
      row.stack = protocol::parts_of(completed(**stack));
    if (row.caller)
      row.caller =
          protocol::part_of(shown_as(format_, completed(frame_of(*row.caller), false).back()));
  }
}

}  // namespace tracectl

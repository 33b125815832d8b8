// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/command_line.h"

#include <algorithm>
#include <charconv>

#include "client/options/display.h"
#include "client/output/output.h"
#include "client/verbs/all.h"
#include "client/verbs/grammar.h"

namespace tracectl {
namespace {

// ssh would treat it as an option.
std::string check_host(const std::string& host) {
  return host.empty() || host.starts_with('-') ? "a host is wanted, not \"" + host + '"' : "";
}

std::string check_stack_format(const std::string& name) {
  return stack_format_named(name) ? "" : "symbols, raw or build-id is wanted, not \"" + name + '"';
}

void add_common(Grammar grammar, CommonOptions& common, std::string& stack_format) {
  grammar.option("--socket", common.socket, "the daemon's socket")
      .value_name("FILE")
      .environment("TRACECTL_SOCKET")
      .shows_default();
  grammar.flag("--embedded", common.embedded, "trace without a daemon (as root)");
  grammar.flag("--fast-nops", common.fast_nops,
               "of the embedded engine: probes on 5-byte nops may become calls; see tracectld(8)");
  grammar.flag(
      "--emulate", common.emulate,
      "of the embedded engine: carry out what the kernel would single-step; see tracectld(8)");
  grammar.option("-H,--host", common.host, "run this on another host, over ssh")
      .value_name("[USER@]HOST")
      .check(check_host);
  grammar.flag("--end-with-input", common.end_with_input, "take the end of standard input for ^C");
  grammar
      .option("--debuginfo", common.debug_paths,
              "debug information of what is traced: a file, or a directory searched by build id; "
              "repeatable")
      .value_name("PATH")
      .one_at_a_time();
  grammar
      .option("--stack-format", stack_format,
              "frames of stacks: symbols, raw (addresses) or build-id (BUILDID+0xOFFSET)")
      .value_name("FORMAT")
      .check(check_stack_format);
  grammar.flag("--json", common.json, "one JSON document, or one a line when streaming");
  grammar.flag("--mangled", common.mangled,
               "functions of C++ and Rust by the names of their symbols");
  grammar.flag(
      "--no-pager", [&common] { common.pager = false; },
      "print what is longer than the terminal at once");
  grammar.flag("-q,--quiet", common.quiet, "results only");
  grammar.flag("-v,--verbose", common.verbose,
               "more: timings of switches, the log of the embedded engine");
}

Status take_command(CommandLine& line, const CommandLineReader& reader,
                    std::vector<std::string> command) {
  if (command.empty()) return ok();
  if (auto* taken = line.chosen->command()) return *taken = std::move(command), ok();
  return Error{Code::invalid, reader.verb() + " starts no command: leave -- away"};
}

// `complete CURSOR -- WORD...`, which the completions of shells run.
bool is_completion(const std::vector<std::string>& words) {
  return words.size() > 2 && words[0] == "complete" && words[2] == "--";
}

int complete(const CommandLineReader& reader, const std::vector<std::string>& words) {
  const std::string& number = words[1];
  size_t cursor = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), cursor);
  const bool is_number = read.ec == std::errc{} && read.ptr == number.data() + number.size();
  if (!is_number || cursor > words.size() - 3) return kUsage;
  reader.print_completions(cursor, {words.begin() + 3, words.end()});
  return kDone;
}

}  // namespace

std::optional<int> read(std::vector<std::string> words, CommandLine& line) {
  CommandLineReader reader(line);
  std::string stack_format = "symbols";
  add_common(reader.grammar(), line.common, stack_format);
  add_all_verbs(reader.grammar());
  if (is_completion(words)) return complete(reader, words);

  std::vector<std::string> command;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    command.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  if (auto status = reader.read(std::move(words))) return status;
  set_display({.linkage_names = line.common.mangled, .columns = terminal_size().columns});
  line.common.stack_format = *stack_format_named(stack_format);
  if (auto taken = take_command(line, reader, std::move(command)); !taken)
    return fail(taken.error()), kUsage;
  if (auto completed = line.chosen->complete(line.common); !completed)
    return fail(completed.error()), kUsage;
  return std::nullopt;
}

}  // namespace tracectl

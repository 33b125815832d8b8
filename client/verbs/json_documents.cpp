// SPDX-License-Identifier: BSD-2-Clause
#include "client/verbs/json_documents.h"

#include <map>

namespace tracectl {
namespace {

using Names = std::vector<std::string>;

const Names kTable{"session.read.reply", "trouble"};
const Names kStream{"event", "lost", "left_out", "trouble"};

Names with(Names names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

const std::map<std::string, Names>& all_documents() {
  static const std::map<std::string, Names> all{
      {"list", {"probe.list.reply"}},
      {"info", {"probe.info.reply"}},
      {"top", {"top"}},
      {"ui", {}},
      {"trace", with(kStream, {"record.stop.reply"})},
      {"count", kTable},
      {"hist", kTable},
      {"time", kTable},
      {"latency", kTable},
      {"stacks", with(kStream, {"session.read.reply"})},
      {"offcpu", kTable},
      {"graph", with(kStream, {"call_sums", "record.stop.reply"})},
      {"recipe list", {"recipes"}},
      {"recipe show", {"recipe"}},
      {"recipe run", with(kStream, {"session.read.reply", "call_sums"})},
      {"record", {"record.stop.reply", "trouble"}},
      {"recorder", {"session.show.reply"}},
      {"dump", {"record.dumped.reply"}},
      {"show", {"event", "lost"}},
      {"report", {"call_sums", "call_changes", "session.read.reply", "timeline", "written_file"}},
      {"export", {"written_file", "export_formats"}},
      {"session new", {"session.create.reply"}},
      {"session list", {"session.list.reply"}},
      {"session show", {"session.show.reply"}},
      {"session prove", {"session.prove.reply"}},
      {"session save", {"session_file"}},
      {"session delete", {"session.delete.reply"}},
      {"stage set", {"stage.set.reply"}},
      {"stage remove", {"stage.remove.reply"}},
      {"commit", {"stage.commit.reply"}},
      {"abort", {"stage.abort.reply"}},
      {"pause", {"session.pause.reply"}},
      {"resume", {"session.resume.reply"}},
      {"restart", {"session.restart.reply"}},
      {"read", {"session.read.reply"}},
      {"watch", with(kStream, {"session.read.reply", "gap"})},
      {"flush", {"session.flush.reply"}},
      {"join", {"joined"}},
      {"status", {"daemon.status.reply"}},
      {"stats", {"daemon.stats.reply"}},
      {"metrics", {"daemon.status.reply", "daemon.stats.reply"}},
      {"doctor", {"daemon.doctor.reply"}},
      {"schema", {}},
  };
  return all;
}

}  // namespace

std::optional<std::vector<std::string>> json_documents_of(const std::string& verb) {
  const auto found = all_documents().find(verb);
  return found == all_documents().end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tracectl

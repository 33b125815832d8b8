// SPDX-License-Identifier: BSD-2-Clause
#include "client/export/ways.h"

#include "client/export/flame_graph.h"
#include "client/export/formats.h"
#include "client/output/output_file.h"
#include "client/render/call_tree_text.h"
#include "client/render/text.h"

namespace tracectl {

void Ways::add(const Event& event) {
  if (event.call) {
    has_calls_ = true;
    calls_.add(event);
  } else if (event.stack) {
    has_stacks_ = true;
    stacks_.add(*event.stack);
  }
}

Status Ways::check() const {
  if (has_calls_ || has_stacks_) return ok();
  return Error{
      Code::not_found,
      "the recording has neither calls nor stacks: record calls by tracectl graph FUNCTION "
      "-o FILE, or stacks by --do stack"};
}

std::string Ways::folded() const { return has_calls_ ? folded_text(calls_) : stacks_.text(); }

namespace {

class FoldedExport final : public Export {
 public:
  explicit FoldedExport(OutputFile file) : file_(std::move(file)) {}

  Status add(const Event& event) override { return ways_.add(event), ok(); }
  // The formats of sums have no place for losses; the command that reads the recording reports them.
  Status add(const Lost&) override { return ok(); }
  Status finish() override {
    if (auto has_ways = ways_.check(); !has_ways) return has_ways;
    if (auto written = file_.write(ways_.folded()); !written) return written;
    return file_.commit();
  }

 private:
  OutputFile file_;
  Ways ways_;
};

class FlameGraphExport final : public Export {
 public:
  explicit FlameGraphExport(OutputFile file) : file_(std::move(file)) {}

  Status add(const Event& event) override { return ways_.add(event), ok(); }
  Status add(const Lost&) override { return ok(); }
  Status finish() override {
    if (auto has_ways = ways_.check(); !has_ways) return has_ways;
    if (auto written = file_.write(drawn()); !written) return written;
    return file_.commit();
  }

 private:
  std::string drawn() const {
    const bool is_time = ways_.has_calls();
    FlameGraph graph([&](uint64_t n) { return is_time ? duration_text(n) : plural(n, "hit"); });
    const std::string folded = ways_.folded();
    for (size_t at = 0; at < folded.size();) {
      const size_t end = folded.find('\n', at);
      graph.add(std::string_view(folded).substr(at, end - at));
      at = end + 1;
    }
    return graph.svg(is_time ? "Time of calls" : "Stacks of hits");
  }

  OutputFile file_;
  Ways ways_;
};

template <class Made> OpenedExport open_at(const std::string& path) {
  auto file = OutputFile::open(path);
  if (!file) return file.error();
  return std::unique_ptr<Export>(new Made(std::move(*file)));
}

}  // namespace

OpenedExport open_folded(const std::string& path, const Recorded&) {
  return open_at<FoldedExport>(path);
}

OpenedExport open_flame_graph(const std::string& path, const Recorded&) {
  return open_at<FlameGraphExport>(path);
}

}  // namespace tracectl

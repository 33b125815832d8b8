// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/reading_main.h"

#include <malloc.h>
#include <unistd.h>

#include <map>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/base/bytes.h"
#include "daemon/object/debug_files.h"
#include "daemon/object/loaded_program.h"
#include "daemon/object/own_reading.h"
#include "daemon/sandbox/confinement.h"
#include "daemon/sandbox/stack_wire.h"
#include "daemon/sandbox/wire.h"
#include "daemon/sandbox/wire_socket.h"

namespace tracectl {
namespace {

constexpr int kSocket = 0;
constexpr int kNoConfinement = 4, kCutOff = 5;  // as exit statuses

using wire::Kind;

// The connection to the daemon. Without it this process can do nothing, and exits.
class Daemon {
 public:
  WireSocket::Message receive() {
    auto message = socket_.receive();
    if (!message) ::_exit(message.error().code == Code::not_found ? 0 : kCutOff);
    return std::move(*message);
  }

  void send(Kind kind, std::string_view bytes) {
    if (!socket_.send(kind, bytes)) ::_exit(kCutOff);
  }

  // Asks for a debug file, which a process with the rights opens.
  Fd wish(const std::string& path) {
    send(Kind::wish, path);
    return receive().descriptor;
  }

 private:
  WireSocket socket_{kSocket};
};

// The files and programs that it has received.
class Files {
 public:
  void open(uint64_t number, std::string_view path, const Fd& fd) {
    files_.insert_or_assign(
        number, OpenFile::open(fd.get(), std::string(path), std::exchange(named_, std::nullopt)));
  }

  // The debug file of the next one that is opened.
  void name(std::string_view path, Fd fd) {
    named_ = NamedDebugFile{std::move(fd), std::string(path)};
  }

  void close(uint64_t number) {
    files_.erase(number);
    programs_.erase(number);
    ::malloc_trim(0);
  }

  void load(uint64_t number, const wire::LoadedPlace& place, const Fd& fd) {
    programs_[number].add(symbols_, fd.get(), place.path, place.ranges);
  }

  std::string answer_of_program(uint64_t number, std::string_view bytes) {
    const auto program = programs_.find(number);
    const auto question = wire::decode_stack_question(bytes);
    if (program == programs_.end() || !question)
      return wire::encode(Error{Code::invalid, "this is no question"});
    return wire::encode(program->second.answer(*question));
  }

  std::string answer(Kind kind, uint64_t number, ByteReader& question) {
    const auto file = files_.find(number);
    if (file == files_.end()) return wire::encode(Error{Code::invalid, "there is no such file"});
    if (!file->second) return wire::encode(file->second.error());
    return answer(kind, **file->second, question);
  }

 private:
  static std::string answer(Kind kind, OpenFile& file, ByteReader& question) {
    if (kind == Kind::facts) return wire::encode(file.facts());
    if (kind == Kind::function_at) return wire::encode(file.function_at(question.varint()));
    const auto asked = wire::decode_question(question.rest());
    if (!asked) return wire::encode(Error{Code::invalid, "this is no question"});
    return wire::encode(file.find(*asked));
  }

  std::optional<NamedDebugFile> named_;
  std::map<uint64_t, Result<std::shared_ptr<OpenFile>>> files_;
  SymbolFiles symbols_;
  std::map<uint64_t, LoadedProgram> programs_;
};

wire::LoadedPlace place_in(std::string_view bytes) {
  auto place = wire::decode_place(bytes);
  if (!place) ::_exit(kCutOff);
  return std::move(*place);
}

void serve(Daemon& daemon, Files& files) {
  auto message = daemon.receive();
  ByteReader bytes(message.bytes);
  const uint64_t number = bytes.varint();
  switch (message.kind) {
    case Kind::open: return files.open(number, bytes.text(), message.descriptor);
    case Kind::named_debug_file: return files.name(bytes.text(), std::move(message.descriptor));
    case Kind::close: return files.close(number);
    case Kind::load: return files.load(number, place_in(bytes.rest()), message.descriptor);
    case Kind::stacks:
      return daemon.send(Kind::answer, files.answer_of_program(number, bytes.rest()));
    case Kind::facts:
    case Kind::find:
    case Kind::function_at:
      return daemon.send(Kind::answer, files.answer(message.kind, number, bytes));
    case Kind::debug_file:
    case Kind::answer:
    case Kind::wish: ::_exit(kCutOff);
  }
}

}  // namespace

bool is_reading_process(std::span<char* const> arguments) {
  return arguments.size() == 1 && std::string_view(arguments[0]) == kReadingName;
}

int serve_reading() {
  std::set_new_handler([] { ::_exit(kOutOfMemory); });
  if (confine_reading() != 0) return kNoConfinement;
  Daemon daemon;
  open_debug_files_by([&](const std::string& path) { return daemon.wish(path); });
  Files files;
  for (;;) serve(daemon, files);
}

}  // namespace tracectl

// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/objects_by_name.h"

#include <glob.h>

#include <filesystem>
#include <set>

#include "client/target/shared_objects.h"
#include "daemon/model/pattern.h"
#include "daemon/process/chosen_files.h"
#include "daemon/process/command.h"
#include "daemon/process/running.h"

namespace tracectl {
namespace {

namespace fs = std::filesystem;
using Paths = std::set<std::string>;

std::vector<std::string> expanded(const std::string& glob) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(glob.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return paths;
}

Paths by_path(const std::string& object) {
  Paths paths;
  for (const std::string& path : expanded(object)) {
    const std::string real = real_path(path);
    if (is_elf_file(real)) paths.insert(real);
  }
  return paths;
}

Paths in_library_directories(const std::string& object) {
  SharedObjects search(object);
  for (const fs::path& directory : library_path()) search.look_in(directory);
  for (const char* root : {"/lib", "/usr/lib", "/usr/local/lib"}) {
    search.look_in(root);
    for (const std::string& directory : expanded(std::string(root) + "/*-linux-gnu"))
      search.look_in(directory);
  }
  for (const char* directory : {"/lib64", "/usr/lib64"}) search.look_in(directory);
  return search.take();
}

Paths by_name(const std::string& object) {
  for (const std::string& name : {object, object + ".so*"})
    if (Paths paths = in_library_directories(name); !paths.empty()) return paths;
  const auto program = find_program(object);
  const std::string real = program ? real_path(*program) : "";
  return is_elf_file(real) ? Paths{real} : Paths{};
}

Paths mapped(const std::string& object) {
  Paths paths;
  for (const pid_t pid : all_processes()) {
    const auto process = Process::open(pid);
    const auto files =
        process ? executable_files(*process) : Result<std::vector<MappedFile>>(process.error());
    if (!files) continue;
    for (const MappedFile& file : *files)
      if (names_file_name(object, fs::path(file.path).filename().string()) &&
          is_elf_file(file.path))
        paths.insert(file.path);
  }
  return paths;
}

bool is_to_be_found(const Result<Pattern>& pattern) {
  if (!pattern || pattern->object.empty()) return false;
  return !is_path(pattern->object) || (is_glob(pattern->object) && !fs::exists(pattern->object));
}

std::vector<std::string> with_each(Pattern pattern, const Paths& paths, const std::string& text) {
  std::vector<std::string> patterns;
  for (const std::string& path : paths) {
    pattern.object = path;
    patterns.push_back(to_string(pattern));
  }
  return patterns.empty() ? std::vector{text} : patterns;
}

}  // namespace

std::vector<std::string> with_objects_by_name(const std::string& pattern) {
  const auto parsed = parse_pattern(pattern);
  if (!is_to_be_found(parsed)) return {pattern};
  const std::string& object = parsed->object;
  if (object == kAnyObject) return with_mapped_objects(pattern);
  return with_each(*parsed, is_path(object) ? by_path(object) : by_name(object), pattern);
}

std::vector<std::string> with_mapped_objects(const std::string& pattern) {
  const auto parsed = parse_pattern(pattern);
  if (!is_to_be_found(parsed) || is_path(parsed->object)) return with_objects_by_name(pattern);
  const Paths paths = mapped(parsed->object);
  const bool by_name = paths.empty() && parsed->object != kAnyObject;
  return by_name ? with_objects_by_name(pattern) : with_each(*parsed, paths, pattern);
}

}  // namespace tracectl

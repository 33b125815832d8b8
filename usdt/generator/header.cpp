// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/header.h"

namespace tracectl::generator {
namespace {

std::string declaration_of(const ProbeDeclaration& probe) {
  std::string text = "TRACECTL_PROBE_DECLARE(" + probe.provider + ", " + probe.name;
  for (const ProbeArgument& argument : probe.arguments)
    text += ", (" + argument.type + ", " + argument.name + ")";
  return text + ");\n";
}

// Build systems edit the lines of #define with sed: some rename the macro by its first occurrence
// in a line, some turn the whole line to lower case. So a macro's name occurs once, and its body
// has a line of its own.
std::string macros_of(const ProbeDeclaration& probe) {
  const std::string words = probe.provider + ", " + probe.name;
  const bool takes_any = !probe.arguments.empty();
  return "#define " + probe.macro + (takes_any ? "(...)" : "()") + " \\\n  TRACECTL_PROBE(" +
         words + (takes_any ? ", __VA_ARGS__" : "") + ")\n#define " + probe.macro +
         "_ENABLED() \\\n  TRACECTL_PROBE_ENABLED(" + words + ")\n";
}

// A program declares a probe once, so a probe's name is unique to a header; one provider may have
// several headers.
std::string guard_of(const ProviderFile& file) {
  if (file.probes.empty()) return "TRACECTL_USDT_OF_" + file.providers[0];
  return "TRACECTL_USDT_OF_" + file.probes[0].provider + "_" + file.probes[0].name;
}

std::string comment_of(std::string made_from) {
  for (char& c : made_from)
    if (c == '*' || c < ' ') c = '?';
  return "/* Made by tracectl-usdt from " + made_from + ". */\n";
}

}  // namespace

std::string header_text(const ProviderFile& file, const std::string& made_from) {
  const std::string guard = guard_of(file);
  std::string text = comment_of(made_from) + "#ifndef " + guard + "\n#define " + guard + "\n\n";
  // Some programs include headers of probes within extern "C".
  text += "#ifdef __cplusplus\nextern \"C++\" {\n#endif\n\n";
  for (const std::string& header : file.headers) text += "#include <" + header + ">\n";
  text += "#include <tracectl/usdt.h>\n\n";
  for (const std::string& tag : file.tags) text += tag + ";\n";
  if (!file.tags.empty()) text += '\n';
  for (const ProbeDeclaration& probe : file.probes)
    text += declaration_of(probe) + macros_of(probe) + "\n";
  return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace tracectl::generator

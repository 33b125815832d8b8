// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/provider_file.h"

#include <algorithm>
#include <map>

#include "usdt/generator/declarations.h"
#include "usdt/generator/names.h"

namespace tracectl::generator {
namespace {

class Parser {
 public:
  explicit Parser(const Source& source)
      : source_(source), reader_(source), declarations_(reader_) {}

  Result<ProviderFile> run() {
    while (!reader_.is_at_end()) {
      auto taken = reader_.peek().is("provider") ? take_provider() : declarations_.take_outer();
      if (!taken) return taken.error();
    }
    if (file_.providers.empty())
      return reader_.error("there is no provider in this file; it needs provider NAME { ... };");
    return std::move(file_);
  }

 private:
  Status take_provider() {
    reader_.take();
    auto name = take_usable_name("the provider's name");
    if (!name) return name.error();
    provider_ = name->text;
    if (std::find(file_.providers.begin(), file_.providers.end(), provider_) ==
        file_.providers.end())
      file_.providers.emplace_back(provider_);
    if (auto open = reader_.expect("{", "\"{\" behind the provider's name"); !open) return open;
    while (!reader_.take_if("}")) {
      if (!reader_.peek().is("probe")) return reader_.unexpected("\"probe\" or \"}\"");
      if (auto probe = take_probe(); !probe) return probe;
    }
    reader_.take_if(";");
    return ok();
  }

  Status take_probe() {
    reader_.take();
    auto name = take_usable_name("the probe's name");
    if (!name) return name.error();
    ProbeDeclaration probe{
        std::string{provider_}, std::string{name->text}, macro_of(provider_, name->text), {}};
    if (auto macros = claim_macros(*name, probe.macro); !macros) return macros;
    if (reader_.peek().is("("))
      if (auto arguments = take_arguments(probe); !arguments) return arguments;
    if (auto skipped = skip_translation(); !skipped) return skipped;
    if (auto end = reader_.expect(";", "\";\" behind the probe"); !end) return end;
    name_the_nameless(probe.arguments);
    file_.probes.push_back(std::move(probe));
    return ok();
  }

  // The names become parts of macros' names, so they may be words of C, but not macros.
  Result<Token> take_usable_name(const std::string& what) {
    auto name = reader_.expect_name(what);
    if (name && is_replaced(name->text))
      return reader_.error(*name, what + " cannot be " + std::string{name->text} +
                                      ", which is a macro or an operator in many programs");
    return name;
  }

  // Reserves NAME and NAME_ENABLED.
  Status claim_macros(const Token& name, const std::string& macro) {
    for (const std::string& one : {macro, macro + "_ENABLED"}) {
      const auto [before, is_new] = macros_.try_emplace(one, name);
      if (is_new) continue;
      const Place& place = before->second.place;
      return reader_.error(name, "the macro " + one + " stands already for the probe " +
                                     std::string{before->second.text} + " at " +
                                     source_.files[place.file].path + ":" +
                                     std::to_string(place.line) + "; rename one");
    }
    return ok();
  }

  Status take_arguments(ProbeDeclaration& probe) {
    reader_.take();
    if (reader_.peek().is("void") && reader_.peek_behind().is(")")) reader_.take();
    if (reader_.take_if(")")) return ok();
    do {
      if (probe.arguments.size() == kMostArguments)
        return reader_.error("a probe takes " + std::to_string(kMostArguments) +
                             " arguments at most; pass a pointer to a struct with the rest");
      if (auto argument = take_argument(probe); !argument) return argument;
    } while (reader_.take_if(","));
    if (reader_.peek().is(":"))
      return reader_.error(
          "arguments are not translated; declare what the program passes, and nothing behind it");
    return reader_.expect(")", "\",\" or \")\" behind the argument");
  }

  Status take_argument(ProbeDeclaration& probe) {
    const Token start = reader_.peek();
    auto read = declarations_.read_argument();
    if (!read) return read.error();
    if (auto complaint = complaint_about(read->type)) return reader_.error(start, *complaint);
    note_needs(read->type);
    ProbeArgument argument{text_of(read->type), {}};
    if (read->name) argument.name = read->name->text;
    if (is_reserved(argument.name)) argument.name += '_';
    if (read->name && has_argument(probe, argument.name))
      return reader_.error(*read->name,
                           "there are two arguments named " + std::string{read->name->text});
    probe.arguments.push_back(std::move(argument));
    return ok();
  }

  static bool has_argument(const ProbeDeclaration& probe, const std::string& name) {
    return std::any_of(probe.arguments.begin(), probe.arguments.end(),
                       [&](const ProbeArgument& one) { return one.name == name; });
  }

  void note_needs(const Type& type) {
    if (auto header = header_of(type.name)) file_.headers.insert(*header);
    const bool is_tagged = type.base == Type::Base::structure && !type.name.empty();
    if (is_tagged) file_.tags.insert(type.name);
  }

  // Names arguments without a name arg0, arg1..., as in conditions and in output, unless another
  // argument has that name.
  void name_the_nameless(std::vector<ProbeArgument>& arguments) {
    for (size_t i = 0; i < arguments.size(); i++) {
      if (!arguments[i].name.empty()) continue;
      std::string name = "arg" + std::to_string(i);
      const auto is_taken = [&](const ProbeArgument& one) { return one.name == name; };
      while (std::any_of(arguments.begin(), arguments.end(), is_taken)) name += '_';
      arguments[i].name = name;
    }
  }

  // probe name(PASSED) : (SHOWN). Skips SHOWN, the arguments that D programs see, which other
  // tracers do not use.
  Status skip_translation() {
    if (!reader_.take_if(":")) return ok();
    if (!reader_.peek().is("(")) return reader_.unexpected("\"(\" behind \":\"");
    return reader_.skip_nested();
  }

  const Source& source_;
  TokenReader reader_;
  Declarations declarations_;
  ProviderFile file_;
  std::string_view provider_;
  std::map<std::string, Token> macros_;
};

}  // namespace

Result<ProviderFile> parse_provider_file(std::string_view text, std::string path) {
  auto source = lex(text, std::move(path));
  if (!source) return source.error();
  return Parser{*source}.run();
}

}  // namespace tracectl::generator

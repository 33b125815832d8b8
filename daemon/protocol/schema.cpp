// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/schema.h"
#include "daemon/protocol/messages/trouble.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "daemon/protocol/call_sums.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/joined.h"
#include "daemon/protocol/messages/recipes.h"
#include "daemon/protocol/methods.h"
#include "daemon/protocol/session_file.h"
#include "daemon/protocol/top.h"
#include "daemon/protocol/written_file.h"

namespace tracectl::protocol {
namespace {

using nlohmann::json;

using Kind = Type::Kind;

// A reply has all fields except empty optional ones; a request may leave out those that have a default.
enum class Side { request, reply };

json schema_of(Side side, const Type& type);

json schema_of_integer(json least, json most) {
  return {{"type", "integer"}, {"minimum", std::move(least)}, {"maximum", std::move(most)}};
}

json schema_of_variant(const Alternatives& held) {
  const bool is_real = has_alternative(held, Kind::real);
  const char* number = is_real ? "number" : "integer";
  json out = is_real ? json{{"type", number}} : schema_of_integer(INT64_MIN, UINT64_MAX);
  if (has_alternative(held, Kind::text)) out["type"] = {number, "string", "null"};
  return out;
}

json schema_of_message(Side side, const Message& message) {
  json properties = json::object(), required = json::array();
  const void* defaults = message.default_value();
  for (const Field& field : message.fields()) {
    const Type& type = field.type();
    const bool is_optional = type.kind == Kind::optional;
    json& property = properties[field.name];
    property = schema_of(side, is_optional ? type.elements->type() : type);
    if (is_optional) continue;
    if (side == Side::reply || !field.has_default)
      required.push_back(field.name);
    else
      property["default"] =
          codec::write(type, static_cast<const char*>(defaults) + field.offset_bytes).value();
  }
  return {{"type", "object"},
          {"properties", properties},
          {"required", required},
          {"additionalProperties", false}};
}

// The schema promises 64 bits for every integer, so a member keeps its schema if a type of the model is narrower.
json schema_of_narrow(const Type::Width& width) {
  return width.is_signed ? schema_of_integer(INT64_MIN, INT64_MAX)
                         : schema_of_integer(0, UINT64_MAX);
}

json schema_of(Side side, const Type& type) {
  switch (type.kind) {
    case Kind::nothing: return {{"type", "null"}};
    case Kind::boolean: return {{"type", "boolean"}};
    case Kind::text: return {{"type", "string"}};
    case Kind::real: return {{"type", "number"}};
    case Kind::int64: return schema_of_integer(INT64_MIN, INT64_MAX);
    case Kind::uint64: return schema_of_integer(0, UINT64_MAX);
    case Kind::integer: return schema_of_narrow(type.width);
    case Kind::variant: return schema_of_variant(*type.alternatives);
    case Kind::message: return schema_of_message(side, *type.message);
    case Kind::optional: return schema_of(side, type.elements->type());
    case Kind::list: return {{"type", "array"}, {"items", schema_of(side, type.elements->type())}};
    case Kind::named:
      return {{"type", "object"},
              {"additionalProperties", schema_of(side, type.elements->type())},
              {"maxProperties", kMaxNamed}};
    default: break;
  }
  throw std::logic_error("a message has a member of a type without JSON");
}

json any_of(const json& defs) {
  json any = json::array();
  for (const auto& [name, definition] : defs.items()) any.push_back({{"$ref", "#/$defs/" + name}});
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "tracectl: requests, replies and notifications"},
          {"$defs", defs},
          {"anyOf", any}};
}

}  // namespace

Json schema() {
  json defs = json::object();
  for (const Method& method : all_methods()) {
    defs[std::string(method.name) + ".request"] = schema_of(Side::request, method.request());
    defs[std::string(method.name) + ".reply"] = schema_of(Side::reply, method.reply());
  }
  defs[EventNotification::kMethod] = schema_of(Side::reply, type_of<EventNotification>());
  defs[ProbeNotification::kMethod] = schema_of(Side::reply, type_of<ProbeNotification>());
  defs[LostNotification::kMethod] = schema_of(Side::reply, type_of<LostNotification>());
  defs["left_out"] = schema_of(Side::reply, type_of<LeftOutPart>());
  defs["gap"] = schema_of(Side::reply, type_of<GapPart>());
  defs["trouble"] = schema_of(Side::reply, type_of<TroublePart>());
  defs["error"] = schema_of(Side::reply, type_of<ErrorPart>());
  defs["recipe"] = schema_of(Side::reply, type_of<RecipePart>());
  defs["recipes"] = schema_of(Side::reply, type_of<RecipesPart>());
  defs["session_file"] = schema_of(Side::request, type_of<SessionFile>());
  defs["top"] = schema_of(Side::reply, type_of<TopTablePart>());
  defs["call_sums"] = schema_of(Side::reply, type_of<CallSumsPart>());
  defs["timeline"] = schema_of(Side::reply, type_of<TimelinePart>());
  defs["joined"] = schema_of(Side::reply, type_of<JoinedPart>());
  defs["written_file"] = schema_of(Side::reply, type_of<WrittenFilePart>());
  defs["export_formats"] = schema_of(Side::reply, type_of<ExportFormatsPart>());
  defs["call_changes"] = schema_of(Side::reply, type_of<CallChangesPart>());
  return any_of(defs);
}

Json schema_of(std::span<const std::string> names) {
  const json all = schema().value()["$defs"];
  json defs = json::object();
  for (const std::string& name : names) defs[name] = all.at(name);
  return any_of(defs);
}

std::string schema_text(const Json& schema) { return schema.value().dump(2) + "\n"; }

}  // namespace tracectl::protocol

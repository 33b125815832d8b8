// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/schema.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/protocol/call_sums.h"
#include "daemon/protocol/codec.h"
#include "daemon/protocol/messages.h"
#include "daemon/protocol/messages/recipes.h"
#include "daemon/protocol/top.h"

namespace tracectl::protocol {
namespace {

using nlohmann::json;

// Which fields must be there. A reply carries all but empty std::optionals, a request may leave out
// those that have a default.
enum class Side { request, reply };

json type_of(Side, const bool&) { return {{"type", "boolean"}}; }
json type_of(Side, const std::string&) { return {{"type", "string"}}; }
json type_of(Side, const int64_t&) {
  return {{"type", "integer"}, {"minimum", INT64_MIN}, {"maximum", INT64_MAX}};
}
json type_of(Side, const uint64_t&) {
  return {{"type", "integer"}, {"minimum", 0}, {"maximum", UINT64_MAX}};
}
json type_of(Side, const double&) { return {{"type", "number"}}; }
json type_of(Side, const Integer&) {
  return {{"type", "integer"}, {"minimum", INT64_MIN}, {"maximum", UINT64_MAX}};
}
json type_of(Side, const Key&) {
  return {{"type", {"integer", "string", "null"}}, {"minimum", INT64_MIN}, {"maximum", UINT64_MAX}};
}
json type_of(Side, const Scalar&) { return {{"type", {"number", "string", "null"}}}; }
template <class V> json type_of(Side side, const Named<V>&) {
  return {{"type", "object"},
          {"additionalProperties", type_of(side, V{})},
          {"maxProperties", kMaxNamed}};
}
template <codec::Message T> json type_of(Side side, const T& value);
template <class T> json type_of(Side side, const std::vector<T>&) {
  return {{"type", "array"}, {"items", type_of(side, T{})}};
}

class Properties {
 public:
  explicit Properties(Side side) : side_(side) {}

  template <class V> void operator()(const char* name, const V& value) {
    properties_[name] = type_of(side_, value);
    required_.push_back(name);
  }
  template <class V> void operator()(const char* name, const std::optional<V>&) {
    properties_[name] = type_of(side_, V{});
  }
  template <class V> void optional(const char* name, const V& value) {
    if (side_ == Side::reply) return (*this)(name, value);
    properties_[name] = type_of(side_, value);
    properties_[name]["default"] = codec::write(value);
  }

  json object() const {
    return {{"type", "object"},
            {"properties", properties_},
            {"required", required_},
            {"additionalProperties", false}};
  }

 private:
  Side side_;
  json properties_ = json::object();
  json required_ = json::array();
};

template <codec::Message T> json type_of(Side side, const T& value) {
  Properties properties{side};
  T::fields(value, properties);
  return properties.object();
}

template <class Request> void define_method(json& defs) {
  std::string method = Request::kMethod;
  defs[method + ".request"] = type_of(Side::request, Request{});
  defs[method + ".reply"] = type_of(Side::reply, typename Request::Reply{});
}

template <class... Requests> void define_methods(json& defs, RequestList<Requests...>) {
  (define_method<Requests>(defs), ...);
}

}  // namespace

json schema() {
  json defs = json::object();
  define_methods(defs, AllRequests{});
  defs[EventNotification::kMethod] = type_of(Side::reply, EventNotification{});
  defs[ProbeNotification::kMethod] = type_of(Side::reply, ProbeNotification{});
  defs[LostNotification::kMethod] = type_of(Side::reply, LostNotification{});
  defs["left_out"] = type_of(Side::reply, LeftOutPart{});
  defs["gap"] = type_of(Side::reply, GapPart{});
  defs["error"] = type_of(Side::reply, ErrorPart{});
  defs["recipe"] = type_of(Side::reply, RecipePart{});
  defs["recipes"] = type_of(Side::reply, RecipesPart{});
  defs["top"] = type_of(Side::reply, TopTablePart{});
  defs["call_sums"] = type_of(Side::reply, CallSumsPart{});
  defs["call_changes"] = type_of(Side::reply, CallChangesPart{});
  json any = json::array();
  for (const auto& [name, definition] : defs.items()) any.push_back({{"$ref", "#/$defs/" + name}});
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "tracectl: requests, replies and notifications"},
          {"$defs", defs},
          {"anyOf", any}};
}

std::string schema_text() { return schema().dump(2) + "\n"; }

}  // namespace tracectl::protocol

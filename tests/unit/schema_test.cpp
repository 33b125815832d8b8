// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/protocol/codec.h"
#include "daemon/protocol/messages.h"
#include "daemon/protocol/messages/recipes.h"

using namespace tracectl::protocol;
using nlohmann::json;

namespace {

// The part of JSON Schema that our schemas use; other keywords fail the test.
bool is_of_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "null") return value.is_null();
  ADD_FAILURE() << "no such type in JSON Schema: " << type;
  return false;
}

bool is_of_any_type(const json& value, const json& type) {
  if (type.is_string()) return is_of_type(value, type);
  return std::any_of(type.begin(), type.end(),
                     [&](const json& one) { return is_of_type(value, one); });
}

bool conforms(const json& value, const json& schema) {
  if (!is_of_any_type(value, schema.at("type"))) return false;
  if (value.is_number() && schema.contains("minimum") && value < schema["minimum"]) return false;
  if (value.is_array()) {
    return std::all_of(value.begin(), value.end(),
                       [&](const json& item) { return conforms(item, schema.at("items")); });
  }
  if (!value.is_object()) return true;
  for (const auto& name : schema.value("required", json::array())) {
    if (!value.contains(name.get<std::string>())) return false;
  }
  const json& others = schema.at("additionalProperties");
  if (schema.contains("properties") && others != false) return false;
  for (const auto& [name, member] : value.items()) {
    const bool known = schema.contains("properties") && schema["properties"].contains(name);
    if (!known && others == false) return false;
    if (!conforms(member, known ? schema["properties"][name] : others)) return false;
  }
  return value.size() <= schema.value("maxProperties", SIZE_MAX);
}

json definition(const std::string& name) { return schema().value().at("$defs").at(name); }

template <class Request> void expect_defined() {
  std::string method = Request::kMethod;
  EXPECT_TRUE(conforms(to_json(Request{}).value(), definition(method + ".request"))) << method;
  EXPECT_TRUE(conforms(to_json(typename Request::Reply{}).value(), definition(method + ".reply")))
      << method;
}

template <class... Requests> void expect_all_defined(RequestList<Requests...>) {
  (expect_defined<Requests>(), ...);
}

}  // namespace

TEST(Schema, EveryMethodHasARequestAndAReply) { expect_all_defined(AllRequests{}); }

TEST(Schema, NotificationsAndErrorsAreDefined) {
  EXPECT_TRUE(conforms(to_json(EventNotification{}).value(), definition("event")));
  EXPECT_TRUE(conforms(to_json(LostNotification{}).value(), definition("lost")));
  EXPECT_TRUE(conforms(to_json(ErrorPart{}).value(), definition("error")));
  EXPECT_TRUE(conforms(to_json(RecipesPart{{{}}}).value(), definition("recipes")));
}

TEST(Schema, AgreesWithTheReaderOnWhatIsRequiredAndKnown) {
  const char* requests[] = {R"({"session":"s"})",
                            R"({"session":"s","patterns":["u::f"],"target":{}})",
                            R"({"session":"s","patterns":[],"target":{"pids":[1]},"do":"count"})",
                            R"({"session":"s","patterns":[],"target":{"pids":["1"]}})",
                            R"({"session":"s","patterns":[],"target":{},"more":1})",
                            R"({"session":1,"patterns":[],"target":{}})",
                            R"([])"};
  for (const char* text : requests) {
    json request = json::parse(text);
    EXPECT_EQ(conforms(request, definition("stage.set.request")),
              from_json<StageSet>(request).has_value())
        << text;
  }
}

TEST(Schema, AgreesWithTheReaderOnRows) {
  const char* rows[] = {R"({"probe":"p","count":1})",
                        R"({"probe":"p","count":1,"by":{"u8 arg0":null,"tid":7,"comm":"x"}})",
                        R"({"probe":"p","count":1,"by":{"tid":1.5}})",
                        R"({"probe":"p","count":1,"by":{"tid":{}}})",
                        R"({"probe":"p","count":1,"avg":1.5,"sum":-1,"max":18446744073709551615})",
                        R"({"probe":"p","count":1,"sum":1.5})",
                        R"({"probe":"p","count":1,"hist":[{"max":-1,"count":3}],"step":10})",
                        R"({"probe":"p","count":1,"hist":[{"max":-1}]})"};
  const json schema_of_rows = definition("session.read.reply")["properties"]["rows"]["items"];
  for (const char* text : rows) {
    json row = json::parse(text);
    EXPECT_EQ(conforms(row, schema_of_rows), from_json<RowPart>(row).has_value()) << text;
  }
}

TEST(Schema, DefaultsAreThoseOfTheMessages) {
  json properties = definition("stage.set.request")["properties"];
  EXPECT_EQ(properties["scope"]["default"], "local");
  EXPECT_EQ(properties["do"]["default"], "event");
}

TEST(Schema, TextIsTheSchema) {
  EXPECT_EQ(json::parse(schema_text(schema())), schema().value());
  const json all = schema().value();
  EXPECT_EQ(all["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(all["anyOf"].size(), all["$defs"].size());
  EXPECT_EQ(all["anyOf"][0], (json{{"$ref", "#/$defs/call_changes"}}));
}

// SPDX-License-Identifier: BSD-2-Clause
//
// The protocol only grows: a client of the last release works with each later daemon, and the other way round.
// released_schema.txt holds the schema of the last release, one member a line:
//
//     DEFINITION MEMBER TYPE required|optional [DEFAULT]
//
// MEMBER is the path to it: `a.b` is b of the object a, `a[]` an item of the array a, `a{}` a value of the object a
// with any names, and `.` the definition itself. A release writes the file anew, from the top of the tree:
//
//     TRACECTL_WRITE_SCHEMA=1 .build/unit-tests --gtest_filter=ReleasedSchema.*
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "daemon/protocol/schema.h"

using nlohmann::json;

namespace {

constexpr const char* kReleasedSchema = "tests/unit/released_schema.txt";

struct SchemaMember {
  std::string type;
  bool required = false;
  std::string default_value;  // as JSON; empty: none
};

// The key is "DEFINITION MEMBER".
using SchemaMembers = std::map<std::string, SchemaMember>;

std::string schema_type(const json& node) {
  const json& type = node.at("type");
  if (type.is_string() && !node.contains("minimum")) return type;
  std::string text;
  for (const auto& one : type.is_string() ? json{type} : type) {
    text += (text.empty() ? "" : "|") + one.get<std::string>();
  }
  if (node.contains("minimum")) {
    text += "(" + node["minimum"].dump() + ".." + node["maximum"].dump() + ")";
  }
  return text;
}

void add_schema_members(SchemaMembers& members, const std::string& definition,
                        const std::string& path, const json& node, bool required) {
  members[definition + " " + (path.empty() ? "." : path)] = {
      schema_type(node), required, node.contains("default") ? node["default"].dump() : ""};
  if (node["type"] == "array") {
    add_schema_members(members, definition, path + "[]", node.at("items"), true);
  }
  if (node["type"] != "object") return;
  if (node.at("additionalProperties") != false) {
    add_schema_members(members, definition, path + "{}", node["additionalProperties"], true);
    return;
  }
  const json& names = node.at("required");
  for (const auto& [name, member] : node.at("properties").items()) {
    const bool must = std::find(names.begin(), names.end(), name) != names.end();
    add_schema_members(members, definition, path.empty() ? name : path + "." + name, member, must);
  }
}

SchemaMembers schema_members(const json& schema) {
  SchemaMembers members;
  for (const auto& [name, definition] : schema.at("$defs").items()) {
    add_schema_members(members, name, "", definition, true);
  }
  return members;
}

std::string schema_lines(const SchemaMembers& members) {
  std::string text;
  for (const auto& [name, member] : members) {
    text += name + " " + member.type + (member.required ? " required" : " optional");
    text += (member.default_value.empty() ? "" : " ") + member.default_value + "\n";
  }
  return text;
}

SchemaMembers parse_schema_lines(std::istream& in) {
  SchemaMembers members;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words{line};
    std::string definition, path, type, state, default_value;
    words >> definition >> path >> type >> state;
    std::getline(words >> std::ws, default_value);
    members[definition + " " + path] = {type, state == "required", default_value};
  }
  return members;
}

bool is_request(const std::string& name) { return name.find(".request ") != std::string::npos; }

// The object that has the member: an empty path for the definition itself.
std::string owner_of(const std::string& name) {
  const size_t end = name.find_last_of(".[{");
  const size_t blank = name.find(' ');
  return end == std::string::npos || end < blank ? name.substr(0, blank) + " ."
                                                 : name.substr(0, end);
}

// What would break a client of the release, a line each.
std::vector<std::string> schema_breaks(const SchemaMembers& released, const SchemaMembers& now) {
  std::vector<std::string> breaks;
  for (const auto& [name, before] : released) {
    const auto found = now.find(name);
    if (found == now.end()) {
      breaks.push_back(name + ": is missing");
      continue;
    }
    const SchemaMember& after = found->second;
    if (after.type != before.type) {
      breaks.push_back(name + ": was " + before.type + ", is " + after.type);
    }
    if (is_request(name)) {
      if (after.required && !before.required) breaks.push_back(name + ": has become required");
      if (!after.required && !before.required && after.default_value != before.default_value) {
        breaks.push_back(name + ": has another default");
      }
    } else if (before.required && !after.required) {
      breaks.push_back(name + ": has become optional");
    }
  }
  for (const auto& [name, member] : now) {
    if (is_request(name) && member.required && !released.contains(name) &&
        released.contains(owner_of(name))) {
      breaks.push_back(name + ": is new and required");
    }
  }
  return breaks;
}

json current_schema() {
  return json::parse(tracectl::protocol::schema_text(tracectl::protocol::schema()));
}

SchemaMembers current_members() { return schema_members(current_schema()); }

// What a change of the schema breaks.
std::vector<std::string> breaks_after(void (*change)(json& definitions)) {
  json schema = current_schema();
  change(schema["$defs"]);
  return schema_breaks(current_members(), schema_members(schema));
}

using Breaks = std::vector<std::string>;

}  // namespace

TEST(ReleasedSchema, TheSchemaOnlyAddsToTheReleasedOne) {
  if (std::getenv("TRACECTL_WRITE_SCHEMA")) {
    std::ofstream out{kReleasedSchema};
    out << schema_lines(current_members());
    ASSERT_TRUE(out.flush()) << kReleasedSchema;
  }
  std::ifstream in{kReleasedSchema};
  ASSERT_TRUE(in) << kReleasedSchema << ": run from the top of the tree";
  const SchemaMembers released = parse_schema_lines(in);
  EXPECT_GT(released.size(), 500U);
  EXPECT_EQ(schema_breaks(released, current_members()), Breaks{});
}

TEST(ReleasedSchema, LinesAreReadAsTheyAreWritten) {
  const std::string lines = schema_lines(current_members());
  std::istringstream in{lines};
  EXPECT_EQ(schema_lines(parse_schema_lines(in)), lines);
}

TEST(ReleasedSchema, AdditionsAreAccepted) {
  EXPECT_EQ(breaks_after([](json& definitions) {
              const json text{{"type", "string"}};
              definitions["new.request"] = definitions["stage.set.request"];
              definitions["stage.set.request"]["properties"]["more"] = text;
              definitions["session.read.reply"]["properties"]["more"] = text;
              definitions["session.read.reply"]["required"].push_back("more");
              json object = definitions["stage.set.request"];
              definitions["stage.commit.request"]["properties"]["object"] = object;
            }),
            Breaks{});
}

TEST(ReleasedSchema, AMissingMemberIsRefused) {
  EXPECT_EQ(breaks_after([](json& definitions) {
              definitions["session.read.reply"]["properties"]["rows"]["items"]["properties"].erase(
                  "probe");
              definitions.erase("lost");
            }).front(),
            "lost .: is missing");
  EXPECT_EQ(breaks_after([](json& definitions) {
              definitions["session.read.reply"]["properties"]["rows"]["items"]["properties"].erase(
                  "probe");
            }),
            Breaks{"session.read.reply rows[].probe: is missing"});
}

TEST(ReleasedSchema, AnotherTypeIsRefused) {
  EXPECT_EQ(breaks_after([](json& definitions) {
              definitions["stage.set.request"]["properties"]["scope"]["type"] = "boolean";
            }),
            Breaks{"stage.set.request scope: was string, is boolean"});
}

TEST(ReleasedSchema, ARequestMemberThatBecomesRequiredIsRefused) {
  EXPECT_EQ(breaks_after([](json& definitions) {
              definitions["stage.set.request"]["required"].push_back("scope");
            }),
            Breaks{"stage.set.request scope: has become required"});
}

TEST(ReleasedSchema, ANewRequestMemberThatIsRequiredIsRefused) {
  EXPECT_EQ(breaks_after([](json& definitions) {
              definitions["stage.set.request"]["properties"]["more"] = {{"type", "string"}};
              definitions["stage.set.request"]["required"].push_back("more");
            }),
            Breaks{"stage.set.request more: is new and required"});
}

TEST(ReleasedSchema, AnotherDefaultIsRefused) {
  EXPECT_EQ(breaks_after([](json& definitions) {
              definitions["stage.set.request"]["properties"]["scope"]["default"] = "global";
            }),
            Breaks{"stage.set.request scope: has another default"});
}

TEST(ReleasedSchema, AReplyMemberThatBecomesOptionalIsRefused) {
  EXPECT_EQ(breaks_after([](json& definitions) {
              json& row = definitions["session.read.reply"]["properties"]["rows"]["items"];
              row["required"].erase(row["required"].begin());
            }).size(),
            1U);
}

// SPDX-License-Identifier: BSD-2-Clause
//
// Converts parts of messages to types of the model, and checks values for more than their types.
#pragma once

#include <string_view>

#include "daemon/base/result.h"
#include "daemon/model/argument.h"
#include "daemon/model/event.h"
#include "daemon/model/pattern.h"
#include "daemon/model/target.h"
#include "daemon/protocol/messages.h"

namespace tracectl::protocol {

// Refuses process ids out of range and paths that are not absolute; the error names the field.
Result<Target> target_of(const TargetPart& part);
Result<NamedContainers> containers_of(const ContainersPart& part);
TargetPart part_of(const Target& target);

Result<Scope> scope_of(std::string_view name);  // "local", "global" or "inlined"
const char* name_of(Scope scope);

// `index` is the argument's number: arg0...
ArgumentPart part_of(const Argument& argument, size_t index);

// Everything that is needed to show values, and back. A part's name is the parameter's, or argN.
ProbeNotification described(const EventSource& source);
Arguments arguments_of(const ProbeNotification& notification);
std::optional<Argument> result_of(const ProbeNotification& notification);

}  // namespace tracectl::protocol

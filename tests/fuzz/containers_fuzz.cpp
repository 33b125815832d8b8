// SPDX-License-Identifier: BSD-2-Clause
//
// Input: a file in which a runtime keeps its containers, as each of the three kinds. All that is found has an id.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "client/target/containers.h"
#include "daemon/process/cgroups.h"

using namespace tracectl;

namespace {

void check_container(const Container& container) {
  if (!is_container_id(container.id)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const Container& container : containers_of_storage(text)) check_container(container);
  if (const auto container = container_of_docker(text)) check_container(*container);
  const auto container = container_of_bundle(std::string(64, 'a'), text);
  if (container && container->pod.find('/') == std::string::npos) std::abort();
  return 0;
}

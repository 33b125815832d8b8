// SPDX-License-Identifier: BSD-2-Clause
#include "client/export/export.h"

#include <algorithm>

#include "client/export/formats.h"

namespace tracectl {

std::span<const ExportFormat> export_formats() { return kExportFormats; }

const ExportFormat* find_export_format(std::string_view name) {
  const auto found = std::find_if(kExportFormats.begin(), kExportFormats.end(),
                                  [&](const ExportFormat& format) { return format.name == name; });
  return found == kExportFormats.end() ? nullptr : &*found;
}

}  // namespace tracectl

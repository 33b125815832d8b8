// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

namespace tracectl::generator {

// Whether it cannot be an argument's name: a word of C or C++, or a macro of the compiler or of a
// header that most programs include.
bool is_reserved(std::string_view name);

// Whether it cannot even be part of a longer name: a macro, or an operator of C++ such as `and`.
bool is_replaced(std::string_view name);

// DATABASE_QUERY_START for database and query__start, like dtrace -h.
std::string macro_of(std::string_view provider, std::string_view probe);

}  // namespace tracectl::generator

// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

namespace tracectl::generator {

// A word of C or C++, or a macro of the compiler or of a header that most programs include: it cannot
// be the name of an argument.
bool is_reserved(std::string_view name);

// Such that not even a part of another name can be made of it: a macro, or an operator of C++ as `and`.
bool is_replaced(std::string_view name);

// DATABASE_QUERY_START of database and query__start, as dtrace -h makes it.
std::string macro_of(std::string_view provider, std::string_view probe);

}  // namespace tracectl::generator

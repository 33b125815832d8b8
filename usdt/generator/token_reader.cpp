// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/token_reader.h"

namespace tracectl::generator {

Status TokenReader::skip_nested() {
  const Token& open = peek();
  size_t depth = 0;
  do {
    if (is_at_end()) return error(open, "this \"" + std::string{open.text} + "\" is never closed");
    const Token& token = take();
    if (token.is("(") || token.is("[") || token.is("{")) depth++;
    if (token.is(")") || token.is("]") || token.is("}")) depth--;
  } while (depth > 0);
  return ok();
}

}  // namespace tracectl::generator

# SPDX-License-Identifier: BSD-2-Clause
"""Names of Rust for what rustc mangles, by RFC 2603 (v0) and as it did before: as `tracectl` shows them, without hashes."""

from __future__ import annotations

import re
import typing

MOST_CHARACTERS = 1 << 20  # of all parts that are read: a symbol can refer to them, and so stand for any length
MOST_DECODED = 128         # characters of an identifier that is not ASCII
MOST_RULES = 64 << 10       # applied to one symbol
DEEPEST_RULE = 100
BASIC = dict(zip('abcdefhijlmnopstuvxyz', (
    'i8', 'bool', 'char', 'f64', 'str', 'f32', 'u8', 'isize', 'usize', 'i32', 'u32', 'i128', 'u128', '_', 'i16', 'u16',
    '()', '...', 'i64', 'u64', '!')))
DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
KINDS = {'C': 'closure', 'S': 'shim'}
POINTERS = {'P': '*const ', 'O': '*mut ', 'R': '&', 'Q': '&mut '}
SIGNS = {'SP': '@', 'BP': '*', 'RF': '&', 'LT': '<', 'GT': '>', 'LP': '(', 'RP': ')', 'C': ','}


class _Strange(Exception):
    """It is no symbol of Rust, or one of a kind that is not read here, as constants that are structs."""


class _Symbol:
    """Methods have the names of the rules, read what these describe, and return its text."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth, self._rules, self._size, self._bound = text, 0, 0, 0, 0, 0

    def name(self) -> str:
        name = self.path(True)
        if self._at < len(self._text):
            self.path(False)  # the instantiating crate
        if self._at < len(self._text):
            raise _Strange
        return name

    def _next(self) -> str:
        self._at += 1
        if self._at > len(self._text):
            raise _Strange
        return self._text[self._at - 1]

    def _eat(self, letter: str) -> bool:
        is_next = self._text.startswith(letter, self._at)
        self._at += is_next
        return is_next

    def _nested(self, rule: typing.Callable[[], str]) -> str:
        self._rules += 1
        self._depth += 1
        if self._rules > MOST_RULES or self._depth > DEEPEST_RULE:
            raise _Strange
        text = rule()
        self._depth -= 1
        self._size += len(text)
        if self._size > MOST_CHARACTERS:
            raise _Strange
        return text

    def _list(self, rule: typing.Callable[[], str]) -> list[str]:
        texts, size = [], 0
        while not self._eat('E'):
            texts.append(rule())
            size += len(texts[-1])
            if size > MOST_CHARACTERS:
                raise _Strange
        return texts

    def _number(self) -> int:
        if self._eat('_'):
            return 0
        number = 0
        while not self._eat('_'):
            digit = DIGITS.find(self._next())
            if digit < 0 or number >> 64:
                raise _Strange
            number = number * 62 + digit
        return number + 1

    def _optional(self, letter: str) -> int:
        return self._number() + 1 if self._eat(letter) else 0

    def _identifier(self) -> str:
        is_punycode = self._eat('u')
        size = re.compile('0|[1-9][0-9]{0,5}').match(self._text, self._at)
        if not size:
            raise _Strange
        self._at = size.end()
        self._eat('_')
        begin, self._at = self._at, self._at + int(size[0])
        text = self._text[begin:self._at]
        if len(text) < int(size[0]):
            raise _Strange
        if not is_punycode:
            return text
        start, _, rest = text.rpartition('_')
        if not re.fullmatch('[a-z0-9]+', rest, re.ASCII):
            raise _Strange
        try:
            shown = f'{start}-{rest}'.removeprefix('-').encode().decode('punycode')
            shown.encode()
        except (UnicodeError, OverflowError):
            raise _Strange from None
        if len(shown) > MOST_DECODED or not shown.isprintable():
            raise _Strange
        return shown

    def _back(self, rule: typing.Callable[[], str]) -> str:
        here = self._at - 1
        there = self._number()
        if there >= here:
            raise _Strange
        after, self._at = self._at, there
        text = rule()
        self._at = after
        return text

    def path(self, in_value: bool) -> str:
        return self._nested(lambda: self._path(in_value))

    def _path(self, in_value: bool) -> str:
        letter = self._next()
        if letter == 'C':
            self._optional('s')
            return self._identifier()
        if letter in 'MX':
            self._optional('s')
            self.path(False)
        if letter == 'M':
            return f'<{self.type()}>'
        if letter in 'XY':
            return f'<{self.type()} as {self.path(False)}>'
        if letter == 'N':
            return self._nested_path(in_value)
        if letter == 'I':
            return self._opened(in_value) + '>'
        if letter == 'B':
            return self._back(lambda: self.path(in_value))
        raise _Strange

    def _nested_path(self, in_value: bool) -> str:
        space, around = self._next(), self.path(in_value)
        number, name = self._optional('s'), self._identifier()
        if space.islower():
            return f'{around}::{name}' if name else around
        if not space.isupper():
            raise _Strange
        return f'{around}::{{{KINDS.get(space, space)}{":" if name else ""}{name}#{number}}}'

    def _opened(self, in_value: bool) -> str:
        """Up to its generic arguments, without the > behind them."""
        path = self.path(in_value)
        return f'{path}{"::" if in_value else ""}<{", ".join(self._list(self._argument))}'

    def _argument(self) -> str:
        if self._eat('L'):
            return self._lifetime(self._number())
        return self.constant() if self._eat('K') else self.type()

    def type(self) -> str:
        return self._nested(self._type)

    def _type(self) -> str:
        letter = self._next()
        if letter in BASIC:
            return BASIC[letter]
        if letter == 'A':
            return f'[{self.type()}; {self.constant()}]'
        if letter == 'S':
            return f'[{self.type()}]'
        if letter == 'T':
            texts = self._list(self.type)
            return f'({", ".join(texts)}{"," if len(texts) == 1 else ""})'
        if letter in POINTERS:
            lifetime = self._number() if letter in 'RQ' and self._eat('L') else 0
            of = f'&{self._lifetime(lifetime)} ' if lifetime else '&'
            return POINTERS[letter].replace('&', of) + self.type()
        if letter == 'F':
            return self._binding(self._function)
        if letter == 'D':
            traits = 'dyn ' + self._binding(lambda: ' + '.join(self._list(self._trait)))
            if not self._eat('L'):
                raise _Strange
            lifetime = self._number()
            return f'{traits} + {self._lifetime(lifetime)}' if lifetime else traits
        if letter == 'B':
            return self._back(self.type)
        self._at -= 1
        return self.path(False)

    def _binding(self, rule: typing.Callable[[], str]) -> str:
        count = self._optional('G')
        self._rules += count  # each costs as much as a rule
        if self._rules > MOST_RULES:
            raise _Strange
        before, self._bound = self._bound, self._bound + count
        names = ', '.join(self._lifetime(self._bound - one) for one in range(before, before + count))
        text = rule()
        self._bound = before
        return f'for<{names}> {text}' if count else text

    def _lifetime(self, index: int) -> str:
        outermost = self._bound - index
        if outermost < 0:
            raise _Strange
        return "'_" if index == 0 else f"'{chr(ord('a') + outermost)}" if outermost < 26 else f"'_{outermost}"

    def _function(self) -> str:
        text = 'unsafe ' if self._eat('U') else ''
        if self._eat('K'):
            text += f'extern "{"C" if self._eat("C") else self._identifier().replace("_", "-")}" '
        text += f'fn({", ".join(self._list(self.type))})'
        return text if self._eat('u') else f'{text} -> {self.type()}'

    def _trait(self) -> str:
        text, is_open = self._maybe_opened()
        while self._eat('p'):
            text += f'{", " if is_open else "<"}{self._identifier()} = {self.type()}'
            is_open = True
        return text + '>' if is_open else text

    def _maybe_opened(self) -> tuple[str, bool]:
        is_open = False

        def rule() -> str:
            nonlocal is_open
            if self._eat('B'):
                return self._back(rule)
            is_open = self._eat('I')
            return self._opened(False) if is_open else self.path(False)
        return self._nested(rule), is_open

    def constant(self) -> str:
        return self._nested(self._constant)

    def _constant(self) -> str:
        letter = self._next()
        if letter == 'B':
            return self._back(self.constant)
        if letter == 'p':
            return '_'
        sign = '-' if letter in 'aslxni' and self._eat('n') else ''
        digits = re.compile('([0-9a-f]*)_').match(self._text, self._at)
        if not digits:
            raise _Strange
        self._at = digits.end()
        number = int(digits[1] or '0', 16)
        if letter in 'aslxnihtmyoj':
            return sign + (str(number) if len(digits[1]) <= 16 else '0x' + digits[1])
        if letter == 'b' and number < 2:
            return 'true' if number else 'false'
        if letter == 'c' and number <= 0x10ffff:
            escaped = {9: '\\t', 10: '\\n', 13: '\\r', 39: "\\'", 92: '\\\\'}
            shown = escaped.get(number) or (chr(number) if 32 <= number < 127 else f'\\u{{{number:x}}}')
            return f"'{shown}'"
        raise _Strange


def _legacy_part(part: str) -> str:
    part = part[1:] if part.startswith('_$') else part
    part = part.replace('..', '::').replace('.', '-')
    return re.sub(r'\$(?:u([0-7][0-9a-f])|([A-Z]{1,2}))\$',
                  lambda sign: chr(int(sign[1], 16)) if sign[1] else SIGNS.get(sign[2], sign[0]), part)


def _legacy(symbol: str) -> str | None:
    """Of rustc's mangling as C++'s, of a name that ends in a hash."""
    mangled = re.fullmatch(r'_ZN([\w$.]+)17h[0-9a-f]{16}E(?:\.llvm\.\w+)?', symbol, re.ASCII)
    rest, parts = mangled[1] if mangled else '', []
    while rest:
        size = re.match('[1-9][0-9]{0,5}', rest)
        if not size or len(rest) < size.end() + int(size[0]):
            return None
        end = size.end() + int(size[0])
        parts.append(_legacy_part(rest[size.end():end]))
        rest = rest[end:]
    return '::'.join(parts) or None


def demangled(symbol: str) -> str | None:
    """None for what is no symbol of Rust."""
    if not symbol.startswith('_R'):
        return _legacy(symbol)
    try:
        return _Symbol(re.split('[.$]', symbol[2:], maxsplit=1)[0]).name()
    except (_Strange, RecursionError):
        return None

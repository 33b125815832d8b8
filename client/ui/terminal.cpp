// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/terminal.h"

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <signal.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <string>

#include "client/output/output.h"
#include "client/ui/characters.h"

namespace tracectl::ui {
namespace {

enum Pair : short { kErrorPair = 1, kMarkedPair, kQuietPair };

void begin_colours() {
  if (!is_coloured() || !::has_colors()) return;
  constexpr short kTerminals = -1;  // its own
  ::start_color();
  ::use_default_colors();
  ::init_pair(kErrorPair, COLOR_RED, kTerminals);
  ::init_pair(kMarkedPair, COLOR_GREEN, kTerminals);
  ::init_pair(kQuietPair, COLOR_CYAN, kTerminals);
}

// Without colours the pairs change nothing, so each style differs by an attribute, too.
attr_t attributes_of(Style style) {
  switch (style) {
    case Style::plain: return A_NORMAL;
    case Style::title: return A_REVERSE;
    case Style::heading: return A_BOLD;
    case Style::sorted: return A_BOLD | A_UNDERLINE;
    case Style::selected: return A_REVERSE;
    case Style::marked: return A_BOLD;
    case Style::quiet: return A_NORMAL;
    case Style::error: return A_BOLD;
  }
  return A_NORMAL;
}

short pair_of(Style style) {
  if (style == Style::error) return kErrorPair;
  if (style == Style::marked) return kMarkedPair;
  return style == Style::quiet ? short{kQuietPair} : short{0};
}

bool shows_all_characters() { return std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0; }

// In at most `room` columns, of which the characters take 0 to 2 each.
std::wstring shown_text(const std::string& text, int& room) {
  const bool all = shows_all_characters();
  std::wstring shown;
  for (const char32_t character : characters_of(text)) {
    const auto wide = static_cast<wchar_t>(character);
    const bool is_known = character < 0x80 || (all && ::wcwidth(wide) >= 0);
    const int width = is_known ? ::wcwidth(wide) : 1;
    if (width > room) break;
    room -= width;
    shown += is_known ? wide : L'?';
  }
  return shown;
}

void add_text(const std::string& text, Style style, int& room) {
  const std::wstring shown = shown_text(text, room);
  ::attr_set(attributes_of(style), ::has_colors() ? pair_of(style) : short{0}, nullptr);
  ::addnwstr(shown.data(), static_cast<int>(shown.size()));
}

void draw_line(int number, const Line& line) {
  int room = ::getmaxx(::stdscr);
  ::move(number, 0);
  for (const Span& span : line.spans) add_text(span.text, span.style, room);
  add_text(std::string(static_cast<size_t>(room), ' '), line.rest, room);
}

std::optional<Key> named_key(wint_t code) {
  using Kind = Key::Kind;
  switch (code) {
    case KEY_UP: return Kind::up;
    case KEY_DOWN: return Kind::down;
    case KEY_LEFT: return Kind::left;
    case KEY_RIGHT: return Kind::right;
    case KEY_PPAGE: return Kind::page_up;
    case KEY_NPAGE: return Kind::page_down;
    case KEY_HOME: return Kind::home;
    case KEY_END: return Kind::end;
    case KEY_ENTER: return Kind::enter;
    case KEY_BACKSPACE: return Kind::backspace;
    default: return std::nullopt;
  }
}

Key typed_key(wint_t character) {
  using Kind = Key::Kind;
  switch (character) {
    case '\r':
    case '\n': return Kind::enter;
    case '\t': return Kind::tab;
    case 0x1b: return Kind::escape;
    case 0x08:
    case 0x7f: return Kind::backspace;
    default: return static_cast<char32_t>(character);
  }
}

}  // namespace

void Terminal::End::operator()(screen* screen) const {
  ::endwin();
  ::delscreen(screen);
}

Status can_show_screens() {
  if (::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO)) return ok();
  return Error{Code::invalid,
               "ui needs a terminal on standard input and output; with -H there is none: use "
               "ssh -t HOST tracectl ui",
               "terminal"};
}

Result<Terminal> Terminal::open() {
  std::setlocale(LC_CTYPE, "");
  const char* type = std::getenv("TERM");
  screen* screen = type && *type ? ::newterm(nullptr, stdout, stdin) : nullptr;
  if (!screen)
    return Error{Code::invalid,
                 std::string("$TERM is \"") + (type ? type : "") +
                     "\", which names no terminal that is known here: set it",
                 "terminal"};
  Terminal terminal{screen};
  ::set_escdelay(25);
  ::cbreak();
  ::noecho();
  ::keypad(::stdscr, true);
  ::nodelay(::stdscr, true);
  begin_colours();
  return terminal;
}

std::optional<Key> Terminal::key() {
  for (wint_t code = 0;;) {
    const int kind = ::get_wch(&code);
    if (kind == ERR) return std::nullopt;
    if (kind != KEY_CODE_YES) return typed_key(code);
    if (const auto key = named_key(code)) return key;
  }
}

void Terminal::draw(const Picture& picture) {
  ::erase();
  for (size_t i = 0; i < picture.lines.size(); ++i)
    draw_line(static_cast<int>(i), picture.lines[i]);
  ::curs_set(picture.cursor ? 1 : 0);
  if (picture.cursor)
    ::move(static_cast<int>(picture.cursor->line), static_cast<int>(picture.cursor->column));
  ::refresh();
}

Size Terminal::size() const {
  return {static_cast<size_t>(::getmaxy(::stdscr)), static_cast<size_t>(::getmaxx(::stdscr))};
}

void Terminal::resize() {
  const TerminalSize now = terminal_size();
  if (now.lines && now.columns)
    ::resizeterm(static_cast<int>(now.lines), static_cast<int>(now.columns));
}

void Terminal::suspend() {
  ::def_prog_mode();
  ::endwin();
  ::raise(SIGSTOP);
  ::reset_prog_mode();
  ::clearok(::curscr, true);
}

}  // namespace tracectl::ui

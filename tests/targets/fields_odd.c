// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// fields_odd
//
// Fields and values of enumerations that expressions refuse: clang does not know all of these types.
#define KEPT __attribute__((noipa, used))
#define FOUR(name) name##0, name##1, name##2, name##3
#define SIXTEEN(name) FOUR(name##0), FOUR(name##1), FOUR(name##2), FOUR(name##3)
#define SIXTY_FOUR(name) SIXTEEN(name##0), SIXTEEN(name##1), SIXTEEN(name##2), SIXTEEN(name##3)

enum big { NONE, ALL = ~0ul };
enum many { SIXTY_FOUR(A), SIXTY_FOUR(B), SIXTY_FOUR(C), SIXTY_FOUR(D), LAST };
struct vast {
  char far[1 << 20][1 << 20];
};
struct wide {
  int SIXTY_FOUR(a), SIXTY_FOUR(b), SIXTY_FOUR(c), SIXTY_FOUR(d);
  int SIXTY_FOUR(e), SIXTY_FOUR(f), SIXTY_FOUR(g), SIXTY_FOUR(h);
};
struct odd {
  _Decimal64 price;
  enum big big;
  enum many many;
};

volatile long sink;

KEPT void odd(struct odd* p) { sink = (long)p->big + p->many; }
KEPT void vast(struct vast* p) { sink = p->far[0][0]; }
KEPT void wide(struct wide* p) { sink = p->a000; }
KEPT void grids(int n, int (*cube)[2][n]) { sink = n + cube[0][1][2]; }

int main(void) {
  struct odd one = {.big = ALL, .many = LAST};
  int cube[1][2][3] = {{{1, 2, 3}, {4, 5, 6}}};
  static struct wide many;
  odd(&one);
  wide(&many);
  grids(3, cube);
  return 0;
}

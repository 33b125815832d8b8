// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// Virtual functions and exceptions. Not run; its file is read. The comment on each function has its least
// distance in calls from starts(), and whether it is reached only by its address.
#include <stdexcept>

#define KEPT __attribute__((noipa))

volatile int reach_sum;

struct Shape {
  KEPT Shape() { reach_sum = reach_sum + 1; }
  KEPT virtual ~Shape() { reach_sum = reach_sum + 1; }
  virtual int area() const = 0;
};

// Expect: its functions 2, by address: its constructor uses the address of their table.
struct Square : Shape {
  KEPT int area() const override { return reach_sum; }
};

// Expect: never.
struct Circle : Shape {
  KEPT int area() const override { return reach_sum + 1; }
};

// Expect: 1.
extern "C" KEPT Shape* makes_square() { return new Square; }
extern "C" KEPT Shape* makes_circle() { return new Circle; }

// Expect: 1. Makes an indirect call.
extern "C" KEPT int measures(const Shape& shape) { return shape.area() + 1; }

// Expect: 2: called from a landing pad, which is in a part of the function.
extern "C" KEPT void lands() { reach_sum = reach_sum + 1; }

extern "C" KEPT void throws(int n) {
  if (n > 2) throw std::runtime_error("reach");
}

// Expect: 1.
extern "C" KEPT int catches(int n) {
  try {
    throws(n);
  } catch (const std::exception&) {
    lands();
  }
  return n;
}

// Expect: 0.
extern "C" KEPT int starts(int n) {
  Shape* shape = makes_square();
  const int area = measures(*shape) + catches(n);
  return area;
}

int main(int count, char**) {
  if (count > 1) return measures(*makes_circle());
  return starts(count);
}

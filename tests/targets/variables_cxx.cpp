// build: -O0 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// variables_cxx
//
// The same as variables.c, in C++.
#include <stdexcept>
#include <vector>

#include "stdin_protocol.h"

#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noipa, used))
#endif

namespace {

constexpr int kMostRecords = 400, kMostLines = 400, kValues = 4;
struct Record {
  int line;
  long values[kValues];
};
std::vector<Record> records;

KEPT void record(int line, long a, long b, long c, long d) {
  if (records.size() < kMostRecords) records.push_back({line, {a, b, c, d}});
}

#define RECORD(a, b, c, d) record(__LINE__, (long)(a), (long)(b), (long)(c), (long)(d))

KEPT void change(void* bytes) { ++*static_cast<char*>(bytes); }

struct Base {
  long id = 3;
};
enum class Mood : short { kCalm, kAngry = 5 };

class Shape : public Base {
 public:
  explicit Shape(int size) : size_(size) { id = size * 2; }
  Shape(const Shape& other) : Base(other), mood(other.mood), size_(other.size_ + 100) {}

  KEPT long grow(int by) {
    const long before = size_;
    size_ += by;
    // var.by, var.before, var.this->size_, var.this->id
    RECORD(by, before, size_, id);
    return size_ + before;
  }

  Mood mood = Mood::kAngry;
  int size_;
};

template <class Number> KEPT Number added(Number a, Number& to) {
  to += a;
  // var.a, var.to
  RECORD(a, to, 0, 0);
  return to;
}

KEPT long copies(Shape shape, const Shape& other, bool yes) {
  // var.shape.size_, var.other.size_, var.yes, var.other.mood == kAngry
  RECORD(shape.size_, other.size_, yes, other.mood == Mood::kAngry);
  return shape.size_ + other.size_ + yes;
}

KEPT long catches(int n) {
  long caught = 0;
  try {
    if (n % 2) throw std::runtime_error("odd");
    caught = 1;
    // var.n, var.caught
    RECORD(n, caught, 0, 0);
  } catch (const std::exception& error) {
    const char* text = error.what();
    // var.n, var.caught, var.text[0]
    RECORD(n, caught, text[0], 0);
  }
  return caught;
}

KEPT long lambdas(long n) {
  long sum = 0;
  const auto add = [&sum, n](long more) {
    sum += more * n;
    // var.more
    RECORD(more, sum, 0, 0);
  };
  for (const long one : {3L, 5L}) {
    add(one);
    change(&sum);
    // var.one, var.sum, var.n
    RECORD(one, sum, n, 0);
  }
  return sum;
}

}  // namespace

int main() {
  ready_and_wait_for_go();
  long sum = 0;
  for (int i = 0; i < 3; ++i) {
    Shape shape(i + 1), other(i - 50);
    sum += shape.grow(i);
    long long_sum = sum;
    short small = static_cast<short>(i - 2);
    sum += added<long>(i, long_sum) + added<short>(short{7}, small);
    sum += copies(shape, other, i == 1);
    sum += catches(i);
    sum += lambdas(i);
  }
  printf("done\n{");
  for (int line = 0; line < kMostLines; ++line) {
    int count = 0;
    for (const Record& one : records) {
      if (one.line != line) continue;
      if (count++ == 0) printf("\"%d\":[", line);
      const long* v = one.values;
      printf("%s[%ld,%ld,%ld,%ld]", count > 1 ? "," : "", v[0], v[1], v[2], v[3]);
    }
    if (count) printf("],");
  }
  printf("\"sum\":%ld}\n", sum);
  wait_for_exit();
}

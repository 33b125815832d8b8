// SPDX-License-Identifier: BSD-2-Clause
//
// Strings with the layout and the names of libc++ from version 15 on, which has a bit of its own for long texts:
// `_LIBCPP_ABI_ALTERNATE_STRING_LAYOUT` as there.
#pragma once

#include <cstddef>
#include <cstring>

namespace std {
inline namespace __1 {

template <class Char> struct char_traits {};
template <class Char> struct allocator {};

template <class Char, class Traits = char_traits<Char>> class basic_string_view {
 public:
  basic_string_view(const Char* data, size_t size) : __data_(data), __size_(size) {}
  size_t size() const { return __size_; }

 private:
  const Char* __data_;
  size_t __size_;
};

template <class Char, class Traits = char_traits<Char>, class Allocator = allocator<Char>>
class basic_string {
 public:
  basic_string(const Char* data, size_t size) { assign(data, size); }
  basic_string(const basic_string& other) { assign(other.data(), other.size()); }
  ~basic_string() {
    if (__rep_.__s.__is_long_) delete[] __rep_.__l.__data_;
  }
  size_t size() const { return __rep_.__s.__is_long_ ? __rep_.__l.__size_ : __rep_.__s.__size_; }
  const Char* data() const {
    return __rep_.__s.__is_long_ ? __rep_.__l.__data_ : __rep_.__s.__data_;
  }

 private:
#ifdef _LIBCPP_ABI_ALTERNATE_STRING_LAYOUT
  struct __long {
    Char* __data_;
    size_t __size_;
    size_t __cap_ : 63;
    size_t __is_long_ : 1;
  };
  struct __short {
    Char __data_[23];
    unsigned char __size_ : 7;
    unsigned char __is_long_ : 1;
  };
#else
  struct __long {
    struct [[gnu::packed]] {
      size_t __is_long_ : 1;
      size_t __cap_ : 63;
    };
    size_t __size_;
    Char* __data_;
  };
  struct __short {
    struct [[gnu::packed]] {
      unsigned char __is_long_ : 1;
      unsigned char __size_ : 7;
    };
    char __padding_[0];
    Char __data_[23];
  };
#endif
  union __rep {
    __short __s;
    __long __l;
  };

  void assign(const Char* data, size_t size) {
    memset(static_cast<void*>(&__rep_), 0, sizeof(__rep_));
    Char* to = __rep_.__s.__data_;
    if (size < sizeof(__rep_.__s.__data_)) {
      __rep_.__s.__size_ = static_cast<unsigned char>(size & 127);
    } else {
      to = new Char[size + 1]();
      __rep_.__l.__data_ = to;
      __rep_.__l.__size_ = size;
      __rep_.__l.__cap_ = (size + 2) / 2;
      __rep_.__l.__is_long_ = 1;
    }
    memcpy(to, data, size * sizeof(Char));
  }

  __rep __rep_;
};

using string = basic_string<char>;
using string_view = basic_string_view<char>;

}  // namespace __1
}  // namespace std

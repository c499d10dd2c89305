#pragma once
#include <string>
#include <string_view>

#include "luminal/kernel/kernel.h"

namespace luminal::kernel {

/// Writes lines, reads them back: what kernels and plans on disk are made of.
class Writer {
 public:
  void number(std::int64_t value) { line(std::to_string(value)); }
  void line(std::string_view text);
  void expression(const Expr& e) { line(e.rpn()); }
  void scalar(const Scalar& value);
  void array(const ArrayType& type);
  void kernel(const Kernel& kernel);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Every member throws `Error` for what no `Writer` wrote there.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  std::int64_t number();
  /// A number of things that follow: not more than there is text left.
  std::size_t count();
  std::string_view line();
  Expr expression() { return Expr::from_rpn(line()); }
  Scalar scalar();
  ArrayType array();
  Kernel kernel();
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

}  // namespace luminal::kernel

#include "luminal/kernel/serial.h"

#include <charconv>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::kernel {
namespace {

template <typename E>
std::int64_t code(E value) {
  return static_cast<std::int64_t>(value);
}

struct WriteKind {
  Writer& out;
  void loops(const std::vector<LoopId>& list) const {
    out.number(code(list.size()));
    for (const auto loop : list) out.number(loop.value());
  }
  void values(const std::vector<ValueId>& list) const {
    out.number(code(list.size()));
    for (const auto id : list) out.number(id.value());
  }
  void expressions(const std::vector<Expr>& list) const {
    out.number(code(list.size()));
    for (const auto& e : list) out.expression(e);
  }
  void operator()(const value::Load& v) const {
    out.number(v.input);
    expressions(v.index);
  }
  void operator()(const value::Constant& v) const { out.scalar(v.value); }
  void operator()(const value::Index& v) const { out.expression(v.value); }
  void operator()(const value::Map& v) const {
    out.number(code(v.op));
    values(v.arguments);
  }
  void operator()(const value::Guard& v) const {
    out.number(code(v.conditions.size()));
    for (const auto& condition : v.conditions) {
      out.expression(condition.valid);
      out.scalar(condition.fill);
    }
    out.number(v.argument.value());
  }
  void operator()(const value::Reduce& v) const {
    out.number(code(v.monoid));
    loops(v.loops);
    values(v.arguments);
  }
  void operator()(const value::Position& v) const {
    out.number(v.argument.value());
    out.expression(v.length);
  }
  void operator()(const value::Random& v) const {
    out.expression(v.position);
    out.number(v.key.value());
    out.number(static_cast<std::int64_t>(v.stream));
  }
  void operator()(const value::Scan& v) const {
    out.number(code(v.monoid));
    out.number(v.loop.value());
    out.number(v.argument.value());
  }
};

class ReadKind {
 public:
  ReadKind(Reader& in, const Kernel& kernel) : in_(in), kernel_(kernel) {}

  ValueKind read(std::size_t which) {
    switch (which) {
      case 0: {
        const auto input = static_cast<std::uint32_t>(index(kernel_.inputs().size()));
        return value::Load{input, expressions()};
      }
      case 1:
        return value::Constant{in_.scalar()};
      case 2:
        return value::Index{in_.expression()};
      case 3: {
        const Op op = static_cast<Op>(index(op_count));
        return value::Map{op, values()};
      }
      case 4: {
        value::Guard guard;
        for (std::size_t n = in_.count(); n > 0; --n) {
          const Expr valid = in_.expression();
          guard.conditions.push_back({valid, in_.scalar()});
        }
        guard.argument = value();
        return guard;
      }
      case 5: {
        const auto monoid = static_cast<Monoid>(index(5));
        auto list = loops();
        return value::Reduce{monoid, std::move(list), values()};
      }
      case 6: {
        const ValueId argument = value();
        return value::Position{argument, in_.expression()};
      }
      case 7: {
        const Expr position = in_.expression();
        const ValueId key = value();
        return value::Random{position, key, static_cast<std::uint64_t>(in_.number())};
      }
      case 8: {
        const auto monoid = static_cast<Monoid>(index(5));
        const LoopId along = loop();
        return value::Scan{monoid, along, value()};
      }
      default:
        throw Error("kernel text: no such kind of value");
    }
  }

  std::size_t index(std::size_t end) {
    const std::int64_t n = in_.number();
    if (n < 0 || static_cast<std::size_t>(n) >= end) throw Error("kernel text: a number is out of its range");
    return static_cast<std::size_t>(n);
  }
  ValueId value() { return ValueId(index(kernel_.values().size())); }
  LoopId loop() { return LoopId(index(kernel_.loops().size())); }
  std::vector<LoopId> loops() {
    std::vector<LoopId> list;
    for (std::size_t n = in_.count(); n > 0; --n) list.push_back(loop());
    return list;
  }
  std::vector<Expr> expressions() {
    std::vector<Expr> list;
    for (std::size_t n = in_.count(); n > 0; --n) list.push_back(in_.expression());
    return list;
  }

 private:
  static constexpr std::size_t op_count = 256;  // Op is a byte
  std::vector<ValueId> values() {
    std::vector<ValueId> list;
    for (std::size_t n = in_.count(); n > 0; --n) list.push_back(value());
    return list;
  }
  Reader& in_;
  const Kernel& kernel_;
};

}  // namespace

void Writer::line(std::string_view text) {
  text_ += text;
  text_ += '\n';
}

void Writer::scalar(const Scalar& value) {
  number(code(value.dtype));
  number(static_cast<std::int64_t>(value.bits));
}

void Writer::array(const ArrayType& type) {
  number(code(type.dtype));
  number(code(type.shape.rank()));
  for (const auto& dim : type.shape) expression(dim);
}

void Writer::kernel(const Kernel& kernel) {
  const WriteKind write{*this};
  number(code(kernel.loops().size()));
  for (const auto& loop : kernel.loops()) expression(loop.extent);
  for (const auto* arrays : {&kernel.inputs(), &kernel.outputs()}) {
    number(code(arrays->size()));
    for (const auto& type : *arrays) array(type);
  }
  number(code(kernel.values().size()));
  for (const auto& v : kernel.values()) {
    number(code(v.kind.index()));
    number(code(v.dtype));
    std::visit(write, v.kind);
  }
  number(code(kernel.stores().size()));
  for (const auto& store : kernel.stores()) {
    number(store.output);
    write.loops(store.domain);
    write.expressions(store.index);
    number(store.value.value());
    number(code(store.mode));
  }
}

std::string_view Reader::line() {
  const auto end = text_.find('\n');
  if (end == std::string_view::npos) throw Error("kernel text: it ends too early");
  const std::string_view result = text_.substr(0, end);
  text_.remove_prefix(end + 1);
  return result;
}

std::int64_t Reader::number() {
  const std::string_view digits = line();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size())
    throw Error(cat("kernel text: ", in_quotes(digits), " is no number"));
  return value;
}

std::size_t Reader::count() {
  const std::int64_t n = number();
  if (n < 0 || static_cast<std::size_t>(n) > text_.size()) throw Error("kernel text: a count is too large");
  return static_cast<std::size_t>(n);
}

Scalar Reader::scalar() {
  const auto dtype = static_cast<DType>(number());
  return {dtype, static_cast<std::uint64_t>(number())};
}

ArrayType Reader::array() {
  const auto dtype = static_cast<DType>(number());
  std::vector<Expr> dims;
  for (std::size_t n = count(); n > 0; --n) dims.push_back(expression());
  return {Shape(std::move(dims)), dtype};
}

Kernel Reader::kernel() {
  Kernel kernel;
  ReadKind read(*this, kernel);
  for (std::size_t n = count(); n > 0; --n) kernel.add_loop(expression());
  for (std::size_t n = count(); n > 0; --n) kernel.add_input(array());
  for (std::size_t n = count(); n > 0; --n) kernel.add_output(array());
  for (std::size_t n = count(), k = 0; k < n; ++k) {
    const auto which = static_cast<std::size_t>(number());
    const auto dtype = static_cast<DType>(number());
    if (kernel.add(read.read(which), dtype).index() != k) throw Error("kernel text: a value stands twice");
  }
  for (std::size_t n = count(); n > 0; --n) {
    Store store;
    store.output = static_cast<std::uint32_t>(read.index(kernel.outputs().size()));
    store.domain = read.loops();
    store.index = read.expressions();
    store.value = read.value();
    store.mode = read.index(2) == 0 ? Store::Mode::set : Store::Mode::add;
    kernel.add_store(std::move(store));
  }
  return kernel;
}

}  // namespace luminal::kernel

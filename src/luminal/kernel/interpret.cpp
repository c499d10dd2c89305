#include "luminal/kernel/interpret.h"

#include <cmath>
#include <unordered_map>

#include "luminal/op/philox.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal::kernel {
namespace {

struct PointHash {
  std::size_t operator()(const std::vector<std::int64_t>& point) const {
    Hash hash;
    for (const auto coordinate : point) hash.add(static_cast<std::uint64_t>(coordinate));
    return hash.value();
  }
};

/// By value, whether it may be asked for again at the same point: by several, by one that varies with more
/// loops, by a scan, which begins anew for each element, or as a place, by every index that names it. What is
/// read or written down takes no longer than to look it up.
std::vector<bool> asked_again(const Kernel& kernel) {
  std::vector<int> uses(kernel.values().size(), 0);
  std::vector<bool> again(kernel.values().size(), false);
  for (std::size_t k = 0; k < kernel.values().size(); ++k) {
    const Value& user = kernel.values()[k];
    LoopSet varies = user.free;
    const auto* reduce = user.try_get<value::Reduce>();
    if (reduce != nullptr)
      for (const auto loop : reduce->loops) varies[loop.index()] = true;
    for (const auto id : operands(kernel, ValueId(k)))
      if (++uses[id.index()] > 1 || kernel.value(id).free != varies ||
          user.try_get<value::Scan>() != nullptr || user.try_get<value::Position>() != nullptr)
        again[id.index()] = true;
  }
  for (const auto& store : kernel.stores()) again[store.value.index()] = true;
  for (std::size_t k = 0; k < again.size(); ++k)
    if (kernel.values()[k].try_get<value::Load>() != nullptr ||
        kernel.values()[k].try_get<value::Constant>() != nullptr)
      again[k] = false;
  return again;
}

class Machine {
 public:
  Machine(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs, const DimMap& dims,
          std::vector<Bytes> outputs)
      : kernel_(kernel),
        inputs_(inputs),
        variables_(dims),
        outputs_(std::move(outputs)),
        again_(asked_again(kernel)) {
    for (const auto& loop : kernel.loops()) extents_.push_back(loop.extent.eval(dims));
    for (const auto& input : kernel.inputs()) input_dims_.push_back(input.shape.eval(dims));
    for (const auto& output : kernel.outputs()) output_dims_.push_back(output.shape.eval(dims));
    memo_.resize(kernel.values().size());
    for (const auto& v : kernel.values()) {
      names_.emplace_back();
      for (std::size_t k = 0; k < kernel.loops().size(); ++k)
        if (v.free[k]) names_.back().push_back(k);
      has_positions_ = has_positions_ || v.try_get<value::Position>() != nullptr;
    }
    for (std::size_t k = 0; k < kernel.loops().size(); ++k) slots_.push_back(&variables_[cat("i", k)]);
    at_.resize(extents_.size());
  }

  std::vector<Bytes> run() {
    if (outputs_.empty())
      for (std::size_t k = 0; k < output_dims_.size(); ++k)
        outputs_.emplace_back(count(output_dims_[k]) * byte_size(kernel_.outputs()[k].dtype));
    for (const auto& store : kernel_.stores()) each_point(store.domain, 0, [&] { write(store); });
    return std::move(outputs_);
  }

  Sampled at(const Store& store, std::span<const std::int64_t> point, std::size_t limit) {
    left_ = limit;
    for (std::size_t k = 0; k < store.domain.size(); ++k) bind(store.domain[k].index(), point[k]);
    const Scalar value = pull(store.value);
    return {flat(store.index, output_dims_[store.output]), value};
  }

  /// Thrown where a value takes more than it may.
  struct TooMuch {};

 private:
  static std::size_t count(const std::vector<std::int64_t>& dims) {
    std::size_t result = 1;
    for (const auto dim : dims) result *= static_cast<std::size_t>(dim);
    return result;
  }

  template <typename F>
  void each_point(const std::vector<LoopId>& loops, std::size_t k, F&& visit) {
    if (k == loops.size()) return visit();
    const std::size_t loop = loops[k].index();
    const std::int64_t outer = at_[loop];
    for (std::int64_t i = 0; i < extents_[loop]; ++i) {
      bind(loop, i);
      each_point(loops, k + 1, visit);
    }
    bind(loop, outer);  // the same loop may be bound further out
  }

  void bind(std::size_t loop, std::int64_t value) {
    at_[loop] = value;
    *slots_[loop] = value;
  }

  std::int64_t index(const Expr& expression) {
    if (has_positions_)
      for (const auto position : positions_of(expression))
        variables_.insert_or_assign(cat("i", position_base + position.index()), place(position));
    return expression.eval(variables_);
  }

  std::int64_t place(ValueId id) {
    const auto& position = *kernel_.value(id).try_get<value::Position>();
    const Number number = to_number(pull(position.argument));
    const std::int64_t length = index(position.length);
    const bool negative = number.kind() == Number::Kind::integer && number.integer() < 0;
    if (negative || number.natural() >= static_cast<std::uint64_t>(length))
      throw Error(cat("index ", number.integer(), " is outside of an axis of ", length, " elements"));
    return number.integer();
  }

  std::size_t flat(const std::vector<Expr>& place, const std::vector<std::int64_t>& dims) {
    std::int64_t result = 0;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      const std::int64_t coordinate = index(place[k]);
      if (coordinate < 0 || coordinate >= dims[k])
        throw InternalError(cat("kernel: index ", coordinate, " on an axis of ", dims[k]), print(kernel_));
      result = result * dims[k] + coordinate;
    }
    return static_cast<std::size_t>(result);
  }

  void write(const Store& store) {
    const DType dtype = kernel_.outputs()[store.output].dtype;
    const Scalar value = pull(store.value);
    std::byte* address =
        outputs_[store.output].data() + flat(store.index, output_dims_[store.output]) * byte_size(dtype);
    luminal::store(store.mode == Store::Mode::add ? apply(Op::add, load(dtype, address), value) : value,
                   address);
  }

  Scalar pull(ValueId id) {
    if (left_-- == 0) throw TooMuch();
    const Value& v = kernel_.value(id);
    const auto computed = [&] {
      return std::visit([&](const auto& kind) { return compute(kind, v.dtype); }, v.kind);
    };
    if (!again_[id.index()]) return computed();
    std::vector<std::int64_t> here;
    for (const auto loop : names_[id.index()]) here.push_back(at_[loop]);
    auto& memo = memo_[id.index()];
    if (const auto found = memo.find(here); found != memo.end()) return found->second;
    const Scalar result = computed();
    memo.emplace(std::move(here), result);
    return result;
  }

  Scalar compute(const value::Load& v, DType dtype) {
    return load(dtype, inputs_[v.input].data() + flat(v.index, input_dims_[v.input]) * byte_size(dtype));
  }
  Scalar compute(const value::Constant& v, DType) { return v.value; }
  Scalar compute(const value::Index& v, DType dtype) { return make_scalar(dtype, Number(index(v.value))); }
  Scalar compute(const value::Map& v, DType dtype) {
    if (v.op == Op::select) return pull(pull(v.arguments[0]).bits != 0 ? v.arguments[1] : v.arguments[2]);
    const Scalar a = pull(v.arguments[0]);
    if (v.op == Op::cast) return convert(a, dtype);
    if (v.op == Op::bitcast) return luminal::bitcast(a, dtype);
    return v.arguments.size() == 1 ? apply(v.op, a) : apply(v.op, a, pull(v.arguments[1]));
  }
  Scalar compute(const value::Guard& v, DType) {
    for (const auto& condition : v.conditions)
      if (index(condition.valid) == 0) return condition.fill;
    return pull(v.argument);
  }
  Scalar compute(const value::Position& v, DType) { return pull(v.argument); }
  Scalar compute(const value::Random& v, DType) {
    const std::uint64_t word = static_cast<std::uint64_t>(index(v.position));
    return Scalar{DType::u32, philox(convert(pull(v.key), DType::u64).bits, v.stream, word)};
  }
  Scalar compute(const value::Scan& v, DType dtype) {
    const DType wide = compute_dtype(dtype);
    const std::int64_t last = at_[v.loop.index()];
    Scalar running = start_of(v.monoid, wide);
    for (std::int64_t i = 0; i <= last; ++i) {
      bind(v.loop.index(), i);
      running = combine(v.monoid, running, convert(pull(v.argument), wide));
    }
    return convert(running, dtype);
  }
  Scalar compute(const value::Reduce& v, DType dtype) {
    const DType wide = compute_dtype(dtype);
    if (v.monoid == Monoid::soft_sum) return soft_sum(v, dtype);
    if (v.monoid == Monoid::m2) return second_moment(v, dtype);
    Scalar running = start_of(v.monoid, wide);
    each_point(v.loops, 0,
               [&] { running = combine(v.monoid, running, convert(pull(v.arguments[0]), wide)); });
    return convert(running, dtype);
  }

  /// In f64: a reference, not a model of the rounding.
  Scalar soft_sum(const value::Reduce& v, DType dtype) {
    double largest = -INFINITY;
    double sum = 0;
    each_point(v.loops, 0, [&] {
      const double x = to_double(pull(v.arguments[0]));
      const double w = to_double(pull(v.arguments[1]));
      if (x == -INFINITY) return;
      const double next = std::isnan(x) || x > largest ? x : largest;
      sum = (largest == -INFINITY ? 0 : sum * std::exp(largest - next)) + std::exp(x - next) * w;
      largest = next;
    });
    return make_scalar(dtype, Number(sum));
  }

  Scalar second_moment(const value::Reduce& v, DType dtype) {
    double n = 0;
    double mean = 0;
    double sum = 0;
    each_point(v.loops, 0, [&] {
      const double x = to_double(pull(v.arguments[0]));
      n += 1;
      const double distance = x - mean;
      mean += distance / n;
      sum += distance * (x - mean);
    });
    return make_scalar(dtype, Number(sum));
  }

  const Kernel& kernel_;
  std::size_t left_ = static_cast<std::size_t>(-1);  // values that may be pulled yet
  std::span<const std::span<const std::byte>> inputs_;
  DimMap variables_;
  std::vector<Bytes> outputs_;
  std::vector<bool> again_;
  std::vector<std::int64_t> extents_;
  std::vector<std::vector<std::int64_t>> input_dims_;
  std::vector<std::vector<std::int64_t>> output_dims_;
  std::vector<std::vector<std::size_t>> names_;  // the loops a value varies with
  std::vector<std::int64_t> at_;
  std::vector<std::int64_t*> slots_;  // of the loops, in the variables
  bool has_positions_ = false;
  std::vector<std::unordered_map<std::vector<std::int64_t>, Scalar, PointHash>> memo_;
};

Op graph_op(Monoid monoid) {
  switch (monoid) {
    case Monoid::sum:
      return Op::reduce_sum;
    case Monoid::max:
      return Op::reduce_max;
    case Monoid::prod:
      return Op::reduce_prod;
    default:
      throw InternalError(cat(name(monoid), " has no single running value"));
  }
}

}  // namespace

Scalar start_of(Monoid monoid, DType dtype) {
  return neutral(graph_op(monoid), dtype);
}

Scalar combine(Monoid monoid, const Scalar& running, const Scalar& element) {
  const Op op = graph_op(monoid);
  return apply(op == Op::reduce_sum ? Op::add : op == Op::reduce_max ? Op::max : Op::mul, running, element);
}

std::vector<Bytes> interpret(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs,
                             const DimMap& dims, std::vector<Bytes> before) {
  return Machine(kernel, inputs, dims, std::move(before)).run();
}

std::optional<Sampled> interpret_at(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs,
                                    const DimMap& dims, const Store& store,
                                    std::span<const std::int64_t> point, std::size_t limit) {
  try {
    return Machine(kernel, inputs, dims, {}).at(store, point, limit);
  } catch (const Machine::TooMuch&) {
    return std::nullopt;
  }
}

}  // namespace luminal::kernel

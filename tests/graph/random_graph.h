#pragma once
#include <string>
#include <vector>

#include "luminal/luminal.h"
#include "tests/random_movement.h"

namespace luminal::test {

/// A random graph over small shapes with its inputs set: views, element-wise ops, reductions, scans, gathers,
/// sorts, states and random numbers, in several dtypes, also with a symbolic dim and dims of size 0 and 1.
/// Its last tensors are marked for retrieval.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : random_(seed) {
    symbolic_ = random_.chance(0.5);
    batch_ = random_.between(0, 3);
    for (int i = 0; i < 3; ++i) add_input();
    const auto steps = random_.between(3, 14);
    for (std::int64_t i = 0; i < steps; ++i) step();
    State state = graph.state("s", tensors.back().shape(), tensors.back().dtype());
    state.assign(tensors.back());
    for (std::size_t i = tensors.size() > 3 ? tensors.size() - 3 : 0; i < tensors.size(); ++i)
      tensors[i].retrieve();
  }

  Graph graph;
  std::vector<Tensor> tensors;

 private:
  const Tensor& pick() {
    return tensors[static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(tensors.size()) - 1))];
  }

  void add_input() {
    std::vector<Expr> dims;
    std::vector<std::int64_t> values;
    const auto rank = random_.between(0, 3);
    for (std::int64_t i = 0; i < rank; ++i) {
      const bool named = symbolic_ && random_.chance(0.3);
      const auto size = random_.chance(0.1) ? 0 : random_.between(1, 4);
      dims.push_back(named ? Expr("batch") : Expr(size));
      values.push_back(named ? batch_ : size);
    }
    const DType dtypes[] = {DType::f32, DType::f32, DType::f64, DType::bf16,
                            DType::i32, DType::i64, DType::u8};
    const DType dtype = dtypes[random_.between(0, 6)];
    Array array(dtype, values);
    for (std::int64_t i = 0; i < array.size(); ++i) array.set(i, make_scalar(dtype, element(dtype)));
    const Tensor input = graph.tensor(Shape(dims), dtype);
    input.set(array);
    if (symbolic_) ensure_batch();
    tensors.push_back(input);
  }

  void ensure_batch() {
    if (graph.dag().variables().contains("batch")) graph.set_dim("batch", batch_);
  }

  Number element(DType dtype) {
    if (!is_floating(dtype)) return Number(random_.between(0, 5));
    const double special[] = {0.0, -0.0, 1.0, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
    if (random_.chance(0.1)) return Number(special[random_.between(0, 4)]);
    return Number(random_.unit() * 4 - 2);
  }

  void step() {
    const Tensor x = pick();
    switch (random_.between(0, 9)) {
      case 0:
      case 1:
        tensors.push_back(moved(x));
        return;
      case 2:
        tensors.push_back(unary(x));
        return;
      case 3:
      case 4:
        binary(x);
        return;
      case 5:
        reduce(x);
        return;
      case 6:
        if (x.rank() > 0) scan_or_sort(x);
        return;
      case 7:
        if (x.rank() > 0) gather(x);
        return;
      case 8:
        tensors.push_back(x.cast(all_dtypes[static_cast<std::size_t>(random_.between(0, 14))]));
        return;
      default:
        tensors.push_back(moved(moved(x)).contiguous());
        return;
    }
  }

  Tensor moved(const Tensor& x) { return random_movement(random_, x); }

  Tensor unary(const Tensor& x) {
    const Op ops[] = {Op::exp2,  Op::log2,  Op::sin,  Op::cos,   Op::atan,  Op::erf,
                      Op::log1p, Op::expm1, Op::sqrt, Op::recip, Op::floor, Op::round};
    const Op op = ops[random_.between(0, 11)];
    return accepts(op, x.dtype()) ? x.unary(op) : x.cast(DType::f32).unary(op);
  }

  void binary(const Tensor& x) {
    const Tensor y = pick();
    if (!promote(x.dtype(), y.dtype())) return;
    try {
      switch (random_.between(0, 3)) {
        case 0:
          tensors.push_back(x + y);
          return;
        case 1:
          tensors.push_back(x * y);
          return;
        case 2:
          tensors.push_back(x / y);
          return;
        default:
          tensors.push_back(luminal::binary(Op::max, x, y, "max"));
          return;
      }
    } catch (const Error&) {
      return;  // shapes that do not broadcast
    }
  }

  void reduce(const Tensor& x) {
    const Axes axes =
        x.rank() == 0 || random_.chance(0.3) ? Axes::all() : Axes(static_cast<int>(x.rank()) - 1);
    tensors.push_back(random_.chance(0.7) ? x.sum(axes) : x.prod(axes, true));
  }

  void scan_or_sort(const Tensor& x) {
    if (random_.chance(0.5)) {
      const auto outputs =
          graph.add_op(Op::sort).attribute(attribute::Sort{random_.chance(0.5)}).input(x).finish_all();
      tensors.insert(tensors.end(), outputs.begin(), outputs.end());
    } else {
      const Tensor wide = x.cast(accumulated(x.dtype()));
      tensors.push_back(graph.add_op(Op::scan_sum).input(wide).finish());
    }
  }

  void gather(const Tensor& x) {
    const int last = static_cast<int>(x.rank()) - 1;
    const Tensor index = graph.iota(x.shape(), last).flip(last);
    tensors.push_back(graph.add_op(Op::gather)
                          .attribute(attribute::Axis{static_cast<std::uint32_t>(last)})
                          .input(x)
                          .input(index)
                          .finish());
    const Tensor seed = graph.constant(random_.between(0, 1000));
    tensors.push_back(graph.add_op(Op::random)
                          .attribute(attribute::Random{1})
                          .type({x.shape(), DType::u32})
                          .input(seed)
                          .finish());
  }

  Random random_;
  bool symbolic_ = false;
  std::int64_t batch_ = 0;
};

}  // namespace luminal::test

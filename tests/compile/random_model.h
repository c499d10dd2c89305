#pragma once
#include <string>
#include <vector>

#include "luminal/luminal.h"
#include "tests/random_movement.h"

namespace luminal::test {

/// A random graph whose results depend smoothly on its inputs, so that a compiled run must come close to the
/// interpreter's: views, element-wise ops, reductions, contractions, softmax and norms, gathers, scatters,
/// scans, windows, states; also with a symbolic dim and dims of size 0 and 1. Its last tensors are marked for
/// retrieval.
class RandomModel {
 public:
  explicit RandomModel(std::uint64_t seed) : random_(seed) {
    symbolic_ = random_.chance(0.5);
    batch_ = random_.between(0, 5);
    const DType dtypes[] = {DType::f32, DType::f32, DType::f32, DType::f64, DType::bf16, DType::i32};
    dtype_ = dtypes[random_.between(0, 5)];
    for (int i = 0; i < 3; ++i) add_input();
    const auto steps = random_.between(2, 12);
    for (std::int64_t i = 0; i < steps; ++i) {
      try {
        step();
      } catch (const Error&) {
        // Refused, as a maximum over nothing is: another step, then.
      }
    }
    if (random_.chance(0.5)) {
      const State kept = graph.state("s", tensors.back().shape(), tensors.back().dtype());
      const Tensor next = kept + tensors.back();
      kept.assign(next.cast(kept.dtype()));
      tensors.push_back(next);
    }
    for (std::size_t i = tensors.size() > 3 ? tensors.size() - 3 : 0; i < tensors.size(); ++i)
      tensors[i].retrieve();
    if (symbolic_ && graph.dag().variables().contains("batch")) graph.set_dim("batch", batch_);
  }

  Graph graph;
  std::vector<Tensor> tensors;

 private:
  const Tensor& pick() {
    return tensors[static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(tensors.size()) - 1))];
  }
  int axis_of(const Tensor& x) {
    return static_cast<int>(random_.between(0, static_cast<std::int64_t>(x.rank()) - 1));
  }
  static bool is_float(const Tensor& x) { return is_floating(x.dtype()); }

  void add_input() {
    std::vector<Expr> dims;
    std::vector<std::int64_t> values;
    const auto rank = random_.between(1, 3);
    const std::int64_t sizes[] = {1, 2, 3, 4, 8, 17};
    for (std::int64_t i = 0; i < rank; ++i) {
      const bool named = symbolic_ && random_.chance(0.4);
      const auto size = random_.chance(0.03) ? 0 : sizes[random_.between(0, 5)];
      dims.push_back(named ? Expr("batch") : Expr(size));
      values.push_back(named ? batch_ : size);
    }
    Array array(dtype_, values);
    for (std::int64_t i = 0; i < array.size(); ++i)
      array.set(i, make_scalar(dtype_, is_floating(dtype_) ? Number(random_.unit() * 3 - 1.5)
                                                           : Number(random_.between(-5, 5))));
    const Tensor input = graph.tensor(Shape(dims), dtype_);
    input.set(array);
    tensors.push_back(input);
  }

  void step() {
    const Tensor x = pick();
    switch (random_.between(0, 11)) {
      case 0:
      case 1:
        tensors.push_back(moved(x));
        return;
      case 2:
        tensors.push_back(is_float(x) ? smooth(x) : x * 3);
        return;
      case 3:
      case 4:
        binary(x);
        return;
      case 5:
        reduce(x);
        return;
      case 6:
        if (x.rank() > 0) tensors.push_back(graph.add_op(Op::scan_sum).input(x).finish());
        return;
      case 7:
        if (x.rank() > 0) gather(x);
        return;
      case 8:
        contract(x);
        return;
      case 9:
        if (x.rank() > 0 && is_float(x)) normalise(x);
        return;
      case 10:
        if (is_float(x)) tensors.push_back(x.cast(random_.chance(0.5) ? DType::f32 : DType::f64));
        return;
      default:
        tensors.push_back(moved(moved(x)).contiguous());
        return;
    }
  }

  Tensor moved(const Tensor& x) { return random_movement(random_, x); }

  Tensor smooth(const Tensor& x) {
    switch (random_.between(0, 7)) {
      case 0:
        return x.sigmoid();
      case 1:
        return x.sin();
      case 2:
        return (x * x + 0.5).sqrt();
      case 3:
        return x.tanh();
      case 4:
        return x.gelu();
      case 5:
        return x.silu();
      case 6:
        return (x * x + 1.0).reciprocal();
      default:
        return x.relu();
    }
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
          tensors.push_back(x - y);
          return;
        default:
          tensors.push_back(x.maximum(y));
          return;
      }
    } catch (const Error&) {
      return;  // shapes that do not broadcast
    }
  }

  void reduce(const Tensor& x) {
    const Axes axes = x.rank() == 0 || random_.chance(0.2) ? Axes::all() : Axes(axis_of(x));
    if (random_.chance(0.6))
      tensors.push_back(x.sum(axes));
    else if (random_.chance(0.5) && is_float(x))
      tensors.push_back(x.mean(axes, true));
    else
      tensors.push_back(x.max(axes, true));
  }

  void gather(const Tensor& x) {
    const int last = static_cast<int>(x.rank()) - 1;
    const Tensor index = graph.iota(x.shape(), last).flip(last);
    if (random_.chance(0.5))
      tensors.push_back(luminal::gather(x, last, index));
    else
      tensors.push_back(random_.chance(0.5) ? scatter(x, last, index, x * 2)
                                            : scatter_add(x, last, index, x));
  }

  void contract(const Tensor& x) {
    if (x.rank() < 2) return;
    const Tensor y = pick();
    try {
      tensors.push_back(random_.chance(0.5) || y.dtype() != x.dtype() ? matmul(x, x.transpose(-1, -2))
                                                                      : matmul(x, y));
    } catch (const Error&) {
      return;
    }
  }

  void normalise(const Tensor& x) {
    const int axis = axis_of(x);
    if (random_.chance(0.5)) {
      tensors.push_back(x.softmax(axis));
    } else {
      const Tensor centred = x - x.mean(axis, true);
      tensors.push_back(centred / ((centred * centred).mean(axis, true) + 0.1).sqrt());
    }
  }

  Random random_;
  bool symbolic_ = false;
  std::int64_t batch_ = 0;
  DType dtype_ = DType::f32;
};

}  // namespace luminal::test

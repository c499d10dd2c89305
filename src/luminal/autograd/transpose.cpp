// How each movement sends gradients back.
#include "luminal/autograd/vjp.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

/// The gradient of a movement's source, which has shape `before`, from the gradient of its result.
struct MovementTranspose {
  const Shape& before;
  const Tensor& gradient;
  Location where;

  Tensor operator()(const movement::Permute& m) const {
    movement::Permute inverse{std::vector<std::size_t>(m.axes.size())};
    for (std::size_t k = 0; k < m.axes.size(); ++k) inverse.axes[m.axes[k]] = k;
    return gradient.move(inverse, where);
  }

  Tensor operator()(const movement::Expand& m) const {
    return gradient.sum(static_cast<int>(m.axis), true, where);
  }

  /// Every step-th element comes from the slice: step − 1 zeros behind each, then as many as the axis has.
  Tensor operator()(const movement::Slice& m) const {
    Tensor spread = gradient;
    const Expr room = before[m.axis] - m.start;
    Expr length = m.size;
    if (!prove_eq(m.step, 1)) {
      const int inner = static_cast<int>(m.axis) + 1;
      spread =
          spread.unsqueeze(inner, where).pad(inner, 0, m.step - 1, 0, where).merge_dims(inner - 1, where);
      length = Expr::min(m.size * m.step, room);
      spread = spread.move(movement::Slice{m.axis, 0, length, 1}, where);
    }
    return spread.move(movement::Pad{m.axis, m.start, room - length, 0}, where);
  }

  Tensor operator()(const movement::Pad& m) const {
    return gradient.move(movement::Slice{m.axis, m.before, before[m.axis], 1}, where);
  }

  Tensor operator()(const movement::Reshape&) const {
    return gradient.move(movement::Reshape{before}, where);
  }

  /// Each element of the source collects from the windows it is in.
  Tensor operator()(const movement::Unfold& m) const {
    return gradient.move(movement::Fold{m.axis, before[m.axis], m.stride, m.dilation}, where)
        .sum(-1, false, where);
  }

  Tensor operator()(const movement::Fold& m) const {
    return gradient.move(movement::Shear{m.axis, before[m.axis], m.stride, m.dilation}, where);
  }

  Tensor operator()(const movement::Shear& m) const {
    return gradient.move(movement::Fold{m.axis, before[m.axis], m.stride, m.dilation}, where);
  }

  Tensor operator()(const movement::Flip& m) const { return gradient.move(m, where); }

  /// Elements may be read several times: adds them up where they came from.
  Tensor operator()(const movement::Strided& m) const {
    Graph graph = gradient.graph(where);
    Expr offset = m.offset;
    for (std::size_t k = 0; k < m.strides.size(); ++k)
      offset = offset + m.strides[k] * Expr::coordinate(k, m.shape[k]);
    const Tensor index = graph.iota(offset, m.shape, DType::i64, where).reshape({-1}, where);
    const Tensor zeros = graph.constant(0.0, gradient.dtype(), where).expand({before.element_count()}, where);
    const Tensor flat = graph.add_op(Op::scatter_add, where)
                            .attribute(attribute::Axis{0})
                            .input(zeros)
                            .input(index)
                            .input(gradient.reshape({-1}, where))
                            .finish();
    return flat.move(movement::Reshape{before}, where);
  }
};

}  // namespace

Tensor transpose(const View& view, const Tensor& gradient, Location where) {
  std::vector<Shape> shapes{view.source()};
  View replay(view.source());
  for (const auto& movement : view.movements()) {
    replay = replay.then(movement);
    shapes.push_back(replay.shape());
  }
  Tensor result = gradient;
  for (std::size_t i = view.movements().size(); i-- > 0;)
    result = std::visit(MovementTranspose{shapes[i], result, where}, view.movements()[i]);
  return result;
}

}  // namespace luminal

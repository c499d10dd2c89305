#pragma once
#include "luminal/egraph/interner.h"
#include "luminal/op/scalar.h"
#include "luminal/shape/view.h"
#include "luminal/support/hash.h"

namespace luminal::rewriting {

/// What the e-graph holds by number only: shapes, index maps, index expressions and scalars. Index algebra
/// stays out of the e-graph; equal things have equal numbers.
struct Atoms {
  using Number = egraph::Value;

  struct ShapeHash {
    std::size_t operator()(const Shape& shape) const { return shape.hash(); }
  };
  struct MapHash {
    std::size_t operator()(const IndexMap& map) const { return map.hash(); }
  };
  struct ExprHash {
    std::size_t operator()(const Expr& expression) const { return expression.hash(); }
  };
  struct ScalarHash {
    std::size_t operator()(const Scalar& value) const {
      return Hash(static_cast<std::uint64_t>(value.dtype)).add(value.bits).value();
    }
  };
  template <typename T, typename H>
  using Pool = egraph::Interner<T, H, std::equal_to<T>>;

  Pool<Shape, ShapeHash> shapes;
  Pool<IndexMap, MapHash> maps;
  Pool<Expr, ExprHash> expressions;
  Pool<Scalar, ScalarHash> scalars;
};

}  // namespace luminal::rewriting

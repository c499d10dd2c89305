#pragma once
#include <concepts>

#include "luminal/frontend/graph.h"

namespace luminal {

// Tensors made of nothing but numbers and dims.

/// 0, 1 … end - 1.
Tensor arange(Graph& graph, const Expr& end, DType dtype = DType::i64, Location where = Location::current());
/// start, start + step … before `end`.
Tensor arange(Graph& graph, const Expr& start, const Expr& end, const Expr& step, DType dtype = DType::i64,
              Location where = Location::current());
/// The same with fractions, where one of the numbers has one; each element is rounded once.
Tensor arange_real(Graph& graph, double start, double end, double step, DType dtype = DType::f32,
                   Location where = Location::current());
template <Element A, Element B, Element C>
  requires(std::floating_point<A> || std::floating_point<B> || std::floating_point<C>)
Tensor arange(Graph& graph, A start, B end, C step, DType dtype = DType::f32,
              Location where = Location::current()) {
  return arange_real(graph, static_cast<double>(start), static_cast<double>(end), static_cast<double>(step),
                     dtype, where);
}
/// `count` numbers from start to end, both included.
Tensor linspace(Graph& graph, double start, double end, const Expr& count, DType dtype = DType::f32,
                Location where = Location::current());
/// 1 where row and column are equal, 0 elsewhere.
Tensor eye(Graph& graph, const Expr& rows, const Expr& columns, DType dtype = DType::f32,
           Location where = Location::current());
Tensor eye(Graph& graph, const Expr& size, DType dtype = DType::f32, Location where = Location::current());
Tensor zeros(Graph& graph, const Shape& shape, DType dtype = DType::f32,
             Location where = Location::current());
Tensor ones(Graph& graph, const Shape& shape, DType dtype = DType::f32, Location where = Location::current());
/// One number everywhere: reals as f32, integers as i64, bools as bool, unless a dtype is given.
Tensor full(Graph& graph, const Shape& shape, const Number& value, std::optional<DType> dtype = std::nullopt,
            Location where = Location::current());
template <Element T>
Tensor full(Graph& graph, const Shape& shape, T value, std::optional<DType> dtype = std::nullopt,
            Location where = Location::current()) {
  return full(graph, shape, Number(value), dtype, where);
}

}  // namespace luminal

// What rules can ask of index maps, shapes and scalars. No result means: no match.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "luminal/op/op_table.h"
#include "luminal/rewrite/language.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::rewriting {

void add_language_primitives(egraph::EGraph& graph, Atoms& atoms);

namespace {

using egraph::Value;
using Result = std::optional<Value>;
using Arguments = std::span<const Value>;

constexpr std::size_t max_axes = 62;  // sets of axes are bits of an i64

std::int64_t all_axes(const Shape& shape) {
  std::int64_t bits = 0;
  for (std::size_t k = 0; k < shape.rank() && k < max_axes; ++k)
    if (shape[k] != Expr(1)) bits |= std::int64_t{1} << k;
  return bits;
}

std::int64_t axes_of(const Expr& expression) {
  std::int64_t bits = 0;
  if (expression.is_constant()) return bits;
  for (const auto& variable : expression.variables())
    if (const auto axis = variable.coordinate_axis(); axis && *axis < max_axes)
      bits |= std::int64_t{1} << *axis;
  return bits;
}

std::int64_t tail_bits(const Shape& shape, std::size_t count) {
  std::int64_t bits = 0;
  for (std::size_t k = shape.rank() - count; k < shape.rank() && k < max_axes; ++k)
    bits |= std::int64_t{1} << k;
  return bits;
}

Shape reduced(const Shape& shape, std::size_t count) {
  return Shape(std::vector<Expr>(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(count)));
}

Expr tail_count(const Shape& shape, std::size_t count) {
  Expr product = 1;
  for (std::size_t k = shape.rank() - count; k < shape.rank(); ++k) product = product * shape[k];
  return product;
}

Expr place(std::size_t axis, const Shape& shape) {
  return shape[axis] == Expr(1) ? Expr(0) : Expr::coordinate(axis, shape[axis]);
}

bool is_identity(const IndexMap& map) {
  if (!map.guards.empty() || map.source != map.result) return false;
  for (std::size_t k = 0; k < map.index.size(); ++k)
    if (map.index[k] != place(k, map.source)) return false;
  return true;
}

/// A permutation, broadcast or restriction: every source coordinate is one of the result's, or fixed.
bool is_simple(const IndexMap& map) {
  if (!map.guards.empty()) return false;
  std::int64_t seen = 0;
  for (const auto& e : map.index) {
    if (e.is_constant()) continue;
    const auto axis = e.coordinate_axis();
    if (!axis || *axis >= max_axes || (seen >> *axis & 1) != 0) return false;
    seen |= std::int64_t{1} << *axis;
  }
  return true;
}

bool is_fixed(const Expr& expression) {
  if (expression.is_constant()) return true;
  const auto variables = expression.variables();
  return std::all_of(variables.begin(), variables.end(),
                     [](const Expr& v) { return v.coordinate_axis().has_value(); });
}

/// Whether a map is the same for all values of the dims.
bool is_fixed(const IndexMap& map) {
  const auto fixed = [](const Expr& e) { return is_fixed(e); };
  return std::all_of(map.index.begin(), map.index.end(), fixed) &&
         std::all_of(map.result.begin(), map.result.end(), fixed) &&
         std::all_of(map.guards.begin(), map.guards.end(),
                     [](const auto& guard) { return is_fixed(guard.valid); });
}

std::int64_t map_axes(const IndexMap& map, std::int64_t varies) {
  std::int64_t bits = 0;
  for (std::size_t k = 0; k < map.index.size(); ++k)
    if (k >= max_axes || (varies >> k & 1) != 0) bits |= axes_of(map.index[k]);
  for (const auto& guard : map.guards) bits |= axes_of(guard.valid);
  return bits;
}

/// Whether two shapes are apart whatever the dims are.
bool differ(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return true;
  for (std::size_t k = 0; k < a.rank(); ++k)
    if (a[k].is_constant() && b[k].is_constant() && a[k] != b[k]) return true;
  return false;
}

/// Fixes the last `count` axes at 0 and drops them.
IndexMap restrict_map(const Shape& shape, std::size_t count) {
  IndexMap map{shape, reduced(shape, count), {}, {}};
  for (std::size_t k = 0; k < shape.rank(); ++k)
    map.index.push_back(k + count < shape.rank() ? place(k, shape) : Expr(0));
  return map;
}

/// `map`, and beside it the last `count` axes of `shape`, which stay as they are.
IndexMap lifted_map(const IndexMap& map, const Shape& shape, std::size_t count) {
  std::vector<Expr> dims(map.result.begin(), map.result.end());
  std::vector<Expr> index = map.index;
  for (std::size_t k = shape.rank() - count; k < shape.rank(); ++k) {
    dims.push_back(shape[k]);
    index.push_back(shape[k] == Expr(1) ? Expr(0) : Expr::coordinate(dims.size() - 1, shape[k]));
  }
  return {shape, Shape(dims), std::move(index), {}};
}

/// Whether `map` spreads a reduced array over the reduced axes again, at the same coordinates.
bool is_spread(const IndexMap& map, const Shape& shape, std::size_t count) {
  if (!map.guards.empty() || map.result != shape || map.source != reduced(shape, count)) return false;
  for (std::size_t k = 0; k < map.index.size(); ++k)
    if (map.index[k] != place(k, shape)) return false;
  return true;
}

/// The axes that are kept: those that the value varies with.
std::vector<std::size_t> kept_axes(const Shape& shape, std::int64_t varies) {
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < shape.rank(); ++k)
    if (k >= max_axes || (varies >> k & 1) != 0) kept.push_back(k);
  return kept;
}

IndexMap compact_map(const Shape& shape, std::int64_t varies) {
  const auto kept = kept_axes(shape, varies);
  std::vector<Expr> dims;
  for (const auto axis : kept) dims.push_back(shape[axis]);
  IndexMap map{shape, Shape(dims), std::vector<Expr>(shape.rank(), Expr(0)), {}};
  for (std::size_t k = 0; k < kept.size(); ++k) map.index[kept[k]] = place(k, map.result);
  return map;
}

IndexMap spread_again(const Shape& shape, std::int64_t varies) {
  const auto kept = kept_axes(shape, varies);
  std::vector<Expr> dims;
  for (const auto axis : kept) dims.push_back(shape[axis]);
  IndexMap map{Shape(dims), shape, {}, {}};
  for (const auto axis : kept) map.index.push_back(place(axis, shape));
  return map;
}

/// `shape` with axis `axis` of size 1.
Shape single(const Shape& shape, std::size_t axis) {
  std::vector<Expr> dims(shape.begin(), shape.end());
  dims[axis] = 1;
  return Shape(dims);
}

/// `shape` with a further axis of this size before axis `axis`.
Shape with_axis(const Shape& shape, std::size_t axis, const Expr& size) {
  std::vector<Expr> dims(shape.begin(), shape.end());
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), size);
  return Shape(dims);
}

/// Spreads what has size 1 along `axis` over the whole of it.
IndexMap along_map(const Shape& shape, std::size_t axis) {
  IndexMap map{single(shape, axis), shape, {}, {}};
  for (std::size_t k = 0; k < shape.rank(); ++k) map.index.push_back(k == axis ? Expr(0) : place(k, shape));
  return map;
}

/// From [… 1 …] to [… 1, n …]: the index that every place along the axis asks for.
IndexMap asked_map(const Shape& shape, std::size_t axis) {
  IndexMap map{single(shape, axis), with_axis(shape, axis, 1), {}, {}};
  for (std::size_t k = 0; k < shape.rank(); ++k)
    map.index.push_back(k == axis ? Expr(0) : place(k < axis ? k : k + 1, map.result));
  return map;
}

/// From [… 1, n …] to [… n …].
IndexMap here_map(const Shape& shape, std::size_t axis) {
  IndexMap map{with_axis(shape, axis, 1), shape, {}, {}};
  for (std::size_t k = 0; k < shape.rank(); ++k) {
    if (k == axis) map.index.emplace_back(0);
    map.index.push_back(place(k, shape));
  }
  return map;
}

/// Registers primitives with less ceremony.
class Registry {
 public:
  Registry(egraph::EGraph& graph, Atoms& atoms) : graph_(graph), atoms_(atoms) {}

  void add_map_primitives() {
    add("compose", {"Map", "Map"}, "Map", [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
      // One class may have its shape in two spellings; the axes are the same.
      if (a.maps[v[0]].result.rank() != a.maps[v[1]].source.rank()) return std::nullopt;
      return a.maps.intern(compose(a.maps[v[0]], a.maps[v[1]]));
    });
    test("identity-map", {"Map"}, [&a = atoms_](Arguments v) { return is_identity(a.maps[v[0]]); });
    test("simple-map", {"Map"}, [&a = atoms_](Arguments v) { return is_simple(a.maps[v[0]]); });
    test("fixed-map", {"Map"}, [&a = atoms_](Arguments v) { return is_fixed(a.maps[v[0]]); });
    test("total-map", {"Map"}, [&a = atoms_](Arguments v) { return a.maps[v[0]].guards.empty(); });
    test("total-for", {"Map", "Scalar"}, [&a = atoms_](Arguments v) {
      const Scalar& value = a.scalars[v[1]];
      for (const auto& guard : a.maps[v[0]].guards)
        if (make_scalar(value.dtype, guard.fill) != value) return false;
      return true;
    });
    add("map-shape", {"Map"}, "Shape", [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
      return a.shapes.intern(a.maps[v[0]].result);
    });
    add("map-axes", {"Map", "i64"}, "i64", [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
      return e.integer(map_axes(a.maps[v[0]], e.integer_of(v[1])));
    });
    add_tail("restrict-map", {"Shape", "i64"}, "Map", 0,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               return a.maps.intern(restrict_map(a.shapes[v[0]], count(e, v[1])));
             });
    add_tail("lifted-map", {"Map", "Shape", "i64"}, "Map", 1,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               return a.maps.intern(lifted_map(a.maps[v[0]], a.shapes[v[1]], count(e, v[2])));
             });
    add_tail("spread-map", {"Map", "Shape", "i64"}, "Unit", 1,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               return yes(is_spread(a.maps[v[0]], a.shapes[v[1]], count(e, v[2])));
             });
    add("compact-map", {"Shape", "i64"}, "Map", [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
      const Shape& shape = a.shapes[v[0]];
      const std::int64_t varies = e.integer_of(v[1]);
      if ((all_axes(shape) & ~varies) == 0) return std::nullopt;  // nothing to leave out
      return a.maps.intern(compact_map(shape, varies));
    });
    add("spread-again", {"Shape", "i64"}, "Map", [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
      return a.maps.intern(spread_again(a.shapes[v[0]], e.integer_of(v[1])));
    });
  }

  /// Of scatters: on an axis of a shape.
  void add_axis_primitives() {
    add_axis("along-map", "Map", [&a = atoms_](const Shape& shape, std::size_t axis) -> Value {
      return a.maps.intern(along_map(shape, axis));
    });
    add_axis("asked-map", "Map", [&a = atoms_](const Shape& shape, std::size_t axis) -> Value {
      return a.maps.intern(asked_map(shape, axis));
    });
    add_axis("here-map", "Map", [&a = atoms_](const Shape& shape, std::size_t axis) -> Value {
      return a.maps.intern(here_map(shape, axis));
    });
    add_axis("here-shape", "Shape", [&a = atoms_](const Shape& shape, std::size_t axis) -> Value {
      return a.shapes.intern(with_axis(shape, axis, shape[axis]));
    });
    add_axis("here-index", "Index", [&a = atoms_](const Shape& shape, std::size_t axis) -> Value {
      return a.expressions.intern(
          Expr::equal(Expr::coordinate(axis, shape[axis]), Expr::coordinate(axis + 1, shape[axis])));
    });
    add("single-along", {"Shape", "Shape", "i64"}, "Unit",
        [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
          const Shape& shape = a.shapes[v[1]];
          const std::int64_t axis = e.integer_of(v[2]);
          if (axis < 0 || static_cast<std::size_t>(axis) >= shape.rank()) return std::nullopt;
          return yes(a.shapes[v[0]] == single(shape, static_cast<std::size_t>(axis)));
        });
  }

  void add_shape_primitives() {
    add("all-axes", {"Shape"}, "i64", [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
      return e.integer(all_axes(a.shapes[v[0]]));
    });
    add_tail("reduced-shape", {"Shape", "i64"}, "Shape", 0,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               return a.shapes.intern(reduced(a.shapes[v[0]], count(e, v[1])));
             });
    add_tail("reduced-axes", {"i64", "Shape", "i64"}, "i64", 1,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               return e.integer(e.integer_of(v[0]) & ~tail_bits(a.shapes[v[1]], count(e, v[2])));
             });
    add_tail("constant-tail", {"i64", "Shape", "i64"}, "Unit", 1,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               const Shape& shape = a.shapes[v[1]];
               if (shape.rank() > max_axes) return std::nullopt;
               return yes((e.integer_of(v[0]) & tail_bits(shape, count(e, v[2]))) == 0);
             });
    add_tail("varying-tail", {"i64", "Shape", "i64"}, "Unit", 1,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               return yes((e.integer_of(v[0]) & tail_bits(a.shapes[v[1]], count(e, v[2]))) != 0);
             });
    add_tail("single-tail", {"Shape", "i64"}, "Unit", 0,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               return yes(tail_count(a.shapes[v[0]], count(e, v[1])) == Expr(1));
             });
    add_tail("nonempty-tail", {"Shape", "i64"}, "Unit", 0,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               return yes(prove_le(1, tail_count(a.shapes[v[0]], count(e, v[1]))));
             });
    add_tail("summed-or-empty", {"Shape", "i64"}, "Unit", 0,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               const Shape& shape = a.shapes[v[0]];
               const std::size_t kept = shape.rank() - count(e, v[1]);
               for (std::size_t axis = kept; axis < shape.rank(); ++axis) {
                 const bool in_result =
                     std::find(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(kept),
                               shape[axis]) != shape.begin() + static_cast<std::ptrdiff_t>(kept);
                 if (!in_result && !prove_le(1, shape[axis])) return std::nullopt;
               }
               return yes(true);
             });
    add_tail("tail-count", {"Shape", "i64", "DType"}, "Scalar", 0,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               const auto n = tail_count(a.shapes[v[0]], count(e, v[1])).constant_value();
               if (!n) return std::nullopt;
               return a.scalars.intern(make_scalar(static_cast<DType>(v[2]), luminal::Number(*n)));
             });
    add_tail("minus-mean-factor", {"Scalar", "Shape", "i64"}, "Unit", 1,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               const auto n = tail_count(a.shapes[v[1]], count(e, v[2])).constant_value();
               if (!n || *n == 0) return std::nullopt;
               const Scalar& factor = a.scalars[v[0]];
               const double exact = -1.0 / static_cast<double>(*n);
               // 1/n may have been rounded on its way here.
               return yes(is_floating(factor.dtype) &&
                          std::abs(to_double(factor) - exact) <= std::abs(exact) * 1e-6);
             });
    add_tail("counts-tail", {"Scalar", "Shape", "i64"}, "Unit", 1,
             [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
               const auto n = tail_count(a.shapes[v[1]], count(e, v[2])).constant_value();
               return yes(n && to_double(a.scalars[v[0]]) == static_cast<double>(*n));
             });
    add("index-axes", {"Index"}, "i64", [&a = atoms_](egraph::Atoms& e, Arguments v) -> Result {
      return e.integer(axes_of(a.expressions[v[0]]));
    });
    add("moved-index", {"Index", "Map"}, "Index", [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
      return a.expressions.intern(a.expressions[v[0]].substitute_coordinates(a.maps[v[1]].index));
    });
    add("constant-index", {"Index", "DType"}, "Scalar", [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
      const auto n = a.expressions[v[0]].constant_value();
      if (!n) return std::nullopt;
      return a.scalars.intern(make_scalar(static_cast<DType>(v[1]), luminal::Number(*n)));
    });
  }

  void add_scalar_primitives() {
    test("is-zero", {"Scalar"}, [&a = atoms_](Arguments v) { return to_double(a.scalars[v[0]]) == 0; });
    test("is-one", {"Scalar"}, [&a = atoms_](Arguments v) { return to_double(a.scalars[v[0]]) == 1; });
    test("is-minus-one", {"Scalar"}, [&a = atoms_](Arguments v) { return to_double(a.scalars[v[0]]) == -1; });
    test("is-power-of-two", {"Scalar"}, [&a = atoms_](Arguments v) {
      int exponent = 0;
      return std::frexp(to_double(a.scalars[v[0]]), &exponent) == 0.5 && std::abs(exponent) < 14;
    });
    test("is-positive", {"Scalar"}, [&a = atoms_](Arguments v) {
      const double x = to_double(a.scalars[v[0]]);
      return x > 0 && x < std::numeric_limits<double>::infinity();
    });
    test("product-in-range", {"Scalar", "Scalar"}, [&a = atoms_](Arguments v) {
      const Scalar product = apply(Op::mul, a.scalars[v[0]], a.scalars[v[1]]);
      const double x = to_double(product);
      const double factors = to_double(a.scalars[v[0]]) * to_double(a.scalars[v[1]]);
      return std::isfinite(x) && std::abs(x - factors) <= 0.01 * std::abs(factors);
    });
    test("same-sign", {"Scalar", "Scalar"},
         [&a = atoms_](Arguments v) { return to_double(a.scalars[v[0]]) * to_double(a.scalars[v[1]]) >= 0; });
    test("is-log2e", {"Scalar"}, [&a = atoms_](Arguments v) {
      return std::abs(to_double(a.scalars[v[0]]) - std::numbers::log2e) < 2e-7;
    });
    add("log2e-of", {"DType"}, "Scalar", [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
      return a.scalars.intern(make_scalar(static_cast<DType>(v[0]), luminal::Number(std::numbers::log2e)));
    });
    // x / log2(e) where that is another factor, and makes nothing larger.
    add("by-log2e", {"Scalar"}, "Scalar", [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
      const Scalar& x = a.scalars[v[0]];
      const double factor = to_double(x) / std::numbers::log2e;
      const bool exact = x.dtype == DType::f32 || x.dtype == DType::f64;
      if (!exact || !(factor > 0) || factor > 1 - 1e-6) return std::nullopt;
      return a.scalars.intern(make_scalar(x.dtype, luminal::Number(factor)));
    });
    test("floating", {"DType"}, [](Arguments v) { return is_floating(static_cast<DType>(v[0])); });
    add("dtype-of", {"Scalar"}, "DType", [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
      return static_cast<Value>(a.scalars[v[0]].dtype);
    });
    add("dtype-bool", {}, "DType",
        [](egraph::Atoms&, Arguments) -> Result { return static_cast<Value>(DType::boolean); });
    add("dtype-u32", {}, "DType",
        [](egraph::Atoms&, Arguments) -> Result { return static_cast<Value>(DType::u32); });
    add("one-of", {"DType"}, "Scalar", [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
      return a.scalars.intern(make_scalar(static_cast<DType>(v[0]), luminal::Number(1)));
    });
    for (const OpRow& r : op_table) add_fold(r);
  }

  /// What the facts of two tensors become when a rule joins them.
  void add_agreements() {
    add("agreed-shape", {"Shape", "Shape"}, "Shape", [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
      if (differ(a.shapes[v[0]], a.shapes[v[1]]))
        throw Error(cat("rules: a rule joins a tensor of shape ", a.shapes[v[0]].text(),
                        " with one of shape ", a.shapes[v[1]].text()));
      return v[0];
    });
    add("agreed-dtype", {"DType", "DType"}, "DType", [](egraph::Atoms&, Arguments v) -> Result {
      if (v[0] != v[1])
        throw Error(cat("rules: a rule joins a tensor of ", static_cast<DType>(v[0]), " with one of ",
                        static_cast<DType>(v[1])));
      return v[0];
    });
  }

 private:
  static std::size_t count(const egraph::Atoms& atoms, Value v) {
    return static_cast<std::size_t>(atoms.integer_of(v));
  }
  void add_axis(const std::string& name, const std::string& output,
                std::function<Value(const Shape&, std::size_t)> body) {
    add(name, {"Shape", "i64"}, output,
        [&a = atoms_, body = std::move(body)](egraph::Atoms& e, Arguments v) -> Result {
          const Shape shape = a.shapes[v[0]];
          const std::int64_t axis = e.integer_of(v[1]);
          if (axis < 0 || static_cast<std::size_t>(axis) >= shape.rank()) return std::nullopt;
          return body(shape, static_cast<std::size_t>(axis));
        });
  }
  /// A primitive on the last axes of a shape: no result if there are not as many. A query may ask for any
  /// pair.
  void add_tail(const std::string& name, const std::vector<std::string>& inputs, const std::string& output,
                std::size_t shape_at, egraph::PrimitiveBody body) {
    add(name, inputs, output,
        [&a = atoms_, shape_at, body = std::move(body)](egraph::Atoms& e, Arguments v) -> Result {
          const std::int64_t axes = e.integer_of(v[shape_at + 1]);
          if (axes < 0 || static_cast<std::size_t>(axes) > a.shapes[v[shape_at]].rank()) return std::nullopt;
          return body(e, v);
        });
  }
  static Result yes(bool holds) { return holds ? Result(0) : std::nullopt; }

  void add(const std::string& name, const std::vector<std::string>& inputs, const std::string& output,
           egraph::PrimitiveBody body) {
    graph_.add_primitive(name, inputs, output, std::move(body));
  }
  void test(const std::string& name, const std::vector<std::string>& inputs,
            std::function<bool(Arguments)> holds) {
    add(name, inputs, "Unit",
        [holds = std::move(holds)](egraph::Atoms&, Arguments v) { return yes(holds(v)); });
  }

  /// An op on constants is a constant.
  void add_fold(const OpRow& r) {
    const std::string name = "fold-" + constructor_name(r.op);
    if (r.kind == OpKind::unary) {
      add(name, {"Scalar"}, "Scalar", [&a = atoms_, op = r.op](egraph::Atoms&, Arguments v) -> Result {
        // A query may ask this of any constant, before it knows what the constant is used for.
        if (!accepts(op, a.scalars[v[0]].dtype)) return std::nullopt;
        return a.scalars.intern(apply(op, a.scalars[v[0]]));
      });
    } else if (r.kind == OpKind::binary) {
      add(name, {"Scalar", "Scalar"}, "Scalar",
          [&a = atoms_, op = r.op](egraph::Atoms&, Arguments v) -> Result {
            if (a.scalars[v[0]].dtype != a.scalars[v[1]].dtype || !accepts(op, a.scalars[v[0]].dtype))
              return std::nullopt;
            return a.scalars.intern(apply(op, a.scalars[v[0]], a.scalars[v[1]]));
          });
    } else if (r.kind == OpKind::select) {
      add(name, {"Scalar", "Scalar", "Scalar"}, "Scalar",
          [&a = atoms_](egraph::Atoms&, Arguments v) -> Result {
            return a.scalars[v[0]].bits != 0 ? v[1] : v[2];
          });
    } else if (r.kind == OpKind::convert) {
      add(name, {"DType", "Scalar"}, "Scalar",
          [&a = atoms_, op = r.op](egraph::Atoms&, Arguments v) -> Result {
            const auto dtype = static_cast<DType>(v[0]);
            const Scalar& value = a.scalars[v[1]];
            if (op == Op::bitcast && byte_size(dtype) != byte_size(value.dtype)) return std::nullopt;
            return a.scalars.intern(op == Op::cast ? convert(value, dtype) : bitcast(value, dtype));
          });
    }
  }

  egraph::EGraph& graph_;
  Atoms& atoms_;
};

}  // namespace

void add_language_primitives(egraph::EGraph& graph, Atoms& atoms) {
  Registry registry(graph, atoms);
  registry.add_map_primitives();
  registry.add_axis_primitives();
  registry.add_shape_primitives();
  registry.add_scalar_primitives();
  registry.add_agreements();
}

}  // namespace luminal::rewriting

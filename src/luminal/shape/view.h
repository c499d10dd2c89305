#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "luminal/shape/expr.h"
#include "luminal/shape/shape.h"
#include "luminal/support/number.h"

namespace luminal {

/// The movements a view is made of. Axes count from 0 in the shape that the movement is applied to.
namespace movement {
/// Result axis k is source axis axes[k].
struct Permute {
  std::vector<std::size_t> axes;
  friend bool operator==(const Permute&, const Permute&) = default;
};
/// Repeats axis `axis`, which must have size 1, `size` times.
struct Expand {
  std::size_t axis;
  Expr size;
  friend bool operator==(const Expand&, const Expand&) = default;
};
/// Elements start, start+step … of axis `axis`; `size` of them. step ≥ 1. All within the axis.
struct Slice {
  std::size_t axis;
  Expr start;
  Expr size;
  Expr step;
  friend bool operator==(const Slice&, const Slice&) = default;
};
/// `before` and `after` further elements on both sides, each reading as `fill`.
struct Pad {
  std::size_t axis;
  Expr before;
  Expr after;
  Number fill;
  friend bool operator==(const Pad&, const Pad&) = default;
};
/// The same elements in row-major order under another shape: merges, splits, squeezes and unsqueezes alike.
struct Reshape {
  Shape shape;
  friend bool operator==(const Reshape&, const Reshape&) = default;
};
/// Windows of `size` elements `dilation` apart, one every `stride`: axis `axis` becomes the window's number,
/// and a new last axis is the position in the window.
struct Unfold {
  std::size_t axis;
  Expr size;
  Expr stride;
  Expr dilation;
  friend bool operator==(const Unfold&, const Unfold&) = default;
};
/// The transpose of Unfold, before its sum: the last axis is the position j in a window, axis `axis` the
/// window's number k; the result has `size` elements p there, and (p, j) reads (k, j) where p = k·stride +
/// j·dilation, 0 where no window puts its element j at p.
struct Fold {
  std::size_t axis;
  Expr size;
  Expr stride;
  Expr dilation;
  friend bool operator==(const Fold&, const Fold&) = default;
};
/// The transpose of Fold: `size` windows k along `axis`, and (k, j) reads (k·stride + j·dilation, j).
struct Shear {
  std::size_t axis;
  Expr size;
  Expr stride;
  Expr dilation;
  friend bool operator==(const Shear&, const Shear&) = default;
};
/// Reverses axis `axis`.
struct Flip {
  std::size_t axis;
  friend bool operator==(const Flip&, const Flip&) = default;
};
/// Element c reads flat element offset + Σ strides[k]·c[k] of the (row-major) source.
struct Strided {
  Shape shape;
  std::vector<Expr> strides;
  Expr offset;
  friend bool operator==(const Strided&, const Strided&) = default;
};
}  // namespace movement

using Movement =
    std::variant<movement::Permute, movement::Expand, movement::Slice, movement::Pad, movement::Reshape,
                 movement::Unfold, movement::Fold, movement::Shear, movement::Flip, movement::Strided>;

/// How a view reads its source: coordinates of the result (Expr coordinates i0, i1 …) to an element of the
/// source, or to a fill value. The guards are tested in order, the outermost movement's first; the first that
/// is 0 gives its fill, and if none is, the element at `index` (one Expr a source axis) is read. Canonical:
/// equal maps are equal values, up to what the normal form of `Expr` decides.
struct IndexMap {
  struct Guard {
    Expr valid;
    Number fill;
    friend bool operator==(const Guard&, const Guard&) = default;
  };
  Shape source;
  Shape result;
  std::vector<Expr> index;
  std::vector<Guard> guards;

  friend bool operator==(const IndexMap&, const IndexMap&) = default;
  std::uint64_t hash() const;
  std::string text() const;
};

/// Reads through `outer` what `inner` gives: `outer.source` is `inner.result`.
IndexMap compose(const IndexMap& inner, const IndexMap& outer);

/// What must hold of the dims' values for a view to make sense, found while building it and not provable from
/// the dims' bounds: tested when the dims get their values.
struct ViewCheck {
  Expr holds;           // not 0
  std::string problem;  // "reshape: [n, 4] has not as many elements as [m, 8]"
  friend bool operator==(const ViewCheck&, const ViewCheck&) = default;
};

/// A way to read an array under another shape without copying it: movements, and the canonical index map they
/// amount to. Views are compared and hashed by that map; the movements are kept for autograd, which
/// transposes them one by one. An immutable value that is cheap to copy. Any movement of any view is legal;
/// what is wrong for *every* value of the dims is an `Error` now, what cannot be decided yet becomes a check.
class View {
 public:
  /// The identity view of an array of this shape.
  explicit View(const Shape& source);

  const Shape& source() const;
  const Shape& shape() const;
  const IndexMap& map() const;
  const std::vector<Movement>& movements() const;
  const std::vector<ViewCheck>& checks() const;

  View then(const Movement& movement) const;
  /// All of `next`'s movements on top of this view; next.source() must equal shape().
  View then(const View& next) const;

  View permute(std::vector<std::size_t> axes) const;
  View expand(std::size_t axis, const Expr& size) const;
  View slice(std::size_t axis, const Expr& start, const Expr& size, const Expr& step = 1) const;
  View pad(std::size_t axis, const Expr& before, const Expr& after, Number fill) const;
  View reshape(const Shape& shape) const;
  View unfold(std::size_t axis, const Expr& size, const Expr& stride, const Expr& dilation) const;
  View flip(std::size_t axis) const;
  static View strided(const Shape& source, const Shape& shape, std::vector<Expr> strides, const Expr& offset);

  /// The source as it is: the same shape, every element in its place.
  bool is_identity() const;
  /// The result's elements lie one after the other in the source, from its first, none filled.
  bool is_contiguous() const;
  /// Never reads a fill value.
  bool is_total() const { return map().guards.empty(); }
  /// The flat row-major source offset as an Expr of the coordinates.
  Expr offset() const;
  /// Strides and the constant part, if `offset()` is affine in the coordinates.
  struct Affine {
    std::vector<Expr> strides;
    Expr offset;
  };
  std::optional<Affine> affine() const;

  /// The dims that the movements mention, whether the map depends on them or not.
  std::vector<Expr> variables() const;

  /// The same view with dims fixed; throws `Error` for a check that fails and for a negative dim.
  View substitute(const DimMap& values) const;

  friend bool operator==(const View& a, const View& b) { return a.data_ == b.data_ || a.map() == b.map(); }
  std::uint64_t hash() const;
  /// The movements, as the graph's text format spells them: "permute(1, 0) slice(0, 2, 3, 1)"; empty for
  /// identity.
  std::string text() const;

 private:
  struct Data;
  std::shared_ptr<const Data> data_;
  explicit View(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  bool has_checks(const std::vector<ViewCheck>& wanted) const;
};

/// One row per movement: its name and arguments, as `View::text` prints them.
std::string movement_text(const Movement& movement);

}  // namespace luminal

template <>
struct std::hash<luminal::View> {
  std::size_t operator()(const luminal::View& view) const noexcept { return view.hash(); }
};

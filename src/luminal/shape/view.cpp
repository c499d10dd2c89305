#include "luminal/shape/view.h"

#include <algorithm>

#include "luminal/shape/view_data.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal {

std::uint64_t IndexMap::hash() const {
  Hash hash(index.size());
  hash.add(source.hash()).add(result.hash());
  for (const auto& e : index) hash.add(e.hash());
  for (const auto& guard : guards) hash.add(guard.valid.hash()).add(guard.fill.hash());
  return hash.value();
}

std::string IndexMap::text() const {
  std::string out = cat(result, " -> ", source, " at [", join(index), "]");
  for (const auto& guard : guards) out += cat(" where ", guard.valid, " else ", guard.fill);
  return out;
}

namespace {

void refuse_negative_dims(const Shape& shape) {
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const auto high = shape[axis].bounds().high;
    if (high && *high < 0) throw Error(cat("view: axis ", axis, " of ", shape, " is negative"));
  }
}

}  // namespace

View::View(const Shape& source) {
  refuse_negative_dims(source);
  auto data = std::make_shared<Data>();
  data->map = detail::canonical({source, source, detail::coordinates_of(source), {}});
  data->hash = data->map.hash();
  data_ = std::move(data);
}

const Shape& View::source() const {
  return data_->map.source;
}
const Shape& View::shape() const {
  return data_->map.result;
}
const IndexMap& View::map() const {
  return data_->map;
}
const std::vector<Movement>& View::movements() const {
  return data_->movements;
}
const std::vector<ViewCheck>& View::checks() const {
  return data_->checks;
}
std::uint64_t View::hash() const {
  return data_->hash;
}

namespace {

/// The map of `before` read through one more movement.
IndexMap moved(const IndexMap& before, detail::Step&& step) {
  IndexMap map{before.source, std::move(step.result), {}, std::move(step.guards)};
  map.index.reserve(before.index.size());
  for (const auto& e : before.index) map.index.push_back(e.substitute_coordinates(step.coordinates));
  for (const auto& guard : before.guards) {
    map.guards.push_back({guard.valid.substitute_coordinates(step.coordinates), guard.fill});
  }
  return detail::canonical(std::move(map));
}

}  // namespace

IndexMap compose(const IndexMap& inner, const IndexMap& outer) {
  return moved(inner, {outer.result, outer.index, outer.guards, {}});
}

bool View::has_checks(const std::vector<ViewCheck>& wanted) const {
  return std::all_of(wanted.begin(), wanted.end(), [&](const ViewCheck& check) {
    return std::any_of(checks().begin(), checks().end(),
                       [&](const ViewCheck& mine) { return mine.holds == check.holds; });
  });
}

View View::then(const Movement& movement) const {
  auto step = detail::step_of(movement, shape());
  const auto new_checks = std::move(step.checks);
  // Movements are how views are written down, so they must say all checks: two become one only if the one has
  // them.
  if (data_->previous) {
    if (const auto both = detail::folded(movements().back(), movement)) {
      const View one = View(data_->previous).then(*both);
      if (one.has_checks(checks()) && one.has_checks(new_checks)) return one;
    }
  }
  auto data = std::make_shared<Data>();
  data->map = moved(map(), std::move(step));
  data->hash = data->map.hash();
  // A way back to where the view has been leaves no trace, if it made no check.
  for (auto earlier = data_; earlier; earlier = earlier->previous) {
    if (earlier->hash != data->hash || !(earlier->map == data->map)) continue;
    const View back(earlier);
    if (back.has_checks(checks()) && back.has_checks(new_checks)) return back;
  }
  data->previous = data_;
  data->movements = movements();
  data->movements.push_back(movement);
  data->checks = checks();
  for (const auto& check : new_checks) detail::add_check(check, data->checks);
  return View(std::shared_ptr<const Data>(std::move(data)));
}

View View::then(const View& next) const {
  if (!(next.source() == shape())) {
    throw Error(cat("view: a view of ", next.source(), " cannot follow one that gives ", shape()));
  }
  if (movements().empty()) return next;
  View result = *this;
  for (const auto& movement : next.movements()) result = result.then(movement);
  return result;
}

View View::permute(std::vector<std::size_t> axes) const {
  return then(movement::Permute{std::move(axes)});
}
View View::expand(std::size_t axis, const Expr& size) const {
  return then(movement::Expand{axis, size});
}
View View::slice(std::size_t axis, const Expr& start, const Expr& size, const Expr& step) const {
  return then(movement::Slice{axis, start, size, step});
}
View View::pad(std::size_t axis, const Expr& before, const Expr& after, Number fill) const {
  return then(movement::Pad{axis, before, after, fill});
}
View View::reshape(const Shape& shape) const {
  return then(movement::Reshape{shape});
}
View View::unfold(std::size_t axis, const Expr& size, const Expr& stride, const Expr& dilation) const {
  return then(movement::Unfold{axis, size, stride, dilation});
}
View View::flip(std::size_t axis) const {
  return then(movement::Flip{axis});
}
View View::strided(const Shape& source, const Shape& shape, std::vector<Expr> strides, const Expr& offset) {
  return View(source).then(movement::Strided{shape, std::move(strides), offset});
}

bool View::is_identity() const {
  const auto& m = map();
  if (!m.guards.empty() || !(m.source == m.result)) return false;
  return detail::is_empty(m.result) || m.index == detail::coordinates_of(m.result);
}

bool View::is_contiguous() const {
  if (detail::is_empty(shape())) return true;
  return is_total() && offset() == detail::flat_index(detail::coordinates_of(shape()), shape());
}

Expr View::offset() const {
  return detail::flat_index(map().index, source());
}

std::optional<View::Affine> View::affine() const {
  const auto flat = offset();
  Affine result{std::vector<Expr>(shape().rank(), Expr(0)), flat};
  std::vector<Expr> origin(shape().rank(), Expr(0));
  result.offset = flat.substitute_coordinates(origin);
  Expr rebuilt = result.offset;
  const auto coordinates = detail::coordinates_of(shape());
  for (std::size_t axis = 0; axis < shape().rank(); ++axis) {
    if (detail::is_one(shape()[axis])) continue;
    origin[axis] = 1;
    result.strides[axis] = flat.substitute_coordinates(origin) - result.offset;
    origin[axis] = 0;
    rebuilt = rebuilt + result.strides[axis] * coordinates[axis];
  }
  if (!(rebuilt == flat)) return std::nullopt;
  return result;
}

std::vector<Expr> View::variables() const {
  std::vector<Expr> result;
  for (const auto& movement : movements()) {
    for (const auto& e : detail::expressions_in(movement)) {
      for (const auto& variable : e.variables()) {
        if (std::find(result.begin(), result.end(), variable) == result.end()) result.push_back(variable);
      }
    }
  }
  return result;
}

View View::substitute(const DimMap& values) const {
  View result(source().substitute(values));
  for (const auto& movement : movements()) result = result.then(detail::substituted(movement, values));
  return result;
}

}  // namespace luminal

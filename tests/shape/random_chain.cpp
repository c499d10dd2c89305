#include "tests/shape/random_chain.h"

#include <algorithm>
#include <numeric>

namespace luminal::test {
namespace {

constexpr std::int64_t max_elements = 400;
constexpr std::size_t max_rank = 13;

/// Builds a chain, keeping the shape both with symbols and with their values.
class Chain {
 public:
  Chain(Random& random, bool symbolic) : random_(random), symbolic_(symbolic) {
    if (symbolic) chain_.at = {{"n", size()}, {"m", size()}, {"k", random.between(1, 3)}};
    std::vector<Expr> dims;
    const auto rank = random.chance(0.1) ? random.between(8, 12) : random.between(0, 4);
    std::int64_t count = 1;
    for (std::int64_t axis = 0; axis < rank; ++axis) {
      const auto dim = random_dim(count);
      count *= std::max<std::int64_t>(1, value(dim));
      dims.push_back(dim);
    }
    chain_.source = Shape(dims);
    dims_ = std::move(dims);
  }

  RandomChain make() {
    const auto length = random_.between(1, 8);
    for (std::int64_t i = 0; i < length; ++i) step();
    return std::move(chain_);
  }

 private:
  Random& random_;
  bool symbolic_;
  RandomChain chain_;
  std::vector<Expr> dims_;
  int fresh_ = 0;

  std::int64_t size() { return random_.chance(0.1) ? random_.between(0, 1) : random_.between(2, 5); }
  std::int64_t value(const Expr& e) const { return e.eval(chain_.at); }
  std::size_t axis() {
    return static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(dims_.size()) - 1));
  }

  std::int64_t elements() const {
    return std::accumulate(dims_.begin(), dims_.end(), std::int64_t{1},
                           [&](std::int64_t count, const Expr& dim) { return count * value(dim); });
  }

  Expr symbol() {
    const Expr dims[] = {Expr("n"), Expr("m"), Expr::variable("k", 1, 3)};
    return dims[random_.between(0, 2)];
  }

  Expr random_dim(std::int64_t count) {
    if (count > 60) return random_.between(1, 2);
    if (!symbolic_ || random_.chance(0.4)) return size();
    const auto base = symbol();
    if (random_.chance(0.2)) return base * random_.between(2, 3);
    return random_.chance(0.1) ? base + random_.between(1, 2) : base;
  }

  /// An expression with this value: the constant, or a symbol that differs from it by a constant.
  Expr with_value(std::int64_t wanted) {
    if (!symbolic_ || random_.chance(0.6)) return wanted;
    const auto base = symbol();
    return base + (wanted - value(base));
  }

  void push(Movement movement, std::vector<Expr> dims) {
    chain_.movements.push_back(std::move(movement));
    dims_ = std::move(dims);
  }

  void step() {
    switch (random_.between(0, 10)) {
      case 10:
        return fold_or_shear();
      case 0:
        return permute();
      case 1:
        return expand();
      case 2:
      case 3:
        return slice();
      case 4:
        return pad();
      case 5:
        return unfold();
      case 6:
        return flip();
      case 7:
        return random_.chance(0.2) ? strided() : reshape();
      default:
        return reshape();
    }
  }

  void permute() {
    movement::Permute m;
    m.axes.resize(dims_.size());
    std::iota(m.axes.begin(), m.axes.end(), std::size_t{0});
    for (std::size_t i = m.axes.size(); i > 1; --i) {
      std::swap(m.axes[i - 1],
                m.axes[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(i) - 1))]);
    }
    std::vector<Expr> dims;
    dims.reserve(m.axes.size());
    for (const auto each : m.axes) dims.push_back(dims_[each]);
    push(m, dims);
  }

  /// Expands an axis of size 1, which it inserts first if there is none.
  void expand() {
    if (elements() * 5 > max_elements || dims_.size() >= max_rank) return;
    auto dims = dims_;
    auto ones = std::find_if(dims.begin(), dims.end(), [&](const Expr& dim) { return dim == Expr(1); });
    if (ones == dims.end()) {
      ones = dims.insert(dims.begin() + random_.between(0, static_cast<std::int64_t>(dims.size())), Expr(1));
      push(movement::Reshape{Shape(dims)}, dims);
    }
    const auto where = static_cast<std::size_t>(ones - dims.begin());
    dims[where] = symbolic_ && random_.chance(0.5) ? symbol() : Expr(size());
    push(movement::Expand{where, dims[where]}, dims);
  }

  void slice() {
    if (dims_.empty()) return;
    const auto where = axis();
    const auto room = value(dims_[where]);
    const auto step = random_.chance(0.7) ? 1 : random_.between(1, 3);
    const auto start = random_.between(0, room);
    const auto most = room > start ? (room - start - 1) / step + 1 : 0;
    const auto length = random_.chance(0.5) ? most : random_.between(0, most);
    auto dims = dims_;
    dims[where] = symbolic_ && random_.chance(0.5) ? dims_[where] - (room - length) : with_value(length);
    push(movement::Slice{where, with_value(start), dims[where], step}, dims);
  }

  void pad() {
    if (dims_.empty() || elements() * 3 > max_elements) return;
    const auto where = axis();
    const auto before = random_.chance(0.2) && symbolic_ ? symbol() : Expr(random_.between(0, 2));
    const Expr after = random_.between(0, 2);
    auto dims = dims_;
    dims[where] = before + dims_[where] + after;
    push(movement::Pad{where, before, after, Number(random_.between(-2, 0))}, dims);
  }

  void fold_or_shear() {
    if (dims_.size() < 2) return;
    const auto where =
        static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(dims_.size()) - 2));
    const auto stride = random_.between(1, 3);
    const auto dilation = random_.between(1, 2);
    const auto window = value(dims_.back());
    auto dims = dims_;
    if (random_.chance(0.5)) {
      const auto reach = (value(dims_[where]) - 1) * stride + (window - 1) * dilation + 1;
      const auto size = std::max<std::int64_t>(0, reach + random_.between(-2, 2));
      if (elements() * (size + 1) > max_elements) return;
      dims[where] = with_value(size);
      return push(movement::Fold{where, dims[where], with_value(stride), with_value(dilation)}, dims);
    }
    const auto room = value(dims_[where]) - 1 - std::max<std::int64_t>(0, window - 1) * dilation;
    dims[where] = with_value(room < 0 ? 0 : random_.between(0, room / stride + 1));
    push(movement::Shear{where, dims[where], with_value(stride), with_value(dilation)}, dims);
  }

  void unfold() {
    if (dims_.empty() || elements() * 3 > max_elements || dims_.size() >= max_rank) return;
    const auto where = axis();
    const auto room = value(dims_[where]);
    const auto dilation = random_.between(1, 2);
    if (room < 1) return;
    const auto length = random_.between(1, std::min<std::int64_t>(3, (room - 1) / dilation + 1));
    const auto stride = random_.between(1, 3);
    auto dims = dims_;
    dims[where] = (dims_[where] - dilation * (length - 1) - 1) / stride + 1;
    dims.emplace_back(length);
    push(movement::Unfold{where, length, stride, dilation}, dims);
  }

  void flip() {
    if (!dims_.empty()) push(movement::Flip{axis()}, dims_);
  }

  void strided() {
    const auto count = elements();
    if (count < 1) return;
    const auto length = random_.between(1, std::min<std::int64_t>(4, count));
    const auto step = length > 1 ? random_.between(0, (count - 1) / (length - 1)) : 1;
    const bool back = random_.chance(0.3);
    push(movement::Strided{Shape{length}, {Expr(back ? -step : step)}, Expr(back ? (length - 1) * step : 0)},
         {length});
  }

  void reshape() {
    auto dims = dims_;
    switch (random_.between(0, 4)) {
      case 0:
        dims.insert(dims.begin() + random_.between(0, static_cast<std::int64_t>(dims.size())), Expr(1));
        break;
      case 1:
        std::erase(dims, Expr(1));
        break;
      case 2:
        split(dims);
        break;
      case 3:
        refactor(dims);
        break;
      default:
        merge(dims);
        break;
    }
    if (dims.size() <= max_rank) push(movement::Reshape{Shape(dims)}, dims);
  }

  void merge(std::vector<Expr>& dims) {
    if (dims.size() < 2) return;
    const auto where = random_.between(0, static_cast<std::int64_t>(dims.size()) - 2);
    const auto at = dims.begin() + where;
    *at = *at * *(at + 1);
    dims.erase(at + 1);
  }

  void split(std::vector<Expr>& dims) {
    if (dims.empty()) return;
    const auto where = axis();
    const auto total = value(dims[where]);
    for (const std::int64_t inner : {2, 3, 4, 5}) {
      if (total == 0 || total % inner != 0) continue;
      const bool outer_last = random_.chance(0.5);
      const auto outer = dims[where] % inner == Expr(0) ? dims[where] / inner : Expr(total / inner);
      dims[where] = outer_last ? Expr(inner) : outer;
      dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(where) + 1, outer_last ? outer : Expr(inner));
      return;
    }
    merge(dims);
  }

  /// Another shape of as many elements, one dim a new symbol where symbols are allowed: only a check can
  /// tell.
  void refactor(std::vector<Expr>& dims) {
    const auto count = elements();
    if (count == 0) return merge(dims);
    std::int64_t inner = random_.between(1, 6);
    while (count % inner != 0) --inner;
    Expr outer = count / inner;
    if (symbolic_) {
      const auto name = "q" + std::to_string(fresh_++);
      chain_.at[name] = count / inner;
      outer = Expr(name);
    }
    dims = {outer, Expr(inner)};
  }
};

}  // namespace

RandomChain random_chain(Random& random, bool symbolic) {
  return Chain(random, symbolic).make();
}

}  // namespace luminal::test

#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/egraph/bigint.h"
#include "luminal/egraph/interner.h"
#include "luminal/egraph/types.h"
#include "luminal/support/hash.h"

namespace luminal::egraph {

/// What a container holds, by kind: the elements of a vector or pair in order, of a set or multiset sorted,
/// of a map key, value, key, value … sorted by key.
using Elements = std::vector<Value>;

/// Sorts a map's elements by key; of equal keys the later entry stays.
Elements sorted_map(Elements elements);

namespace detail {
struct IntHash {
  std::size_t operator()(std::int64_t v) const { return Hash().add(static_cast<std::uint64_t>(v)).value(); }
};
struct RealHash {
  std::size_t operator()(double v) const {
    if (std::isnan(v)) return 1;
    return Hash().add(std::bit_cast<std::uint64_t>(v == 0.0 ? 0.0 : v)).value();
  }
};
struct RealEqual {
  bool operator()(double a, double b) const { return a == b || (std::isnan(a) && std::isnan(b)); }
};
struct TextHash {
  std::size_t operator()(const std::string& v) const { return Hash().add(std::string_view(v)).value(); }
};
struct ElementsHash {
  std::size_t operator()(const Elements& v) const {
    Hash hash(v.size());
    for (const Value element : v) hash.add(element);
    return hash.value();
  }
};
struct BigHash {
  std::size_t operator()(const BigInt& v) const { return v.hash(); }
  std::size_t operator()(const BigRat& v) const {
    return Hash(v.numerator.hash()).add(v.denominator.hash()).value();
  }
};
}  // namespace detail

/// Everything that is not an e-class, interned: one number for equal things. Numbers are never reused, so a
/// copy of an e-graph may share its atoms with the original.
class Atoms {
 public:
  Value boolean(bool v) const { return v ? 1 : 0; }
  /// Small natural numbers stand for themselves, so sets of them are in numeric order.
  Value integer(std::int64_t v) {
    if (v >= 0 && v < direct_limit) return static_cast<Value>(v);
    return integers_.intern(v) + static_cast<Value>(direct_limit);
  }
  std::int64_t integer_of(Value v) const {
    return v < direct_limit ? std::int64_t{v} : integers_[v - static_cast<Value>(direct_limit)];
  }
  /// All NaNs are one value, and so are the two zeros.
  Value real(double v) { return reals_.intern(v); }
  double real_of(Value v) const { return reals_[v]; }
  Value text(std::string v) { return texts_.intern(std::move(v)); }
  const std::string& text_of(Value v) const { return texts_[v]; }
  Value big(BigInt v) { return bigs_.intern(std::move(v)); }
  const BigInt& big_of(Value v) const { return bigs_[v]; }
  Value rational(BigRat v) { return rationals_.intern(std::move(v)); }
  const BigRat& rational_of(Value v) const { return rationals_[v]; }
  Value container(Elements v) { return containers_.intern(std::move(v)); }
  const Elements& elements_of(Value v) const { return containers_[v]; }

 private:
  static constexpr std::int64_t direct_limit = std::int64_t{1} << 31;
  Interner<std::int64_t, detail::IntHash, std::equal_to<>> integers_;
  Interner<double, detail::RealHash, detail::RealEqual> reals_;
  Interner<std::string, detail::TextHash, std::equal_to<>> texts_;
  Interner<BigInt, detail::BigHash, std::equal_to<>> bigs_;
  Interner<BigRat, detail::BigHash, std::equal_to<>> rationals_;
  Interner<Elements, detail::ElementsHash, std::equal_to<>> containers_;
};

}  // namespace luminal::egraph

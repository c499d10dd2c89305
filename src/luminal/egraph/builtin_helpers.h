#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "luminal/egraph/atoms.h"
#include "luminal/egraph/database.h"

/// Registers C++ functions over plain types as primitives. A function may return `std::optional` to have no
/// result.
namespace luminal::egraph::builtin {

/// Tells success without a value: a `bool` result of a *test* is a match or none, not a value.
struct Holds {
  bool value;
};

template <typename T>
struct Codec;
template <>
struct Codec<std::int64_t> {
  static constexpr const char* sort = "i64";
  static std::int64_t load(const Atoms& atoms, Value value) { return atoms.integer_of(value); }
  static Value store(Atoms& atoms, std::int64_t value) { return atoms.integer(value); }
};
template <>
struct Codec<double> {
  static constexpr const char* sort = "f64";
  static double load(const Atoms& atoms, Value value) { return atoms.real_of(value); }
  static Value store(Atoms& atoms, double value) { return atoms.real(value); }
};
template <>
struct Codec<bool> {
  static constexpr const char* sort = "bool";
  static bool load(const Atoms&, Value value) { return value != 0; }
  static Value store(Atoms& atoms, bool value) { return atoms.boolean(value); }
};
template <>
struct Codec<std::string> {
  static constexpr const char* sort = "String";
  static const std::string& load(const Atoms& atoms, Value value) { return atoms.text_of(value); }
  static Value store(Atoms& atoms, std::string value) { return atoms.text(std::move(value)); }
};
template <>
struct Codec<BigInt> {
  static constexpr const char* sort = "BigInt";
  static const BigInt& load(const Atoms& atoms, Value value) { return atoms.big_of(value); }
  static Value store(Atoms& atoms, BigInt value) { return atoms.big(std::move(value)); }
};
template <>
struct Codec<BigRat> {
  static constexpr const char* sort = "BigRat";
  static const BigRat& load(const Atoms& atoms, Value value) { return atoms.rational_of(value); }
  static Value store(Atoms& atoms, BigRat value) { return atoms.rational(std::move(value)); }
};
template <>
struct Codec<Holds> {
  static constexpr const char* sort = "Unit";
};

template <typename T>
struct Unwrapped {
  using type = T;
};
template <typename T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

template <typename R>
std::optional<Value> stored(Atoms& atoms, R result) {
  if constexpr (std::is_same_v<R, Holds>) {
    return result.value ? std::optional<Value>(0) : std::nullopt;
  } else if constexpr (std::is_same_v<R, typename Unwrapped<R>::type>) {
    return Codec<R>::store(atoms, std::move(result));
  } else {
    if (!result) return std::nullopt;
    return Codec<typename Unwrapped<R>::type>::store(atoms, std::move(*result));
  }
}

template <typename... Arguments, typename F, std::size_t... I>
void add_indexed(Database& database, const char* name, F function, std::index_sequence<I...>) {
  using Result = std::invoke_result_t<F, const Arguments&...>;
  Primitive primitive;
  primitive.name = name;
  primitive.inputs = {*database.find_sort(Codec<Arguments>::sort)...};
  primitive.output = *database.find_sort(Codec<typename Unwrapped<Result>::type>::sort);
  primitive.body = [function](Atoms& atoms, std::span<const Value> arguments) {
    return stored<Result>(atoms, function(Codec<Arguments>::load(atoms, arguments[I])...));
  };
  database.add_primitive(std::move(primitive));
}

/// `add<std::int64_t, std::int64_t>(database, "+", checked_add)`.
template <typename... Arguments, typename F>
void add(Database& database, const char* name, F function) {
  add_indexed<Arguments...>(database, name, function, std::index_sequence_for<Arguments...>{});
}

/// The four comparisons as tests.
template <typename T>
void add_comparisons(Database& database) {
  add<T, T>(database, "<", [](const T& a, const T& b) { return Holds{a < b}; });
  add<T, T>(database, ">", [](const T& a, const T& b) { return Holds{a > b}; });
  add<T, T>(database, "<=", [](const T& a, const T& b) { return Holds{a <= b}; });
  add<T, T>(database, ">=", [](const T& a, const T& b) { return Holds{a >= b}; });
}

/// Comparisons whose result is a bool.
template <typename T>
void add_boolean_comparisons(Database& database) {
  add<T, T>(database, "bool-=", [](const T& a, const T& b) { return a == b; });
  add<T, T>(database, "bool-<", [](const T& a, const T& b) { return a < b; });
  add<T, T>(database, "bool->", [](const T& a, const T& b) { return a > b; });
  add<T, T>(database, "bool-<=", [](const T& a, const T& b) { return a <= b; });
  add<T, T>(database, "bool->=", [](const T& a, const T& b) { return a >= b; });
}

template <typename T>
void add_extremes(Database& database) {
  add<T, T>(database, "min", [](const T& a, const T& b) { return b < a ? b : a; });
  add<T, T>(database, "max", [](const T& a, const T& b) { return a < b ? b : a; });
}

}  // namespace luminal::egraph::builtin

#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "luminal/frontend/graph.h"
#include "luminal/nn/init.h"

// A module is a struct with states, sub-modules, a call operator, and
//   void visit(nn::Visitor& v) { v.parameter("weight", weight); v.module("norm", norm); }
// Tuples, vectors and arrays of modules are modules that apply one after the other, and std::monostate is the
// identity.

namespace luminal::nn {

/// What dropout and batch normalisation do. It is fixed when the forward pass is built.
enum class Mode : std::uint8_t { train, eval };

/// Where a module makes its states: a graph, a path that names them, a seed and a dtype for their first
/// values. A graph alone is a scope: `nn::Linear fc(g, 784, 10)`; then modules of one kind are numbered:
/// "linear", "linear.2" …
class Scope {
 public:
  Scope(const Graph& graph, std::uint64_t seed = 0, DType dtype = DType::f32)
      : graph_(graph), seed_(seed), dtype_(dtype) {}
  /// The scope of a part: `scope / "layer1"`.
  Scope operator/(std::string_view name) const;
  /// The scope of a module of this kind: itself if it has a path, a fresh one otherwise.
  Scope of(std::string_view kind) const;

  /// The same, but states get no first values: for models whose weights are loaded. They read as zeros until
  /// set.
  Scope without_values() const;

  Graph& graph() { return graph_; }
  const std::string& path() const { return path_; }
  std::uint64_t seed() const { return seed_; }
  DType dtype() const { return dtype_; }
  /// A state at this path with first values by `init`, which depend on the seed and the path only.
  State state(std::string_view name, const std::vector<std::int64_t>& dims, const Initialiser& init,
              Location where) const;
  /// Beside a state that a module made already, by that state's name.
  State sibling(std::string_view of, std::string_view name, const std::vector<std::int64_t>& dims,
                const Initialiser& init, Location where) const;
  /// In another dtype than the scope's.
  State state(std::string_view name, const std::vector<std::int64_t>& dims, const Initialiser& init,
              DType dtype, Location where) const;

 private:
  mutable Graph graph_;
  std::string path_;
  std::uint64_t seed_;
  DType dtype_;
  bool has_values_ = true;
};

/// A parameter in the dtype of the values it meets: modules compute in their input's dtype, so casting the
/// input to bf16 or f16 gives mixed precision with the states as f32 master weights.
Tensor in_dtype_of(const Tensor& x, const Tensor& parameter, Location where);

/// Walks through a module. Paths are made of the names that `visit` gives, joined by '/'.
class Visitor {
 public:
  virtual ~Visitor() = default;

  /// A state that training changes.
  void parameter(std::string_view name, State& state) { on_state(path(name), state, true); }
  void parameter(std::string_view name, std::optional<State>& state) {
    if (state) parameter(name, *state);
  }
  /// A state that belongs to the model without being trained: running statistics.
  void buffer(std::string_view name, State& state) { on_state(path(name), state, false); }
  void mode(Mode& mode) { on_mode(mode); }

  template <typename M>
  void module(std::string_view name, M& part) {
    const std::string outer = path_;
    path_ = path(name);
    walk(part);
    path_ = outer;
  }

  /// Visits a module, or the modules in a container, which are named by their position.
  template <typename M>
  void walk(M& part) {
    static_assert(
        !std::is_const_v<M> || !requires(std::remove_const_t<M>& m, Visitor& v) { m.visit(v); },
        "a const module cannot be visited: make it a variable");
    if constexpr (requires { part.visit(*this); }) {
      part.visit(*this);
    } else if constexpr (requires { std::tuple_size<M>::value; } && !requires { part.begin(); }) {
      std::size_t index = 0;
      std::apply([&](auto&... each) { (module(std::to_string(index++), each), ...); }, part);
    } else if constexpr (requires {
                           part.begin();
                           part.size();
                         }) {
      std::size_t index = 0;
      for (auto& each : part) module(std::to_string(index++), each);
    } else if constexpr (requires {
                           part.has_value();
                           *part;
                         }) {
      if (part.has_value()) walk(*part);
    } else if constexpr (requires {
                           part.get();
                           *part;
                         }) {
      if (part) walk(*part);
    }
  }

 protected:
  virtual void on_state(const std::string& path, State& state, bool trained) = 0;
  virtual void on_mode(Mode&) {}

 private:
  std::string path(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
  }
  std::string path_;
};

namespace detail {
/// `Error` for a path that two states have.
void add_once(std::map<std::string, State>& states, const std::string& path, const State& state);

/// Calls a function for every state.
class StateVisitor : public Visitor {
 public:
  using OnState = std::function<void(const std::string&, State&, bool)>;
  explicit StateVisitor(OnState on_state) : on_state_(std::move(on_state)) {}

 private:
  void on_state(const std::string& path, State& state, bool trained) override {
    on_state_(path, state, trained);
  }
  OnState on_state_;
};

class ModeVisitor : public Visitor {
 public:
  explicit ModeVisitor(Mode mode) : mode_(mode) {}

 private:
  void on_state(const std::string&, State&, bool) override {}
  void on_mode(Mode& mode) override { mode = mode_; }
  Mode mode_;
};
}  // namespace detail

/// All trained states by path.
template <typename M>
std::map<std::string, State> param_dict(M& model) {
  std::map<std::string, State> result;
  detail::StateVisitor visitor([&](const std::string& path, State& state, bool trained) {
    if (trained) detail::add_once(result, path, state);
  });
  visitor.walk(model);
  return result;
}

/// All states by path, trained or not: what belongs into a file.
template <typename M>
std::map<std::string, State> state_dict(M& model) {
  std::map<std::string, State> result;
  detail::StateVisitor visitor(
      [&](const std::string& path, State& state, bool) { detail::add_once(result, path, state); });
  visitor.walk(model);
  return result;
}

/// The trained states in the order of their paths; one that several parts share counts once.
template <typename M>
std::vector<State> params(M& model) {
  std::vector<State> result;
  for (auto& [path, state] : param_dict(model)) {
    const auto same = [&](const State& other) { return other.node() == state.node(); };
    if (std::none_of(result.begin(), result.end(), same)) result.push_back(state);
  }
  return result;
}

/// Switches every part to this mode; graphs built before stay as they are.
template <typename M>
void set_mode(M& model, Mode mode) {
  detail::ModeVisitor visitor(mode);
  visitor.walk(model);
}

/// Calls a module, or one after the other those in a tuple, vector or array; the unit module gives its input.
template <typename M>
Tensor apply(const M& module, const Tensor& x, Location where = Location::current()) {
  if constexpr (std::is_same_v<M, std::monostate>) {
    return x;
  } else if constexpr (requires {
                         { module(x, where) } -> std::convertible_to<Tensor>;
                       }) {
    return module(x, where);
  } else if constexpr (requires {
                         { module(x) } -> std::convertible_to<Tensor>;
                       }) {
    return module(x);
  } else if constexpr (requires {
                         module.begin();
                         module.end();
                       }) {
    Tensor result = x;
    for (const auto& each : module) result = nn::apply(each, result, where);
    return result;
  } else {
    Tensor result = x;
    std::apply([&](const auto&... each) { ((result = nn::apply(each, result, where)), ...); }, module);
    return result;
  }
}

/// Modules one after the other, as a module.
template <typename... Modules>
struct Sequential {
  explicit Sequential(Modules... modules) : parts(std::move(modules)...) {}
  Tensor operator()(const Tensor& x, Location where = Location::current()) const {
    return nn::apply(parts, x, where);
  }
  void visit(Visitor& v) { v.walk(parts); }
  std::tuple<Modules...> parts;
};

}  // namespace luminal::nn

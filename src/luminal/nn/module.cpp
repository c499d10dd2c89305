#include "luminal/nn/module.h"

#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal::nn {

Scope Scope::operator/(std::string_view name) const {
  Scope inner = *this;
  inner.path_ = path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
  return inner;
}

Scope Scope::of(std::string_view kind) const {
  if (!path_.empty()) return *this;
  const auto taken = [&](const std::string& path) {
    for (const auto id : graph_.dag().nodes()) {
      const Node& node = graph_.dag().node(id);
      if (node.op == Op::state && node.name.starts_with(path + "/")) return true;
    }
    return false;
  };
  std::string path(kind);
  for (int number = 2; taken(path); ++number) path = cat(kind, ".", number);
  return *this / path;
}

Scope Scope::without_values() const {
  Scope result = *this;
  result.has_values_ = false;
  return result;
}

State Scope::state(std::string_view name, const std::vector<std::int64_t>& dims, const Initialiser& init,
                   Location where) const {
  return state(name, dims, init, dtype_, where);
}

State Scope::sibling(std::string_view of, std::string_view name, const std::vector<std::int64_t>& dims,
                     const Initialiser& init, Location where) const {
  Scope beside = *this;
  beside.path_ = of.substr(0, of.rfind('/'));
  return beside.state(name, dims, init, where);
}

State Scope::state(std::string_view name, const std::vector<std::int64_t>& dims, const Initialiser& init,
                   DType dtype, Location where) const {
  const std::string path = (*this / name).path_;
  std::vector<Expr> shape(dims.begin(), dims.end());
  if (!has_values_) return graph_.state(path, Shape(std::move(shape)), dtype, std::nullopt, where);
  const Array values = init(dims, dtype, Hash(seed_).add(path).value());
  return graph_.state(path, Shape(std::move(shape)), dtype, values, where);
}

Tensor in_dtype_of(const Tensor& x, const Tensor& parameter, Location where) {
  if (!is_floating(x.dtype()))
    throw Error(cat("module: the input is ", x.dtype(), ", expected floating-point elements; cast it first"),
                where);
  return parameter.cast(x.dtype(), where);
}

void detail::add_once(std::map<std::string, State>& states, const std::string& path, const State& state) {
  if (!states.emplace(path, state).second) throw Error(cat("module: two states have the path '", path, "'"));
}

}  // namespace luminal::nn

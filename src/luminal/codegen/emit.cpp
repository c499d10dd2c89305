#include "luminal/codegen/emit.h"

#include <algorithm>

#include "luminal/codegen/spell.h"
#include "luminal/codegen/strides.h"
#include "luminal/kernel/structure.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::ValueId;
namespace value = kernel::value;

Emitter::Emitter(const kernel::Kernel& kernel, const Dialect& dialect, Helpers& helpers)
    : kernel_(kernel), dialect_(dialect), helpers_(helpers) {
  for (const auto& dim : kernel.dims()) {
    const Interval bounds = dim.declared_bounds();
    renamed_.emplace(dim.name(),
                     Expr::variable(cat("dim_", dim.name()), bounds.low.value_or(0), bounds.high));
  }
  find_unsafe();
  scopes_.push_back(std::make_unique<Scope>());
  root_ = scope_ = scopes_.back().get();
}

void Emitter::find_unsafe() {
  const auto& values = kernel_.values();
  unsafe_.resize(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    bool unsafe = kernel::reads_outside(kernel_, ValueId(k));
    for (const auto operand : operands(kernel_, ValueId(k))) unsafe = unsafe || unsafe_[operand.index()];
    unsafe_[k] = unsafe;
  }
}

// ------------------------------------------------------------------------------------------------- blocks

void Emitter::line_in(Scope& scope, const std::string& text) {
  scope.text.append(static_cast<std::size_t>(scope.depth) * 2, ' ');
  scope.text += text;
  scope.text += '\n';
}

Scope& Emitter::open() {
  auto child = std::make_unique<Scope>();
  child->parent = scope_;
  child->depth = scope_->depth + 1;
  scope_ = child.get();
  scopes_.push_back(std::move(child));
  return *scope_;
}

void Emitter::close(const std::string& header) {
  Scope* child = scope_;
  scope_ = child->parent;
  line(header.empty() ? "{" : header + " {");
  scope_->text += child->text;
  line("}");
  child->text.clear();
}

void Emitter::open_loop(LoopId loop, int lanes) {
  Scope& scope = open();
  scope.binds.set(loop.index());
  if (lanes > 1) {
    scope.vector = loop;
    line(cat("const i64 i", loop.value(), "_0 = i", loop.value(), ";"));
  }
}

void Emitter::close_loop(LoopId loop, const std::string& begin, const std::string& end, int lanes) {
  const std::string name = cat("i", loop.value());
  if (lanes > 1) {
    close(cat("for (i64 ", name, " = ", begin, "; ", name, " + ", lanes, " <= ", end, "; ", name,
              " += ", lanes, ")"));
  } else {
    close(cat("for (i64 ", name, " = ", begin, "; ", name, " < ", end, "; ++", name, ")"));
  }
}

// ------------------------------------------------------------------------------------------------- scopes

Scope* Emitter::binder(std::size_t loop) const {
  for (Scope* scope = scope_; scope != nullptr; scope = scope->parent)
    if (scope->binds.test(loop)) return scope;
  return nullptr;
}

Scope* Emitter::home(const LoopSet& free, bool unsafe) const {
  Scope* scope = scope_;
  while (scope->parent != nullptr && (scope->binds & free).none() && !(unsafe && scope->guards))
    scope = scope->parent;
  return scope;
}

bool Emitter::is_lanes(const LoopSet& free) const {
  if (free.none()) return false;
  for (std::size_t loop = 0; loop < kernel_.loops().size(); ++loop) {
    if (!free.test(loop)) continue;
    const Scope* scope = binder(loop);
    if (scope != nullptr && scope->vector && scope->vector->index() == loop) return true;
  }
  return false;
}

bool Emitter::is_lanes(ValueId id) const {
  return is_lanes(kernel_.value(id).free);
}

LoopId Emitter::vector_loop() const {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent)
    if (scope->vector) return *scope->vector;
  return {};
}

bool Emitter::is_aligned() const {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent)
    if (scope->vector) return scope->aligned;
  return true;
}

std::string Emitter::mask() const {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    if (!scope->mask.empty()) return scope->mask;
    if (scope->vector) break;
  }
  return "";
}

const Array* Emitter::array_of(ValueId id) const {
  const LoopSet& free = kernel_.value(id).free;
  LoopSet rebound;
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    const auto found = scope->arrays.find(id);
    if (found != scope->arrays.end()) {
      const LoopSet fixed = free & ~kernel::set_of(found->second.axes);
      if ((fixed & rebound).none()) return &found->second;
    }
    rebound |= scope->binds;
  }
  return nullptr;
}

bool Emitter::available(ValueId id) const {
  const Scope* last = home(kernel_.value(id).free, is_unsafe(id));
  for (const Scope* scope = scope_;; scope = scope->parent) {
    if (scope->values.count(id) != 0) return true;
    if (scope == last) break;
  }
  return array_of(id) != nullptr;
}

// ------------------------------------------------------------------------------------------------- values

Operand Emitter::value(ValueId id) {
  const kernel::Value& v = kernel_.value(id);
  Scope* const place = home(v.free, is_unsafe(id));
  for (Scope* scope = scope_;; scope = scope->parent) {
    const auto found = scope->values.find(id);
    if (found != scope->values.end()) return found->second;
    if (scope == place) break;
  }
  Scope* const here = scope_;
  scope_ = place;
  const Array* array = array_of(id);
  const Operand result = array != nullptr ? read_array(id, *array) : compute(id);
  place->values.insert_or_assign(id, result);
  scope_ = here;
  return result;
}

std::string Emitter::splat(const Operand& operand, DType held) {
  if (operand.lanes || lanes_ == 1) return operand.text;
  helpers_.use("core", held, lanes_);
  return cat("splat_", helpers_.type(held, lanes_), "(", operand.text, ")");
}

std::string Emitter::value(ValueId id, bool lanes) {
  const Operand operand = value(id);
  return lanes ? splat(operand, register_dtype(kernel_.value(id).dtype)) : operand.text;
}

std::string Emitter::text(const Expr& expression) {
  for (const auto position : kernel::positions_of(expression)) value(position);
  const std::string spelled =
      renamed_.empty() ? expression.c_text() : expression.substitute(renamed_).c_text();
  for (const auto* helper : {"luminal_floor_div", "luminal_floor_mod", "luminal_ceil_div"})
    if (spelled.find(helper) != std::string::npos) helpers_.use(helper);
  return cat("(", spelled, ")");
}

Operand Emitter::declare(ValueId id, const std::string& text, bool lanes) {
  const DType held = register_dtype(kernel_.value(id).dtype);
  const std::string name = fresh(cat("v", id.value(), "_"));
  line(cat("const ", helpers_.type(held, width(lanes)), " ", name, " = ", text, ";"));
  return {name, lanes};
}

std::optional<Expr> Emitter::step(const Expr& offset, LoopId loop) const {
  return step_along(kernel_, offset, loop, is_aligned() ? lanes_ : 1);
}

void Emitter::each_lane(const std::vector<Expr>& expressions, const std::string& statement) {
  const LoopId loop = vector_loop();
  std::string bindings = cat("const i64 i", loop.value(), " = i", loop.value(), "_0 + l; ");
  std::vector<ValueId> done;
  for (const auto& expression : expressions) {
    for (const auto position : kernel::positions_of(expression)) {
      if (!is_lanes(position) || std::find(done.begin(), done.end(), position) != done.end()) continue;
      done.push_back(position);
      const std::string name = cat("i", kernel::position_base + position.index());
      bindings += cat("const i64 ", name, " = ", name, "_v[l]; ");
    }
  }
  line(cat("for (int l = 0; l < ", lanes_, "; ++l) { ", bindings, "(void)i", loop.value(), "; ", statement,
           " }"));
}

}  // namespace luminal::codegen

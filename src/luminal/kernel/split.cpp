#include "luminal/kernel/split.h"

#include <map>
#include <optional>

#include "luminal/support/cases.h"
#include "luminal/support/text.h"

namespace luminal::kernel {
namespace {

struct Split {
  LoopId loop;
  std::int64_t inner = 1;
};

/// The first loop that is divided by a constant which divides its extent.
std::optional<Split> find_in(const Kernel& kernel, const Expr& e) {
  if (e.is_constant() || e.kind() == Expr::Kind::variable) return std::nullopt;
  const auto operands = e.operands();
  if (e.kind() == Expr::Kind::div || e.kind() == Expr::Kind::mod) {
    const auto axis =
        operands[0].kind() == Expr::Kind::variable ? operands[0].coordinate_axis() : std::nullopt;
    const auto divisor = operands[1].constant_value();
    if (axis && *axis < kernel.loops().size() && divisor && *divisor > 1) {
      const auto extent = kernel.loops()[*axis].extent.constant_value();
      if (extent && *extent % *divisor == 0 && *extent > *divisor) return Split{LoopId(*axis), *divisor};
    }
  }
  for (const auto& operand : operands)
    if (auto found = find_in(kernel, operand)) return found;
  return std::nullopt;
}

std::optional<Split> find(const Kernel& kernel) {
  std::optional<Split> found;
  const auto look = [&](const Expr& e) {
    if (!found) found = find_in(kernel, e);
  };
  for (const auto& v : kernel.values()) {
    if (const auto* load = v.try_get<value::Load>())
      for (const auto& e : load->index) look(e);
    if (found) break;
  }
  return found;
}

/// The kernel with one loop in two.
class Rebuilder {
 public:
  Rebuilder(const Kernel& old, const Split& split) : old_(old), split_(split) {
    for (std::size_t k = 0; k < old.loops().size(); ++k) {
      const Expr& extent = old.loops()[k].extent;
      made_.add_loop(k == split.loop.index() ? extent / split.inner : extent);
    }
    inner_ = made_.add_loop(split.inner);
    replaced_.emplace(cat("i", split.loop.value()),
                      made_.variable(split.loop) * split.inner + made_.variable(inner_));
  }

  Kernel run() {
    for (const auto& input : old_.inputs()) made_.add_input(input);
    for (const auto& output : old_.outputs()) made_.add_output(output);
    for (std::size_t k = 0; k < old_.values().size(); ++k) {
      const Value& v = old_.values()[k];
      const ValueId id = made_.add(moved(v.kind), v.dtype);
      ids_.push_back(id);
      if (v.try_get<value::Position>() != nullptr)
        replaced_.insert_or_assign(cat("i", position_base + k), made_.variable(id));
    }
    for (const auto& store : old_.stores())
      made_.add_store(
          {store.output, moved(store.domain), moved(store.index), ids_[store.value.index()], store.mode});
    return std::move(made_);
  }

 private:
  Expr moved(const Expr& e) const { return e.is_constant() ? e : e.substitute(replaced_); }
  std::vector<Expr> moved(const std::vector<Expr>& all) const {
    std::vector<Expr> result;
    for (const auto& e : all) result.push_back(moved(e));
    return result;
  }
  std::vector<LoopId> moved(const std::vector<LoopId>& loops) const {
    std::vector<LoopId> result;
    for (const auto loop : loops) {
      result.push_back(loop);
      if (loop == split_.loop) result.push_back(inner_);
    }
    return result;
  }
  std::vector<ValueId> moved(const std::vector<ValueId>& values) const {
    std::vector<ValueId> result;
    for (const auto v : values) result.push_back(ids_[v.index()]);
    return result;
  }
  ValueKind moved(const ValueKind& kind) const {
    return std::visit(
        Cases{
            [&](const value::Load& v) -> ValueKind { return value::Load{v.input, moved(v.index)}; },
            [&](const value::Constant& v) -> ValueKind { return v; },
            [&](const value::Index& v) -> ValueKind { return value::Index{moved(v.value)}; },
            [&](const value::Map& v) -> ValueKind { return value::Map{v.op, moved(v.arguments)}; },
            [&](const value::Guard& v) -> ValueKind {
              value::Guard result{{}, ids_[v.argument.index()]};
              for (const auto& c : v.conditions) result.conditions.push_back({moved(c.valid), c.fill});
              return result;
            },
            [&](const value::Reduce& v) -> ValueKind {
              return value::Reduce{v.monoid, moved(v.loops), moved(v.arguments)};
            },
            [&](const value::Position& v) -> ValueKind {
              return value::Position{ids_[v.argument.index()], v.length};
            },
            [&](const value::Random& v) -> ValueKind {
              return value::Random{moved(v.position), ids_[v.key.index()], v.stream};
            },
            [&](const value::Scan& v) -> ValueKind {
              return value::Scan{v.monoid, v.loop, ids_[v.argument.index()]};
            },
        },
        kind);
  }

  const Kernel& old_;
  Split split_;
  Kernel made_;
  LoopId inner_;
  std::vector<ValueId> ids_;
  std::map<std::string, Expr, std::less<>> replaced_;
};

bool scans(const Kernel& kernel) {
  for (const auto& v : kernel.values())
    if (v.try_get<value::Scan>() != nullptr) return true;
  return false;
}

}  // namespace

Kernel split_loops(Kernel kernel) {
  if (scans(kernel)) return kernel;  // a scan goes along one loop
  for (int times = 0; times < 8 && kernel.loops().size() < max_loops - 1; ++times) {
    const auto split = find(kernel);
    if (!split) break;
    kernel = Rebuilder(kernel, *split).run();
  }
  return kernel;
}

}  // namespace luminal::kernel

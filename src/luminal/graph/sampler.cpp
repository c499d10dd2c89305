#include <unordered_map>

#include "luminal/graph/evaluate.h"
#include "luminal/graph/interpreter.h"
#include "luminal/op/philox.h"
#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal {

/// Pulls elements through the graph, recursively.
class Sampler::State {
 public:
  State(const Dag& dag, Environment environment, std::size_t memory)
      : dag_(dag), environment_(std::move(environment)), memory_(memory) {}

  Scalar value_at(const Value& value, std::span<const std::int64_t> coordinates) {
    const BoundView& view = bound(value);
    if (coordinates.size() != view.dims().size())
      throw Error(
          cat("value_at: ", coordinates.size(), " coordinates for a value of rank ", view.dims().size()));
    for (std::size_t i = 0; i < coordinates.size(); ++i)
      if (coordinates[i] < 0 || coordinates[i] >= view.dims()[i])
        throw Error(cat("value_at: coordinate ", coordinates[i], " is outside axis ", i, ", which has ",
                        view.dims()[i], " elements"));
    depth_ = 0;
    return pull(value, view, coordinates);
  }

 private:
  using Coordinates = std::span<const std::int64_t>;
  static constexpr int deepest = 3000;

  /// A node bound to the dims: what every element of it needs.
  struct Bound {
    std::vector<BoundView> inputs;
    std::vector<std::vector<std::int64_t>> dims;  // one an output
    std::optional<IndexProgram> iota;
    std::optional<std::vector<Array>> whole;  // sources, and ops that only make sense as a whole
  };

  const BoundView& bound(const Value& value) {
    for (const auto& [known, view] : values_)
      if (known == value) return *view;
    values_.emplace_back(value,
                         std::make_unique<BoundView>(value.view, environment_.dims, dag_.type(value).dtype));
    return *values_.back().second;
  }

  Bound& bound(NodeId id) {
    const auto found = nodes_.find(id);
    if (found != nodes_.end()) return *found->second;
    const Node& node = dag_.node(id);
    for (const auto& check : node.checks)
      if (check.holds.eval(environment_.dims) == 0) throw Error(check.problem, node.where);
    auto fresh = std::make_unique<Bound>();
    for (const auto& input : node.inputs)
      fresh->inputs.emplace_back(input.view, environment_.dims, dag_.type(input).dtype);
    for (const auto& output : node.outputs) fresh->dims.push_back(output.shape.eval(environment_.dims));
    if (const auto* iota = node.try_get<attribute::Iota>())
      fresh->iota.emplace(iota->value.substitute(environment_.dims));
    return *nodes_.emplace(id, std::move(fresh)).first->second;
  }

  Scalar pull(const Value& value, const BoundView& view, Coordinates at) {
    std::vector<std::int64_t> place;
    if (const auto fill = view.locate(at, place)) return *fill;
    return element_of(value.node, value.output, place);
  }

  Scalar input(const Node& node, const Bound& bound, std::size_t k, Coordinates at) {
    return pull(node.inputs[k], bound.inputs[k], at);
  }

  Scalar element_of(NodeId id, std::uint32_t output, Coordinates at) {
    Bound& here = bound(id);
    const Node& node = dag_.node(id);
    std::int64_t flat = 0;
    for (std::size_t i = 0; i < at.size(); ++i) flat = flat * here.dims[output][i] + at[i];
    if (here.whole) return (*here.whole)[output].at(flat);
    const bool remembered = kind(node.op) != OpKind::source && kind(node.op) != OpKind::convert;
    const Key key{id, output, flat};
    if (remembered) {
      const auto found = memo_.find(key);
      if (found != memo_.end()) return found->second;
    }
    if (++depth_ > deepest)
      throw Error("value_at: the graph is deeper than 3000 nodes; use execute", node.where);
    const Scalar result = compute(id, node, here, output, at, flat);
    --depth_;
    if (remembered) {
      if (memo_.size() >= memory_) memo_.clear();
      memo_.emplace(key, result);
    }
    return result;
  }

  Scalar compute(NodeId id, const Node& node, Bound& here, std::uint32_t output, Coordinates at,
                 std::int64_t flat) {
    switch (kind(node.op)) {
      case OpKind::source:
        if (node.op == Op::constant) return node.get<attribute::Constant>().value;
        if (node.op == Op::iota) return make_scalar(node.outputs[0].dtype, Number(here.iota->run(at)));
        if (node.op == Op::random) return random(node, here, flat);
        return whole(id, here, output, flat);
      case OpKind::reduce:
        return reduce(node, here, at);
      case OpKind::scan:
        return scan(node, here, at);
      case OpKind::gather:
        return gather(node, here, at);
      case OpKind::scatter:
      case OpKind::sort:
        return whole(id, here, output, flat);
      case OpKind::structure:
        if (node.op == Op::custom) return whole(id, here, output, flat);
        break;
      default:
        break;
    }
    std::vector<Scalar> inputs;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) inputs.push_back(input(node, here, k, at));
    return element(node.op, inputs, node.outputs[0].dtype);
  }

  Scalar random(const Node& node, const Bound& here, std::int64_t flat) {
    const std::uint64_t key = convert(input(node, here, 0, {}), DType::u64).bits;
    return {DType::u32, philox(key, node.get<attribute::Random>().stream, static_cast<std::uint64_t>(flat))};
  }

  Scalar reduce(const Node& node, const Bound& here, Coordinates at) {
    const auto& all = here.inputs[0].dims();
    const std::vector<std::int64_t> inner(all.begin() + static_cast<std::ptrdiff_t>(at.size()), all.end());
    const std::int64_t count = element_count(inner);
    const DType wide = compute_dtype(node.outputs[0].dtype);
    std::vector<std::int64_t> place(at.begin(), at.end());
    place.resize(all.size());
    Scalar running = neutral(node.op, wide);
    Odometer inside(inner);
    for (std::int64_t i = 0; i < count; ++i, inside.step()) {
      std::copy(inside.coordinates().begin(), inside.coordinates().end(),
                place.begin() + static_cast<std::ptrdiff_t>(at.size()));
      running = accumulate(node.op, running, convert(input(node, here, 0, place), wide));
    }
    return convert(running, node.outputs[0].dtype);
  }

  Scalar scan(const Node& node, const Bound& here, Coordinates at) {
    const DType wide = compute_dtype(node.outputs[0].dtype);
    std::vector<std::int64_t> place(at.begin(), at.end());
    Scalar running = neutral(node.op, wide);
    for (std::int64_t i = 0; i <= at.back(); ++i) {
      place.back() = i;
      running = accumulate(node.op, running, convert(input(node, here, 0, place), wide));
    }
    return convert(running, node.outputs[0].dtype);
  }

  Scalar gather(const Node& node, const Bound& here, Coordinates at) {
    const std::uint32_t axis = node.get<attribute::Axis>().axis;
    std::vector<std::int64_t> place(at.begin(), at.end());
    place[axis] = checked_index(node, input(node, here, 1, at), here.inputs[0].dims()[axis]);
    return input(node, here, 0, place);
  }

  Scalar whole(NodeId id, Bound& here, std::uint32_t output, std::int64_t flat) {
    std::vector<OutputId> wanted;
    for (std::uint32_t k = 0; k < here.dims.size(); ++k) wanted.emplace_back(id, k);
    auto arrays = interpret(dag_, environment_, wanted, false);
    here.whole.emplace();
    for (const auto& place : wanted) here.whole->push_back(arrays.at(place));
    return (*here.whole)[output].at(flat);
  }

  struct Key {
    NodeId node;
    std::uint32_t output;
    std::int64_t flat;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return Hash(key.node.value()).add(key.output).add(static_cast<std::uint64_t>(key.flat)).value();
    }
  };

  const Dag& dag_;
  Environment environment_;
  std::size_t memory_;
  int depth_ = 0;
  std::unordered_map<NodeId, std::unique_ptr<Bound>> nodes_;
  std::vector<std::pair<Value, std::unique_ptr<BoundView>>> values_;
  std::unordered_map<Key, Scalar, KeyHash> memo_;
};

Sampler::Sampler(const Dag& dag, Environment environment, std::size_t memory)
    : state_(std::make_unique<State>(dag, std::move(environment), memory)) {}
Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;

Scalar Sampler::value_at(const Value& value, std::span<const std::int64_t> coordinates) {
  return state_->value_at(value, coordinates);
}

}  // namespace luminal

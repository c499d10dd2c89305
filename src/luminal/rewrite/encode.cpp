#include "luminal/rewrite/encode.h"

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::rewriting {

bool is_boundary(Op op) {
  switch (kind(op)) {
    case OpKind::sort:
      return true;
    case OpKind::source:
      return op == Op::input || op == Op::state;
    case OpKind::structure:
      return op != Op::contiguous && op != Op::stop_gradient;
    default:
      return false;
  }
}

namespace {

using ClassId = egraph::Value;

class Encoder {
 public:
  Encoder(const Dag& dag, const Region& region, Language& language)
      : dag_(dag), language_(language), graph_(language.graph()), atoms_(language.atoms()) {
    for (std::size_t k = 0; k < region.sources.size(); ++k) add_source(region.sources[k], k);
  }

  ClassId read(const Value& value) {
    const ClassId whole = class_of({value.node, value.output});
    if (value.view.is_identity()) return whole;
    const ClassId viewed = graph_.add(language_.view, {atoms_.maps.intern(value.view.map()), whole});
    reads_.push_back({whole, viewed, false});
    return viewed;
  }
  std::vector<Read> take_reads() { return std::move(reads_); }

 private:
  void add_source(const Source& source, std::size_t number) {
    const TensorType& type = dag_.type(source.place.first, source.place.second);
    const ClassId leaf = graph_.add(language_.leaf, {graph_.integer(static_cast<std::int64_t>(number)),
                                                     shape(type.shape), dtype(type.dtype)});
    graph_.add(*graph_.database().find_function(source.is_static && type.shape.constant_dims() ? "static"
                                                                                               : "dynamic"),
               {leaf});
    classes_.emplace(source.place, leaf);
  }

  egraph::Value shape(const Shape& shape) { return atoms_.shapes.intern(shape); }
  static egraph::Value dtype(DType dtype) { return static_cast<egraph::Value>(dtype); }
  egraph::Value number(std::uint64_t n) { return graph_.integer(static_cast<std::int64_t>(n)); }

  /// Without recursion: graphs are deeper than stacks.
  ClassId class_of(const OutputId& wanted) {
    std::vector<OutputId> stack = {wanted};
    while (!stack.empty()) {
      const OutputId place = stack.back();
      if (classes_.contains(place)) {
        stack.pop_back();
        continue;
      }
      const Node& node = dag_.node(place.first);
      if (is_boundary(node.op))
        throw InternalError(cat("encode: ", node.op, " is not among the region's sources"));
      bool ready = true;
      for (const auto& input : node.inputs) {
        if (classes_.contains({input.node, input.output})) continue;
        stack.push_back({input.node, input.output});
        ready = false;
      }
      if (!ready) continue;
      stack.pop_back();
      classes_.emplace(place, encoded(node));
    }
    return classes_.at(wanted);
  }

  ClassId encoded(const Node& node) {
    const TensorType& type = node.outputs[0];
    std::vector<egraph::Value> arguments;
    switch (node.op) {
      case Op::constant:
        return graph_.add(language_.constant,
                          {atoms_.scalars.intern(node.get<attribute::Constant>().value), shape(type.shape)});
      case Op::iota:
        return graph_.add(language_.iota, {atoms_.expressions.intern(node.get<attribute::Iota>().value),
                                           shape(type.shape), dtype(type.dtype)});
      case Op::random:
        return graph_.add(language_.random, {number(node.get<attribute::Random>().stream), shape(type.shape),
                                             read(node.inputs[0])});
      case Op::contiguous:
      case Op::stop_gradient:
        return read(node.inputs[0]);
      case Op::scatter_add:
        if (compute_dtype(type.dtype) != type.dtype) return wide_scatter(node);
        break;
      default:
        break;
    }
    if (const auto* reduce = node.try_get<attribute::Reduce>()) arguments.push_back(number(reduce->axes));
    if (const auto* axis = node.try_get<attribute::Axis>()) arguments.push_back(number(axis->axis));
    if (kind(node.op) == OpKind::convert) arguments.push_back(dtype(type.dtype));
    const std::size_t first = arguments.size();
    for (const auto& input : node.inputs) arguments.push_back(read(input));
    const ClassId made = graph_.add(language_.constructor(node.op), arguments);
    const OpKind k = kind(node.op);
    const bool in_place =
        k == OpKind::unary || k == OpKind::binary || k == OpKind::select || k == OpKind::convert;
    for (std::size_t i = first; i < arguments.size(); ++i) reads_.push_back({arguments[i], made, in_place});
    return made;
  }

  /// Sums are taken in the wide dtype and rounded once.
  ClassId wide_scatter(const Node& node) {
    const DType narrow = node.outputs[0].dtype;
    const DType wide = compute_dtype(narrow);
    const auto cast = [&](DType to, ClassId x) {
      return graph_.add(language_.constructor(Op::cast), {dtype(to), x});
    };
    const ClassId sum =
        graph_.add(language_.constructor(Op::scatter_add),
                   {number(node.get<attribute::Axis>().axis), cast(wide, read(node.inputs[0])),
                    read(node.inputs[1]), cast(wide, read(node.inputs[2]))});
    return cast(narrow, sum);
  }

  const Dag& dag_;
  Language& language_;
  egraph::EGraph& graph_;
  Atoms& atoms_;
  std::map<OutputId, ClassId> classes_;
  std::vector<Read> reads_;
};

}  // namespace

Encoded encode(const Dag& dag, const Region& region, Language& language) {
  Encoder encoder(dag, region, language);
  Encoded result;
  for (const auto& value : region.wanted) result.wanted.push_back(encoder.read(value));
  result.reads = encoder.take_reads();
  language.graph().rebuild();
  return result;
}

}  // namespace luminal::rewriting

#include "luminal/compile/region.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "luminal/compile/layouts.h"
#include "luminal/graph/text.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using rewriting::ClassId;

class Clock {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void add_classes(const rewriting::BodyRef& body, std::set<egraph::Value>& ids,
                 const rewriting::Terms& terms) {
  ids.insert(terms[body->owner].id);
  for (const auto& child : body->children) add_classes(child, ids, terms);
}

/// Lines, each once, with how often it was there.
std::string counted(const std::vector<std::string>& lines) {
  std::map<std::string, std::size_t> counts;
  for (const auto& line : lines) ++counts[line];
  std::string text;
  for (const auto& [line, count] : counts) text += cat(line, " (", count, ")\n");
  return text;
}

/// The rules that joined terms in classes which the kernels compute, in the order in which they did.
std::string derivation_of(rewriting::Language& language, const rewriting::Terms& terms,
                          const search::Mapping& mapping) {
  std::set<egraph::Value> used;
  for (const auto& body : mapping.bodies) add_classes(body, used, terms);
  std::map<egraph::Value, std::size_t> numbers;
  for (std::size_t k = 0; k < terms.classes.size(); ++k) numbers.emplace(terms.classes[k].id, k);
  std::string text;
  auto& database = language.graph().database();
  for (const auto& reason : database.reasons()) {
    if (reason.rule.none() || !used.contains(database.find(reason.left))) continue;
    const std::string& rule = language.graph().engine().rule(reason.rule).name;
    if (rule.starts_with("facts/") || rule.find("commutes") != std::string::npos) continue;
    const auto number = numbers.find(database.find(reason.left));
    text += cat(rule, number == numbers.end() ? "" : cat(": c", number->second), "\n");
  }
  return text;
}

}  // namespace

void report(std::vector<StageReport>& reports, const std::string& name, double seconds,
            const std::string& detail) {
  for (auto& existing : reports) {
    if (existing.name != name) continue;
    existing.seconds += seconds;
    if (!detail.empty()) existing.detail += cat(existing.detail.empty() ? "" : "; ", detail);
    return;
  }
  reports.push_back({name, seconds, detail});
}

std::string region_key(const Dag& dag, const rewriting::Region& region) {
  std::map<OutputId, std::string> names;
  std::string text;
  for (std::size_t k = 0; k < region.sources.size(); ++k) {
    const auto& source = region.sources[k];
    names[source.place] = cat("s", k);
    text += cat("s", k, source.is_static ? " static " : " ",
                dag.type(source.place.first, source.place.second), "\n");
  }
  std::size_t next = 0;
  std::vector<std::pair<NodeId, std::size_t>> stack;
  const auto visit = [&](const Value& value) {
    if (!names.contains({value.node, value.output})) stack.emplace_back(value.node, 0);
  };
  for (const auto& wanted : region.wanted) {
    visit(wanted);
    while (!stack.empty()) {
      auto& [id, at] = stack.back();
      const Node& node = dag.node(id);
      if (at < node.inputs.size()) {
        visit(node.inputs[at++]);
        continue;
      }
      const NodeId done = id;
      stack.pop_back();
      if (names.contains({done, 0})) continue;
      std::string line = cat("n", next, " ", node.op, " ", node.outputs[0], " ", attribute_text(node));
      for (const auto& input : node.inputs)
        line += cat(" ", names.at({input.node, input.output}), " ", input.view.map().text());
      for (std::uint32_t k = 0; k < node.outputs.size(); ++k) names[{done, k}] = cat("n", next, ".", k);
      ++next;
      text += line + "\n";
    }
    text += cat("want ", names.at({wanted.node, wanted.output}), " ", wanted.view.map().text(), "\n");
  }
  return text;
}

SaturatedRegion::SaturatedRegion(const Dag& dag, const rewriting::Region& region,
                                 const CompileOptions& options, std::vector<StageReport>& reports)
    : language_({options.exact, options.rules}) {
  Clock clock;
  if (options.inspect) language_.graph().database().track_reasons();
  const auto encoded = rewriting::encode(dag, region, language_);
  report(reports, "encode", clock.lap());
  // No limit by the clock: the same graph must give the same kernels.
  saturated_ = language_.saturate({.rows = 200'000, .matches = 3'000'000});
  terms_ = rewriting::collect(language_, encoded);
  for (const auto& c : terms_.classes) term_count_ += c.terms.size();
  report(
      reports, "saturate", clock.lap(),
      cat(terms_.classes.size(), " classes, ", term_count_, " terms", saturated_ ? "" : ", budget used up"));
  if (!options.inspect) return;
  options.inspect("egraph", rewriting::print(terms_));
  options.inspect("statistics", language_.graph().program().statistics());
}

namespace {

void add_leaves(const rewriting::BodyRef& body, std::set<ClassId>& leaves) {
  if (body->term == nullptr) leaves.insert(body->owner);
  for (const auto& child : body->children) add_leaves(child, leaves);
}

/// The bodies one by one, in an order in which each reads only what is there.
BodyGroups apart(const std::vector<rewriting::BodyRef>& bodies) {
  BodyGroups result;
  std::vector<rewriting::BodyRef> left = bodies;
  while (!left.empty()) {
    const auto ready = std::find_if(left.begin(), left.end(), [&](const rewriting::BodyRef& body) {
      std::set<ClassId> leaves;
      add_leaves(body, leaves);
      return std::none_of(left.begin(), left.end(),
                          [&](const auto& other) { return other != body && leaves.contains(other->owner); });
    });
    if (ready == left.end()) return {bodies};
    result.push_back({*ready});
    left.erase(ready);
  }
  return result;
}

/// Bodies that read what others compute anyway, where a body computes it again.
class Readers {
 public:
  explicit Readers(const std::vector<rewriting::BodyRef>& bodies) {
    for (const auto& body : bodies) there_.insert(body->owner);
  }
  /// Null if there is no such thing in it.
  rewriting::BodyRef of(const rewriting::BodyRef& body) {
    const auto other = rebuilt(body);
    return other == body ? nullptr : other;
  }

 private:
  rewriting::BodyRef read(const rewriting::BodyRef& body) {
    if (body->term == nullptr) return body;
    if (there_.contains(body->owner))
      return std::make_shared<rewriting::Body>(rewriting::Body{body->owner, nullptr, {}});
    auto& known = read_[body.get()];
    if (known == nullptr) known = rebuilt(body);
    return known;
  }
  rewriting::BodyRef rebuilt(const rewriting::BodyRef& body) {
    auto other = std::make_shared<rewriting::Body>(*body);
    for (auto& child : other->children) child = read(child);
    return other->children == body->children ? body : other;
  }

  std::set<ClassId> there_;
  std::map<const rewriting::Body*, rewriting::BodyRef> read_;  // parts are shared, and stay so
};

}  // namespace

/// Kernels of several outputs, or one for each, as the oracle says.
BodyGroups SaturatedRegion::weighed(const BodyGroups& groups, search::CostOracle& oracle, const DimMap& dims,
                                    CompiledRegion& result) {
  constexpr double clearly = 0.98;
  const auto seconds_of = [&](const kernel::Kernel& kernel) {
    const auto estimate = oracle.estimate(kernel, dims);
    return estimate ? estimate->seconds : 1e9;
  };
  BodyGroups chosen;
  for (const auto& bodies : groups) {
    const BodyGroups single = bodies.size() > 1 ? apart(bodies) : BodyGroups{bodies};
    if (single.size() < 2) {
      chosen.push_back(bodies);
      continue;
    }
    const auto whole = rewriting::lower(terms_, bodies);
    search::Together together{.kernel = kernel::hash(whole.kernel)};
    std::vector<std::string> parts;
    double seconds = 0;
    for (const auto& one : single) {
      const auto lowered = rewriting::lower(terms_, one);
      together.parts.push_back({kernel::hash(lowered.kernel), search::on_classes(lowered)});
      parts.push_back(kernel::key(lowered.kernel));
      seconds += seconds_of(lowered.kernel);
      result.others.push_back({lowered.kernel});
    }
    if (seconds < clearly * seconds_of(whole.kernel))
      chosen.insert(chosen.end(), single.begin(), single.end());
    else
      chosen.push_back(bodies);
    weighed_.insert(std::move(together));
    result.together.emplace(kernel::key(whole.kernel), std::move(parts));
    result.others.push_back({whole.kernel});
  }
  return chosen;
}

CompiledRegion SaturatedRegion::map(const CompileOptions& options, search::CostOracle& oracle,
                                    const DimMap& dims, const DimMap& largest,
                                    std::vector<StageReport>& reports, bool weigh_others,
                                    const CompiledRegion* from) {
  Clock clock;
  const auto& terms = terms_;
  CompiledRegion result;
  result.saturated = saturated_;
  result.classes = terms.classes.size();
  result.terms = term_count_;
  search::MapOptions map_options;
  map_options.memory_budget = static_cast<double>(options.memory_budget);
  map_options.largest_dims = largest;
  map_options.lowered = &lowered_;
  if (from != nullptr) map_options.from = from->bodies;
  map_options.together = {weighed_.begin(), weighed_.end()};
  map_options.measured = weigh_others;
  std::vector<std::string> rejected;
  const auto mapping = options.random_seed != 0 ? search::random_mapping(terms, options.random_seed)
                                                : search::map(terms, oracle, dims, map_options,
                                                              options.inspect ? &rejected : nullptr);
  result.evaluated = mapping.evaluated;
  result.bodies = mapping.bodies;
  report(reports, "map", clock.lap(),
         cat(mapping.evaluated, " bodies priced, ", mapping.bodies.size(), " taken"));
  if (options.inspect) {
    result.rejected = counted(rejected);
    result.derivation = derivation_of(language_, terms, mapping);
  }
  auto groups = search::group(terms, mapping);
  if (weigh_others) {
    Readers readers(mapping.bodies);
    for (const auto& body : mapping.bodies)
      if (const auto other = readers.of(body))
        result.others.push_back({rewriting::lower(terms, {other}).kernel});
    groups = weighed(groups, oracle, dims, result);
  }
  report(reports, "group", clock.lap());

  std::map<ClassId, CompiledRegion::Source> where;
  for (std::size_t k = 0; k < terms.classes.size(); ++k)
    if (terms.classes[k].is_source()) where[ClassId(k)] = {terms.classes[k].terms[0].number, std::nullopt, 0};
  const auto find = [&](ClassId id) {
    const auto found = where.find(id);
    if (found == where.end())
      throw InternalError(cat("region: class ", id.value(), " is read before it is computed"));
    return found->second;
  };
  for (const auto& bodies : groups) {
    CompiledRegion::RegionKernel made;
    made.lowered = rewriting::lower(terms, bodies);
    if (options.verify) kernel::verify(made.lowered.kernel);
    for (const auto input : made.lowered.inputs) made.inputs.push_back(find(input));
    for (const auto& base : made.lowered.bases)
      made.bases.push_back(base ? std::optional(find(*base)) : std::nullopt);
    made.is_static = true;
    for (std::size_t k = 0; k < made.lowered.outputs.size(); ++k) {
      made.is_static = made.is_static && terms[made.lowered.outputs[k]].is_static;
      where[made.lowered.outputs[k]] = {std::nullopt, result.kernels.size(), k};
    }
    if (const auto estimate = oracle.estimate(made.lowered.kernel, dims)) {
      made.family = std::string(search::name(estimate->family));
      made.seconds = estimate->seconds;
    }
    result.kernels.push_back(std::move(made));
  }
  for (const auto root : terms.roots) result.wanted.push_back(find(root));
  if (weigh_others) {
    std::set<std::size_t> weights;
    for (const auto& c : terms.classes)
      if (c.is_source() && c.is_static) weights.insert(c.terms[0].number);
    choose_layouts(result, weights, oracle, dims);
  }
  report(reports, "kernels", clock.lap(), cat(result.kernels.size(), " kernels"));
  return result;
}

}  // namespace luminal

#include <algorithm>

#include "luminal/egraph/builtin.h"
#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {

using Arguments = std::span<const Value>;
using Result = std::optional<Value>;

/// A function value, ready to be called.
class Callable {
 public:
  Callable(Database& database, Access access, Value function)
      : database_(database), access_(access), elements_(database.atoms().elements_of(function)) {}

  Result operator()(std::initializer_list<Value> arguments) const {
    return call({arguments.begin(), arguments.size()});
  }
  Result call(Arguments arguments) const {
    std::vector<Value> all(elements_.begin() + 1, elements_.end());
    all.insert(all.end(), arguments.begin(), arguments.end());
    return database_.call(elements_[0], access_, all);
  }
  /// The function that is called; none if it is a primitive.
  std::optional<FunctionId> function() const {
    if (elements_[0] % 2 != 0) return std::nullopt;
    return FunctionId(elements_[0] / 2);
  }
  std::vector<Value> row(std::initializer_list<Value> arguments) const {
    std::vector<Value> all(elements_.begin() + 1, elements_.end());
    all.insert(all.end(), arguments);
    return all;
  }

 private:
  Database& database_;
  Access access_;
  Elements elements_;
};

// Every pair or triple of sorts has its own: a program could declare more of them than memory holds.
void check_count(const Database& database, const char* name) {
  constexpr std::size_t most = 4096;
  if (database.overloads(name).size() < most) return;
  throw ProgramError(cat("more than ", most, " combinations of sorts for ", name, " are refused"), Span{});
}

void add(Database& database, const char* name, std::vector<SortId> inputs, SortId output, CallBody body) {
  check_count(database, name);
  Primitive primitive;
  primitive.name = name;
  primitive.inputs = std::move(inputs);
  primitive.output = output;
  primitive.call = std::move(body);
  database.add_primitive(std::move(primitive));
}

Value stored_multiset(Database& database, Elements elements) {
  std::sort(elements.begin(), elements.end());
  return database.atoms().container(std::move(elements));
}

/// Calls `visit(element, count)` for each different element of a multiset.
template <typename F>
void each_element(const Elements& elements, F visit) {
  for (auto run = elements.begin(); run != elements.end();) {
    const auto end = std::upper_bound(run, elements.end(), *run);
    if (!visit(*run, static_cast<std::size_t>(end - run))) return;
    run = end;
  }
}

// Elements for which the function has no result are left out.
Result map_elements(Database& database, Access access, Arguments a, bool sorts) {
  const Callable function(database, access, a[0]);
  const Elements elements = database.atoms().elements_of(a[1]);
  Elements mapped;
  for (const Value element : elements) {
    if (const Result result = function({element})) mapped.push_back(*result);
  }
  return sorts ? stored_multiset(database, std::move(mapped)) : database.atoms().container(std::move(mapped));
}

// An element for which the function has no result stays.
Result flat_map(Database& database, Access access, Arguments a) {
  const Callable function(database, access, a[0]);
  const Elements elements = database.atoms().elements_of(a[1]);
  Elements all;
  for (const Value element : elements) {
    const Result result = function({element});
    if (!result) {
      all.push_back(element);
      continue;
    }
    const Elements& part = database.atoms().elements_of(*result);
    all.insert(all.end(), part.begin(), part.end());
  }
  return stored_multiset(database, std::move(all));
}

CallBody filter(bool keeps) {
  return [keeps](Database& database, Access access, Arguments a) -> Result {
    const Callable function(database, access, a[0]);
    const Elements elements = database.atoms().elements_of(a[1]);
    Elements kept;
    for (const Value element : elements) {
      if (function({element}).has_value() == keeps) kept.push_back(element);
    }
    return database.atoms().container(std::move(kept));
  };
}

// The first value is that of an empty multiset only.
Result reduce(Database& database, Access access, Arguments a) {
  const Callable function(database, access, a[0]);
  const Elements elements = database.atoms().elements_of(a[2]);
  if (elements.empty()) return a[1];
  Result total = elements.front();
  for (std::size_t i = 1; total && i < elements.size(); ++i) total = function({*total, elements[i]});
  return total;
}

FunctionId indexed(const Callable& function, const char* primitive) {
  const auto id = function.function();
  if (!id) throw ProgramError(std::string(primitive) + " takes a declared function", Span{}, Fault::failed);
  return *id;
}

// Rows (multiset, element) -> count. Of a multiset that has rows already, nothing is written again.
Result fill_index(Database& database, Arguments a) {
  const Callable function(database, Access::full, a[1]);
  const FunctionId id = indexed(function, "unstable-multiset-fill-index");
  const Elements elements = database.atoms().elements_of(a[0]);
  each_element(elements, [&](Value element, std::size_t count) {
    const std::vector<Value> row = function.row({a[0], element});
    if (database.function(id).table.find(row.data()) != no_row) return false;
    database.stage_set(id, row.data(), database.atoms().integer(static_cast<std::int64_t>(count)));
    return true;
  });
  return 0;
}

Result clear_index(Database& database, Arguments a) {
  const Callable function(database, Access::full, a[1]);
  const FunctionId id = indexed(function, "unstable-multiset-clear-index");
  const Elements elements = database.atoms().elements_of(a[0]);
  each_element(elements, [&](Value element, std::size_t) {
    database.stage_removal(id, function.row({a[0], element}).data());
    return true;
  });
  return 0;
}

void add_index(Database& database, const char* name, std::vector<SortId> inputs, SortId unit,
               Result (*body)(Database&, Arguments)) {
  check_count(database, name);
  Primitive primitive;
  primitive.name = name;
  primitive.inputs = std::move(inputs);
  primitive.output = unit;
  primitive.action = body;
  database.add_primitive(std::move(primitive));
}

void add_vec_map(Database& database, SortId function, SortId from, SortId to) {
  add(database, "unstable-vec-map", {function, from}, to,
      [](Database& data, Access access, Arguments a) { return map_elements(data, access, a, false); });
}

void add_multiset_map(Database& database, SortId function, SortId from, SortId to) {
  add(database, "unstable-multiset-map", {function, from}, to,
      [](Database& data, Access access, Arguments a) { return map_elements(data, access, a, true); });
}

/// What one function sort and one multiset sort have in common.
void add_multiset_primitives(Database& database, SortId function, SortId multiset) {
  const std::vector<SortId> types = database.sort(function).elements;
  const SortId element = database.sort(multiset).elements[0];
  const SortId unit = *database.find_sort("Unit");
  const auto is = [&](const std::vector<SortId>& wanted) { return types == wanted; };
  if (is({element, unit})) {
    add(database, "unstable-multiset-filter", {function, multiset}, multiset, filter(true));
    add(database, "unstable-multiset-filter-not", {function, multiset}, multiset, filter(false));
  }
  if (is({element, element, element})) {
    add(database, "unstable-multiset-reduce", {function, element, multiset}, element, reduce);
  }
  if (is({element, multiset})) {
    add(database, "unstable-multiset-flat-map", {function, multiset}, multiset, flat_map);
  }
  if (is({multiset, element, *database.find_sort("i64")})) {
    add_index(database, "unstable-multiset-fill-index", {multiset, function}, unit, fill_index);
    add_index(database, "unstable-multiset-clear-index", {multiset, function}, unit, clear_index);
  }
}

/// The sorts of a kind; those of the given element only, if there is one.
std::vector<SortId> sorts_of(const Database& database, SortKind kind, SortId element = SortId()) {
  std::vector<SortId> result;
  for (std::size_t i = 0; i < database.sort_count(); ++i) {
    const Sort& sort = database.sort(SortId(i));
    if (sort.kind == kind && (element.none() || sort.elements[0] == element)) result.emplace_back(i);
  }
  return result;
}

void add_map(Database& database, SortKind kind, SortId function, SortId from, SortId to) {
  (kind == SortKind::vec ? add_vec_map : add_multiset_map)(database, function, from, to);
}

/// The maps of a function sort over one kind of container; if one is given, those from or to it.
void add_maps(Database& database, SortKind kind, SortId function, SortId container) {
  const std::vector<SortId> types = database.sort(function).elements;
  if (types.size() != 2) return;
  for (const SortId from : sorts_of(database, kind, types[0])) {
    if (container.none() || from == container) {
      for (const SortId to : sorts_of(database, kind, types[1])) add_map(database, kind, function, from, to);
    } else if (database.sort(container).elements[0] == types[1]) {
      add_map(database, kind, function, from, container);
    }
  }
}

}  // namespace

void add_function_primitives(Database& database, SortId sort) {
  Primitive value;
  value.name = "unstable-fn";
  value.output = sort;
  value.names_function = true;
  value.body = [](Atoms& atoms, Arguments a) -> Result { return atoms.container({a.begin(), a.end()}); };
  database.add_primitive(std::move(value));
  std::vector<SortId> inputs = {sort};
  const std::vector<SortId>& types = database.sort(sort).elements;
  inputs.insert(inputs.end(), types.begin(), types.end() - 1);
  add(database, "unstable-app", std::move(inputs), types.back(),
      [](Database& data, Access access, Arguments a) {
        return Callable(data, access, a[0]).call(a.subspan(1));
      });
}

void add_mapping_primitives(Database& database, SortId sort) {
  const SortKind kind = database.sort(sort).kind;
  if (kind == SortKind::function) {
    for (const SortKind container : {SortKind::vec, SortKind::multiset}) {
      add_maps(database, container, sort, SortId());
    }
    for (const SortId multiset : sorts_of(database, SortKind::multiset)) {
      add_multiset_primitives(database, sort, multiset);
    }
    return;
  }
  if (kind != SortKind::vec && kind != SortKind::multiset) return;
  for (const SortId function : sorts_of(database, SortKind::function)) {
    add_maps(database, kind, function, sort);
    if (kind == SortKind::multiset) add_multiset_primitives(database, function, sort);
  }
}

}  // namespace luminal::egraph

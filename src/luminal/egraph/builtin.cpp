#include "luminal/egraph/builtin.h"

#include <algorithm>

#include "luminal/support/text.h"

namespace luminal::egraph {

void add_base_sorts(Database& database) {
  const auto add = [&](const char* name, SortKind kind) {
    Sort sort;
    sort.name = name;
    sort.kind = kind;
    sort.unionable = false;
    sort.holds_classes = false;
    database.add_sort(std::move(sort));
  };
  add("Unit", SortKind::unit);
  add("bool", SortKind::boolean);
  add("i64", SortKind::integer);
  add("f64", SortKind::real);
  add("String", SortKind::text);
  add("BigInt", SortKind::big);
  add("BigRat", SortKind::rational);
  add_generic_primitives(database);
  add_text_primitives(database);
  add_boolean_primitives(database);
  add_integer_primitives(database);
  add_real_primitives(database);
  add_big_primitives(database);
  add_rational_primitives(database);
}

bool is_container_primitive(std::string_view name) {
  static const Database containers = [] {
    Database database;
    add_base_sorts(database);
    const SortId integer = *database.find_sort("i64");
    for (const char* presort : {"Vec", "Set", "MultiSet"}) {
      add_container_sort(database, presort, presort, {integer}, {});
    }
    for (const char* presort : {"Map", "Pair"})
      add_container_sort(database, presort, presort, {integer, integer}, {});
    const SortId multiset = *database.find_sort("MultiSet");
    const SortId unit = *database.find_sort("Unit");
    add_container_sort(database, "map", "UnstableFn", {integer, integer}, {});
    add_container_sort(database, "test", "UnstableFn", {integer, unit}, {});
    add_container_sort(database, "reduce", "UnstableFn", {integer, integer, integer}, {});
    add_container_sort(database, "flat", "UnstableFn", {integer, multiset}, {});
    add_container_sort(database, "index", "UnstableFn", {multiset, integer, integer}, {});
    return database;
  }();
  return !containers.overloads(name).empty();
}

SortId add_container_sort(Database& database, const std::string& name, const std::string& presort,
                          const std::vector<SortId>& elements, Span span) {
  struct Kind {
    const char* presort;
    SortKind kind;
    std::size_t elements;
    void (*add_primitives)(Database&, SortId);
  };
  static constexpr Kind kinds[] = {
      {"Vec", SortKind::vec, 1, add_vec_primitives},
      {"Set", SortKind::set, 1, add_set_primitives},
      {"MultiSet", SortKind::multiset, 1, add_multiset_primitives},
      {"Map", SortKind::map, 2, add_map_primitives},
      {"Pair", SortKind::pair, 2, add_pair_primitives},
      {"UnstableFn", SortKind::function, 0, add_function_primitives},
  };
  for (const Kind& kind : kinds) {
    if (presort != kind.presort) continue;
    if (kind.elements != 0 && elements.size() != kind.elements) {
      throw ProgramError(cat("sort ", presort, " takes ", kind.elements, " sorts"), span);
    }
    Sort sort;
    sort.name = name;
    sort.kind = kind.kind;
    sort.elements = elements;
    sort.unionable = false;
    // A function's are those of the arguments it was given, which its sort does not tell.
    sort.holds_classes = kind.kind == SortKind::function ||
                         std::any_of(elements.begin(), elements.end(),
                                     [&](SortId element) { return database.sort(element).holds_classes; });
    const SortId id = database.add_sort(std::move(sort));
    kind.add_primitives(database, id);
    add_mapping_primitives(database, id);
    return id;
  }
  throw ProgramError(cat("presort ", presort, " not found"), span);
}

}  // namespace luminal::egraph

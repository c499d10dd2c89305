#include <algorithm>
#include <iterator>

#include "luminal/egraph/builtin.h"
#include "luminal/egraph/builtin_helpers.h"

namespace luminal::egraph {
namespace {

using Arguments = std::span<const Value>;
using Result = std::optional<Value>;

/// Registers the primitives of one container sort.
class Registrar {
 public:
  Registrar(Database& database, SortId sort)
      : self(sort),
        element(database.sort(sort).elements[0]),
        integer(*database.find_sort("i64")),
        unit(*database.find_sort("Unit")),
        unites(database.sort(element).is_classes() && database.sort(element).unionable),
        database_(database) {}

  void add(const char* name, std::vector<SortId> inputs, SortId output, PrimitiveBody body,
           std::size_t repeated = 0) {
    Primitive primitive;
    primitive.name = name;
    primitive.inputs = std::move(inputs);
    primitive.output = output;
    primitive.body = std::move(body);
    primitive.repeated = repeated;
    database_.add_primitive(std::move(primitive));
  }
  /// A primitive for actions, which may unite classes.
  void add_action(const char* name, std::vector<SortId> inputs, SortId output, ActionBody body) {
    Primitive primitive;
    primitive.name = name;
    primitive.inputs = std::move(inputs);
    primitive.output = output;
    primitive.action = std::move(body);
    database_.add_primitive(std::move(primitive));
  }
  /// `name` holds if the function does, `negation` if it does not.
  template <typename F>
  void add_test(const char* name, const char* negation, const std::vector<SortId>& inputs, F function) {
    for (const bool wanted : {true, false}) {
      add(wanted ? name : negation, inputs, unit, [function, wanted](Atoms& atoms, Arguments a) -> Result {
        if (function(atoms, a) != wanted) return std::nullopt;
        return 0;
      });
    }
  }
  void add_length(const char* name, std::size_t cells_each) {
    add(name, {self}, integer, [cells_each](Atoms& atoms, Arguments a) -> Result {
      return atoms.integer(static_cast<std::int64_t>(atoms.elements_of(a[0]).size() / cells_each));
    });
  }

  SortId self;
  SortId element;
  SortId integer;
  SortId unit;
  /// Whether elements are classes that can be united.
  bool unites;

 private:
  Database& database_;
};

bool contains(const Elements& elements, Value value) {
  return std::find(elements.begin(), elements.end(), value) != elements.end();
}

std::optional<std::size_t> position(const Atoms& atoms, Value index, std::size_t size) {
  const std::int64_t i = atoms.integer_of(index);
  if (i < 0 || static_cast<std::uint64_t>(i) >= size) return std::nullopt;
  return static_cast<std::size_t>(i);
}

Elements sorted(Elements elements) {
  std::sort(elements.begin(), elements.end());
  return elements;
}

Elements sorted_unique(Elements elements) {
  elements = sorted(std::move(elements));
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  return elements;
}

// What is left of a multiset without the elements of another, which must all be there.
std::optional<Elements> without(const Elements& from, const Elements& taken) {
  if (!std::includes(from.begin(), from.end(), taken.begin(), taken.end())) return std::nullopt;
  Elements rest;
  std::set_difference(from.begin(), from.end(), taken.begin(), taken.end(), std::back_inserter(rest));
  return rest;
}

Result stored(Atoms& atoms, std::optional<Elements> elements) {
  if (!elements) return std::nullopt;
  return atoms.container(std::move(*elements));
}

std::optional<std::size_t> map_entry(const Elements& elements, Value key) {
  for (std::size_t i = 0; i < elements.size(); i += 2) {
    if (elements[i] == key) return i;
  }
  return std::nullopt;
}

}  // namespace

void add_vec_primitives(Database& database, SortId sort) {
  Registrar r(database, sort);
  r.add("vec-empty", {}, r.self, [](Atoms& atoms, Arguments) -> Result { return atoms.container({}); });
  r.add(
      "vec-of", {r.element}, r.self,
      [](Atoms& atoms, Arguments a) -> Result { return atoms.container({a.begin(), a.end()}); }, 1);
  r.add(
      "vec-append", {r.self}, r.self,
      [](Atoms& atoms, Arguments a) -> Result {
        Elements all;
        for (const Value vec : a) {
          const Elements& part = atoms.elements_of(vec);
          all.insert(all.end(), part.begin(), part.end());
        }
        return atoms.container(std::move(all));
      },
      1);
  r.add("vec-push", {r.self, r.element}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    elements.push_back(a[1]);
    return atoms.container(std::move(elements));
  });
  r.add("vec-pop", {r.self}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    if (!elements.empty()) elements.pop_back();
    return atoms.container(std::move(elements));
  });
  r.add_length("vec-length", 1);
  r.add_test("vec-contains", "vec-not-contains", {r.self, r.element},
             [](const Atoms& atoms, Arguments a) { return contains(atoms.elements_of(a[0]), a[1]); });
  r.add("vec-get", {r.self, r.integer}, r.element, [](Atoms& atoms, Arguments a) -> Result {
    const Elements& elements = atoms.elements_of(a[0]);
    const auto at = position(atoms, a[1], elements.size());
    if (!at) return std::nullopt;
    return elements[*at];
  });
  r.add("vec-set", {r.self, r.integer, r.element}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    const auto at = position(atoms, a[1], elements.size());
    if (!at) return std::nullopt;
    elements[*at] = a[2];
    return atoms.container(std::move(elements));
  });
  r.add("vec-remove", {r.self, r.integer}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    const auto at = position(atoms, a[1], elements.size());
    if (!at) return std::nullopt;
    elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(*at));
    return atoms.container(std::move(elements));
  });
  if (r.unites) {
    r.add_action("vec-union", {r.self, r.self}, r.self,
                 [element = r.element](Database& data, Arguments a) -> Result {
                   const Elements x = data.atoms().elements_of(a[0]);
                   const Elements y = data.atoms().elements_of(a[1]);
                   if (x.size() != y.size()) return std::nullopt;
                   for (std::size_t i = 0; i < x.size(); ++i) data.unite(element, x[i], y[i]);
                   return a[0];
                 });
  }
  if (r.element == r.integer) {
    r.add("vec-range", {r.integer}, r.self, [](Atoms& atoms, Arguments a) -> Result {
      constexpr std::int64_t longest = 1 << 24;
      const std::int64_t length = atoms.integer_of(a[0]);
      if (length < 0 || length > longest) return std::nullopt;
      Elements elements;
      for (std::int64_t i = 0; i < length; ++i) elements.push_back(atoms.integer(i));
      return atoms.container(std::move(elements));
    });
  }
}

void add_set_primitives(Database& database, SortId sort) {
  Registrar r(database, sort);
  r.add("set-empty", {}, r.self, [](Atoms& atoms, Arguments) -> Result { return atoms.container({}); });
  r.add(
      "set-of", {r.element}, r.self,
      [](Atoms& atoms, Arguments a) -> Result {
        return atoms.container(sorted_unique({a.begin(), a.end()}));
      },
      1);
  r.add("set-get", {r.self, r.integer}, r.element, [](Atoms& atoms, Arguments a) -> Result {
    const Elements& elements = atoms.elements_of(a[0]);
    const auto at = position(atoms, a[1], elements.size());
    if (!at) return std::nullopt;
    return elements[*at];
  });
  r.add("set-insert", {r.self, r.element}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    elements.push_back(a[1]);
    return atoms.container(sorted_unique(std::move(elements)));
  });
  r.add("set-remove", {r.self, r.element}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    std::erase(elements, a[1]);
    return atoms.container(std::move(elements));
  });
  r.add_length("set-length", 1);
  r.add_test("set-contains", "set-not-contains", {r.self, r.element},
             [](const Atoms& atoms, Arguments a) { return contains(atoms.elements_of(a[0]), a[1]); });
  const auto combine = [&](const char* name, auto algorithm) {
    r.add(name, {r.self, r.self}, r.self, [algorithm](Atoms& atoms, Arguments a) -> Result {
      const Elements& x = atoms.elements_of(a[0]);
      const Elements& y = atoms.elements_of(a[1]);
      Elements result;
      algorithm(x, y, result);
      return atoms.container(std::move(result));
    });
  };
  combine("set-union", [](const Elements& x, const Elements& y, Elements& out) {
    std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(out));
  });
  combine("set-intersect", [](const Elements& x, const Elements& y, Elements& out) {
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(out));
  });
  combine("set-diff", [](const Elements& x, const Elements& y, Elements& out) {
    std::set_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(out));
  });
}

void add_multiset_primitives(Database& database, SortId sort) {
  Registrar r(database, sort);
  r.add(
      "multiset-of", {r.element}, r.self,
      [](Atoms& atoms, Arguments a) -> Result { return atoms.container(sorted({a.begin(), a.end()})); }, 1);
  r.add("multiset-single", {r.element, r.integer}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    constexpr std::int64_t most = 1 << 24;
    const std::int64_t times = atoms.integer_of(a[1]);
    if (times < 0 || times > most) return std::nullopt;
    return atoms.container(Elements(static_cast<std::size_t>(times), a[0]));
  });
  r.add("multiset-pick", {r.self}, r.element, [](Atoms& atoms, Arguments a) -> Result {
    const Elements& elements = atoms.elements_of(a[0]);
    if (elements.empty()) return std::nullopt;
    return elements.front();
  });
  r.add("multiset-insert", {r.self, r.element}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    elements.push_back(a[1]);
    return atoms.container(sorted(std::move(elements)));
  });
  for (const bool swapped : {false, true}) {
    const std::size_t set = swapped ? 1 : 0;
    const std::vector<SortId> with_element =
        swapped ? std::vector{r.element, r.self} : std::vector{r.self, r.element};
    r.add(swapped ? "multiset-remove-swapped" : "multiset-remove", with_element, r.self,
          [set](Atoms& atoms, Arguments a) -> Result {
            return stored(atoms, without(atoms.elements_of(a[set]), {a[1 - set]}));
          });
    r.add(swapped ? "multiset-subtract-swapped" : "multiset-subtract", {r.self, r.self}, r.self,
          [set](Atoms& atoms, Arguments a) -> Result {
            return stored(atoms, without(atoms.elements_of(a[set]), atoms.elements_of(a[1 - set])));
          });
    r.add_test(
        swapped ? "multiset-contains-swapped" : "multiset-contains",
        swapped ? "multiset-not-contains-swapped" : "multiset-not-contains", with_element,
        [set](const Atoms& atoms, Arguments a) { return contains(atoms.elements_of(a[set]), a[1 - set]); });
  }
  r.add_length("multiset-length", 1);
  r.add("multiset-intersection", {r.self, r.self}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    const Elements& x = atoms.elements_of(a[0]);
    const Elements& y = atoms.elements_of(a[1]);
    Elements common;
    std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(common));
    return atoms.container(std::move(common));
  });
  r.add("multiset-sum", {r.self, r.self}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    const Elements& more = atoms.elements_of(a[1]);
    elements.insert(elements.end(), more.begin(), more.end());
    return atoms.container(sorted(std::move(elements)));
  });
  r.add("multiset-reset-counts", {r.self}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    return atoms.container(sorted_unique(atoms.elements_of(a[0])));
  });
  r.add("multiset-pick-max", {r.self}, r.element, [](Atoms& atoms, Arguments a) -> Result {
    const Elements& elements = atoms.elements_of(a[0]);
    Result best;
    std::ptrdiff_t most = 0;
    for (auto run = elements.begin(); run != elements.end();) {
      const auto end = std::upper_bound(run, elements.end(), *run);
      if (end - run >= most) {
        most = end - run;
        best = *run;
      }
      run = end;
    }
    return best;
  });
  if (r.unites) {
    r.add_action("multiset-union-values", {r.self}, r.element,
                 [element = r.element](Database& data, Arguments a) -> Result {
                   const Elements elements = data.atoms().elements_of(a[0]);
                   if (elements.empty()) return std::nullopt;
                   for (const Value value : elements) data.unite(element, elements.front(), value);
                   return elements.front();
                 });
  }
  if (database.sort(r.element).kind == SortKind::multiset) {
    r.add("multiset-sum-multisets", {r.self}, r.element, [](Atoms& atoms, Arguments a) -> Result {
      Elements all;
      for (const Value part : atoms.elements_of(a[0])) {
        const Elements& elements = atoms.elements_of(part);
        all.insert(all.end(), elements.begin(), elements.end());
      }
      return atoms.container(sorted(std::move(all)));
    });
  }
  r.add("multiset-count", {r.self, r.element}, r.integer, [](Atoms& atoms, Arguments a) -> Result {
    const Elements& elements = atoms.elements_of(a[0]);
    return atoms.integer(std::count(elements.begin(), elements.end(), a[1]));
  });
}

void add_map_primitives(Database& database, SortId sort) {
  Registrar r(database, sort);
  const SortId value = database.sort(sort).elements[1];
  r.add("map-empty", {}, r.self, [](Atoms& atoms, Arguments) -> Result { return atoms.container({}); });
  r.add(
      "map-of", {r.element, value}, r.self,
      [](Atoms& atoms, Arguments a) -> Result { return atoms.container(sorted_map({a.begin(), a.end()})); },
      2);
  r.add("map-insert", {r.self, r.element, value}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    elements.insert(elements.end(), {a[1], a[2]});
    return atoms.container(sorted_map(std::move(elements)));
  });
  r.add("map-get", {r.self, r.element}, value, [](Atoms& atoms, Arguments a) -> Result {
    const Elements& elements = atoms.elements_of(a[0]);
    const auto entry = map_entry(elements, a[1]);
    if (!entry) return std::nullopt;
    return elements[*entry + 1];
  });
  r.add("map-remove", {r.self, r.element}, r.self, [](Atoms& atoms, Arguments a) -> Result {
    Elements elements = atoms.elements_of(a[0]);
    if (const auto entry = map_entry(elements, a[1])) {
      const auto at = elements.begin() + static_cast<std::ptrdiff_t>(*entry);
      elements.erase(at, at + 2);
    }
    return atoms.container(std::move(elements));
  });
  r.add_length("map-length", 2);
  r.add_test("map-contains", "map-not-contains", {r.self, r.element}, [](const Atoms& atoms, Arguments a) {
    return map_entry(atoms.elements_of(a[0]), a[1]).has_value();
  });
}

void add_pair_primitives(Database& database, SortId sort) {
  Registrar r(database, sort);
  const SortId second = database.sort(sort).elements[1];
  r.add("pair", {r.element, second}, r.self,
        [](Atoms& atoms, Arguments a) -> Result { return atoms.container({a[0], a[1]}); });
  r.add("pair-first", {r.self}, r.element,
        [](Atoms& atoms, Arguments a) -> Result { return atoms.elements_of(a[0])[0]; });
  r.add("pair-second", {r.self}, second,
        [](Atoms& atoms, Arguments a) -> Result { return atoms.elements_of(a[0])[1]; });
}

}  // namespace luminal::egraph

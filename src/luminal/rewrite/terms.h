#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "luminal/kernel/kernel.h"
#include "luminal/rewrite/encode.h"
#include "luminal/rewrite/language.h"

namespace luminal::rewriting {

/// Numbers the classes that can be reached from what is wanted.
using ClassId = Id<struct TermClassTag>;

/// One way to write a class's value.
struct Term {
  enum class Kind : std::uint8_t { leaf, constant, iota, random, view, map, reduce, gather, scatter, scan };
  Kind kind = Kind::leaf;
  Op op = Op::add;                              // map; scatter: scatter or scatter_add
  kernel::Monoid monoid = kernel::Monoid::sum;  // reduce, scan
  std::uint64_t number = 0;  // leaf: its number; reduce: axes; gather, scatter: axis; random: stream
  egraph::Value atom = 0;    // constant: scalar; iota: expression; view: index map
  std::vector<ClassId> children;
  friend bool operator==(const Term&, const Term&) = default;
};

struct TermClass {
  Shape shape;
  DType dtype = DType::f32;
  /// Computed when weights are set, not in every run.
  bool is_static = false;
  std::optional<Scalar> value;
  /// Bit k is set: varies with axis k.
  std::int64_t varies = 0;
  /// Was in the graph as it was given; several nodes read it, or one not element by element.
  bool is_original = false;
  bool is_shared = false;
  /// Must be computed once and read from memory: see compared.h.
  bool is_single = false;
  /// How many read it there.
  std::size_t readers = 0;
  std::vector<Term> terms;
  egraph::Value id = 0;  // in the e-graph

  bool is_source() const { return terms.size() == 1 && terms[0].kind == Term::Kind::leaf; }
};

/// What saturation found, flat and read-only: all that mapping needs of the e-graph.
struct Terms {
  std::vector<TermClass> classes;
  std::vector<ClassId> roots;
  const Atoms* atoms = nullptr;
  /// Products are not regrouped either: see `RuleOptions`.
  bool exact = false;

  const TermClass& operator[](ClassId id) const { return classes[id.index()]; }
};

/// The terms below what is wanted. Of a class that is a constant or comes from outside only that term is
/// kept, and of a·b and b·a one.
Terms collect(Language& language, const Encoded& encoded);

/// One line a class: its type, and all ways to write it.
std::string print(const Terms& terms);

}  // namespace luminal::rewriting

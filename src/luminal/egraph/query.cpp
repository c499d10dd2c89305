#include "luminal/egraph/query.h"

#include <sstream>

namespace luminal::egraph {
namespace {
void print(std::ostream& out, const Term& term) {
  out << (term.variable ? " v" : " #") << term.number;
}
}  // namespace

std::string Query::signature() const {
  std::ostringstream out;
  out << variables << impossible << see_subsumed << static_cast<int>(access);
  for (const Atom& atom : atoms) {
    out << "|a" << atom.function.value();
    for (const Term& term : atom.terms) print(out, term);
  }
  for (const Computation& computation : computations) {
    out << "|c" << computation.primitive.value();
    for (const Term& term : computation.inputs) print(out, term);
    print(out, computation.output);
  }
  return out.str();
}

}  // namespace luminal::egraph

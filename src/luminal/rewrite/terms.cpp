#include "luminal/rewrite/terms.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "luminal/rewrite/compared.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::rewriting {
namespace {

class Collector {
 public:
  explicit Collector(Language& language)
      : language_(language),
        graph_(language.graph()),
        database_(graph_.database()),
        frozen_(graph_.freeze()) {
    result_.atoms = &language.atoms();
    result_.exact = language.is_exact();
  }

  Terms run(const Encoded& encoded) {
    for (const auto& read : encoded.reads) {
      const egraph::Value from = graph_.find(read.read);
      const egraph::Value reader = graph_.find(read.reader);
      Origin& origin = origins_[from];
      origins_[reader];
      origin.readers.insert(reader);
      if (!read.in_place || origin.readers.size() > 1) origin.shared = true;
    }
    for (const auto root : encoded.wanted) {
      origins_[graph_.find(root)];
      result_.roots.push_back(number_of(graph_.find(root)));
    }
    for (std::size_t k = 0; k < order_.size(); ++k) fill(k);
    drop_detours();
    mark_compared(result_);
    return std::move(result_);
  }

 private:
  struct Origin {
    std::set<egraph::Value> readers;
    bool shared = false;
  };

  ClassId number_of(egraph::Value id) {
    const auto [it, fresh] = numbers_.emplace(id, ClassId(order_.size()));
    if (fresh) {
      order_.push_back(id);
      result_.classes.emplace_back();
    }
    return it->second;
  }

  void fill(std::size_t k) {
    const egraph::Value id = order_[k];
    TermClass made;
    made.id = id;
    const auto fact = [&](egraph::FunctionId function) { return graph_.lookup(function, {id}); };
    const auto shape = fact(language_.shape);
    const auto dtype = fact(language_.dtype);
    if (!shape || !dtype) throw InternalError(cat("e-graph: class ", id, " has no shape or dtype"));
    made.shape = language_.atoms().shapes[*shape];
    made.dtype = static_cast<DType>(*dtype);
    if (const auto varies = fact(language_.varies)) made.varies = database_.atoms().integer_of(*varies);
    if (const auto origin = origins_.find(id); origin != origins_.end()) {
      made.is_original = true;
      made.is_shared = origin->second.shared;
      made.readers = origin->second.readers.size();
    }
    if (const auto value = fact(language_.value)) made.value = language_.atoms().scalars[*value];
    // A constant is written where it is needed: a scatter that starts from one writes over it.
    made.is_static = fact(language_.is_static).has_value() && !made.value;
    const std::uint32_t owner = frozen_.class_of(id);
    if (owner == egraph::no_class) throw InternalError(cat("e-graph: class ", id, " has no term"));
    for (std::uint32_t n = frozen_.first_node(owner); n < frozen_.last_node(owner); ++n)
      add_term(frozen_.node(n), made);
    keep_simplest(made);
    // Children are numbered only now: terms that were dropped reach nothing.
    for (auto& term : made.terms)
      for (auto& child : term.children) child = number_of(child.value());
    if (made.terms.empty()) throw InternalError(cat("e-graph: class ", id, " has no usable term"));
    result_.classes[k] = std::move(made);
  }

  void add_term(const egraph::FrozenNode& node, TermClass& made) {
    const auto cells = frozen_.cells(node, database_);
    const auto function = node.function;
    Term term;
    const auto children_from = [&](std::size_t first) {
      for (std::size_t i = first; i < cells.size(); ++i) term.children.emplace_back(graph_.find(cells[i]));
    };
    const auto number = [&](std::size_t i) {
      return static_cast<std::uint64_t>(database_.atoms().integer_of(cells[i]));
    };
    if (function == language_.leaf) {
      term.kind = Term::Kind::leaf;
      term.number = number(0);
    } else if (function == language_.constant) {
      term.kind = Term::Kind::constant;
      term.atom = cells[0];
    } else if (function == language_.iota) {
      term.kind = Term::Kind::iota;
      term.atom = cells[0];
    } else if (function == language_.random) {
      term.kind = Term::Kind::random;
      term.number = number(0);
      children_from(2);
    } else if (function == language_.view) {
      term.kind = Term::Kind::view;
      term.atom = cells[0];
      children_from(1);
    } else if (function == language_.soft_sum || function == language_.m2) {
      term.kind = Term::Kind::reduce;
      term.monoid = function == language_.m2 ? kernel::Monoid::m2 : kernel::Monoid::soft_sum;
      term.number = number(0);
      children_from(1);
    } else {
      const auto op = language_.op_of(function);
      if (!op) return;  // a fact's table
      add_op(*op, term, number, children_from);
    }
    if (std::find(term.children.begin(), term.children.end(), ClassId(made.id)) != term.children.end())
      return;
    made.terms.push_back(std::move(term));
  }

  template <typename Number, typename Children>
  static void add_op(Op op, Term& term, const Number& number, const Children& children_from) {
    term.op = op;
    switch (kind(op)) {
      case OpKind::reduce:
        term.kind = Term::Kind::reduce;
        term.monoid = op == Op::reduce_sum   ? kernel::Monoid::sum
                      : op == Op::reduce_max ? kernel::Monoid::max
                                             : kernel::Monoid::prod;
        term.number = number(0);
        children_from(1);
        break;
      case OpKind::scan:
        term.kind = Term::Kind::scan;
        term.monoid = op == Op::scan_sum   ? kernel::Monoid::sum
                      : op == Op::scan_max ? kernel::Monoid::max
                                           : kernel::Monoid::prod;
        children_from(0);
        break;
      case OpKind::gather:
      case OpKind::scatter:
        term.kind = kind(op) == OpKind::gather ? Term::Kind::gather : Term::Kind::scatter;
        term.number = number(0);
        children_from(1);
        break;
      case OpKind::convert:
        term.kind = Term::Kind::map;
        children_from(1);
        break;
      default:
        term.kind = Term::Kind::map;
        children_from(0);
        if (row(op).commutative) std::sort(term.children.begin(), term.children.end());
        break;
    }
  }

  /// A view of a class that is nothing but views is read through one map instead, from what is computed.
  void drop_detours() {
    const auto is_view = [](const Term& t) { return t.kind == Term::Kind::view; };
    std::vector<bool> computed;
    for (const auto& c : result_.classes)
      computed.push_back(!std::all_of(c.terms.begin(), c.terms.end(), is_view));
    for (auto& c : result_.classes) {
      const auto direct = [&](const Term& t) { return !is_view(t) || computed[t.children[0].index()]; };
      if (std::any_of(c.terms.begin(), c.terms.end(), direct))
        std::erase_if(c.terms, [&](const Term& t) { return !direct(t); });
    }
  }

  static void keep_simplest(TermClass& made) {
    for (const auto simple : {Term::Kind::leaf, Term::Kind::constant}) {
      const auto found =
          std::find_if(made.terms.begin(), made.terms.end(), [&](const Term& t) { return t.kind == simple; });
      if (found == made.terms.end()) continue;
      Term only = *found;
      made.terms = {std::move(only)};
      return;
    }
    std::vector<Term> distinct;
    for (auto& term : made.terms)
      if (std::find(distinct.begin(), distinct.end(), term) == distinct.end())
        distinct.push_back(std::move(term));
    made.terms = std::move(distinct);
  }

  Language& language_;
  egraph::EGraph& graph_;
  egraph::Database& database_;
  egraph::Frozen frozen_;
  std::unordered_map<egraph::Value, ClassId> numbers_;
  std::unordered_map<egraph::Value, Origin> origins_;
  std::vector<egraph::Value> order_;
  Terms result_;
};

}  // namespace

namespace {

std::string term_text(const Terms& terms, const Term& term) {
  std::string children;
  for (const auto child : term.children) children += cat(children.empty() ? "" : ", ", "c", child.value());
  switch (term.kind) {
    case Term::Kind::leaf:
      return cat("leaf ", term.number);
    case Term::Kind::constant:
      return to_number(terms.atoms->scalars[term.atom]).text();
    case Term::Kind::iota:
      return cat("iota ", terms.atoms->expressions[term.atom]);
    case Term::Kind::random:
      return cat("random ", term.number, "(", children, ")");
    case Term::Kind::view:
      return cat("view ", terms.atoms->maps[term.atom].text(), "(", children, ")");
    case Term::Kind::map:
      return cat(name(term.op), "(", children, ")");
    case Term::Kind::reduce:
      return cat(kernel::name(term.monoid), " ", term.number, "(", children, ")");
    case Term::Kind::gather:
      return cat("gather ", term.number, "(", children, ")");
    case Term::Kind::scatter:
      return cat(name(term.op), " ", term.number, "(", children, ")");
    case Term::Kind::scan:
      return cat("scan ", kernel::name(term.monoid), "(", children, ")");
  }
  return "";
}

}  // namespace

std::string print(const Terms& terms) {
  std::string text;
  for (std::size_t k = 0; k < terms.classes.size(); ++k) {
    const TermClass& c = terms.classes[k];
    std::string ways;
    for (const auto& term : c.terms) ways += cat(ways.empty() ? "" : " | ", term_text(terms, term));
    text += cat("c", k, ": ", c.dtype, c.shape, c.is_static ? " static" : "", " = ", ways, "\n");
  }
  std::string roots;
  for (const auto root : terms.roots) roots += cat(roots.empty() ? "" : ", ", "c", root.value());
  return text + cat("wanted ", roots, "\n");
}

Terms collect(Language& language, const Encoded& encoded) {
  return Collector(language).run(encoded);
}

}  // namespace luminal::rewriting

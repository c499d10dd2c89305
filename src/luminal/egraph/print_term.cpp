#include <unordered_map>
#include <variant>

#include "luminal/egraph/ast.h"
#include "luminal/egraph/extract.h"
#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {

/// Of a text, in characters.
constexpr std::size_t longest = std::size_t{1} << 25;

[[noreturn]] void refuse_length() {
  throw ProgramError("the term is too long to print: its subterms are shared too often", Span{},
                     Fault::failed);
}

/// The nodes of a class's term, each counted as often as it stands in the text.
std::uint64_t nodes_in_text(const Frozen& frozen, const Choice& choice, std::uint32_t root) {
  std::unordered_map<std::uint32_t, std::uint64_t> counts;
  std::vector<std::uint32_t> open = {root};
  while (!open.empty()) {
    const std::uint32_t owner = open.back();
    if (counts.contains(owner) || choice.nodes[owner] == no_node) {
      open.pop_back();
      continue;
    }
    const std::size_t before = open.size();
    std::uint64_t count = 1;
    for (const std::uint32_t child : frozen.children(frozen.node(choice.nodes[owner]))) {
      if (child == no_class || choice.nodes[child] == no_node) continue;
      const auto found = counts.find(child);
      if (found == counts.end())
        open.push_back(child);
      else
        count = saturating_sum(count, found->second);
    }
    if (open.size() != before) continue;
    counts.emplace(owner, count);
    open.pop_back();
  }
  const auto found = counts.find(root);
  return found == counts.end() ? 0 : found->second;
}

/// Prints with an explicit stack: terms can be deeper than the machine's.
class Printer {
 public:
  Printer(const Database& database, const Frozen& frozen, const Choice& choice)
      : database_(database), frozen_(frozen), choice_(choice) {}

  void push(SortId sort, Value value) { stack_.push_back(Item{{}, sort, value}); }
  void push(std::string text) { stack_.push_back(Item{std::move(text), SortId(), 0}); }

  bool push_node(const FrozenNode& node) {
    const Function& function = database_.function(node.function);
    const auto cells = frozen_.cells(node, database_);
    push(")");
    for (std::size_t i = cells.size(); i-- > 0;) {
      push(function.inputs[i], cells[i]);
      push(" ");
    }
    push("(" + function.name);
    return true;
  }

  std::optional<std::string> run() {
    while (!stack_.empty()) {
      if (result_.size() > longest) refuse_length();
      const Item item = std::move(stack_.back());
      stack_.pop_back();
      if (item.sort.none()) {
        result_ += item.text;
      } else if (!expand(database_.sort(item.sort), item.value)) {
        return std::nullopt;
      }
    }
    return std::move(result_);
  }

 private:
  struct Item {
    std::string text;
    SortId sort;
    Value value;
  };

  bool expand(const Sort& sort, Value value) {
    const Atoms& atoms = database_.atoms();
    switch (sort.kind) {
      case SortKind::classes: {
        const std::uint32_t owner = frozen_.class_of(database_.find(value));
        if (owner == no_class || choice_.nodes[owner] == no_node) return false;
        return push_node(frozen_.node(choice_.nodes[owner]));
      }
      case SortKind::unit:
        result_ += "()";
        return true;
      case SortKind::boolean:
        result_ += value != 0 ? "true" : "false";
        return true;
      case SortKind::integer:
        result_ += std::to_string(atoms.integer_of(value));
        return true;
      case SortKind::real:
        result_ += print_real(atoms.real_of(value));
        return true;
      case SortKind::text:
        result_ += print_text(atoms.text_of(value));
        return true;
      case SortKind::big:
        result_ += "(from-string \"" + atoms.big_of(value).text() + "\")";
        return true;
      case SortKind::rational: {
        const BigRat& rational = atoms.rational_of(value);
        result_ += cat("(bigrat (from-string \"", rational.numerator.text(), "\") (from-string \"",
                       rational.denominator.text(), "\"))");
        return true;
      }
      case SortKind::opaque:
        result_ += sort.print ? sort.print(value) : cat("#", value);
        return true;
      default:
        return expand_container(sort, atoms.elements_of(value));
    }
  }

  bool expand_container(const Sort& sort, const Elements& elements) {
    static constexpr const char* names[] = {"vec-of", "set-of", "multiset-of",
                                            "map-of", "pair",   "unstable-fn"};
    if (elements.empty() && (sort.kind == SortKind::vec || sort.kind == SortKind::map)) {
      result_ += sort.kind == SortKind::vec ? "(vec-empty)" : "(map-empty)";
      return true;
    }
    push(")");
    for (std::size_t i = elements.size(); i-- > 0;) {
      const SortId element = database_.element_sort(sort, elements, i);
      if (element.none()) {
        push(print_text(database_.callee_name(elements[i])));
      } else {
        push(element, elements[i]);
      }
      push(" ");
    }
    push(std::string("(") + names[static_cast<int>(sort.kind) - static_cast<int>(SortKind::vec)]);
    return true;
  }

  const Database& database_;
  const Frozen& frozen_;
  const Choice& choice_;
  std::vector<Item> stack_;
  std::string result_;
};

}  // namespace

std::optional<std::string> print_value(const Database& database, const Frozen& frozen, const Choice& choice,
                                       SortId sort, Value value) {
  if (database.sort(sort).is_classes())
    if (const std::uint32_t owner = frozen.class_of(database.find(value));
        owner != no_class && nodes_in_text(frozen, choice, owner) > longest / 4)
      refuse_length();
  Printer printer(database, frozen, choice);
  printer.push(sort, value);
  return printer.run();
}

std::optional<std::string> print_node(const Database& database, const Frozen& frozen, const Choice& choice,
                                      const FrozenNode& node) {
  Printer printer(database, frozen, choice);
  printer.push_node(node);
  return printer.run();
}

std::uint64_t value_cost(const Database& database, const Frozen& frozen, const Choice& choice, SortId id,
                         Value value) {
  const Sort& sort = database.sort(id);
  if (sort.is_classes()) {
    const std::uint32_t owner = frozen.class_of(database.find(value));
    return owner == no_class ? no_cost : choice.costs[owner];
  }
  if (!sort.is_container()) return 1;
  std::uint64_t total = 0;
  const Elements& elements = database.atoms().elements_of(value);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const SortId element = database.element_sort(sort, elements, i);
    if (element.none()) continue;
    total = saturating_sum(total, value_cost(database, frozen, choice, element, elements[i]));
  }
  return total;
}

}  // namespace luminal::egraph

#include "luminal/egraph/html.h"

#include <algorithm>
#include <sstream>

#include "luminal/egraph/extract.h"
#include "luminal/support/html.h"

namespace luminal::egraph {
namespace {

constexpr std::uint32_t most_classes = 400;

class Page {
 public:
  Page(Program& program, const std::string& title)
      : database_(program.database()), frozen_(database_), choice_(extract_tree(frozen_)) {
    out_ << "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" << escape_html(title)
         << "</title>\n"
         << style << "<h1>" << escape_html(title) << "</h1>\n<p>" << frozen_.class_count() << " classes, "
         << frozen_.node_count() << " nodes.</p>\n";
    mark_used(program);
    if (!program.last_extracted().empty()) {
      out_ << "<h2>Extracted term</h2>\n<pre>" << escape_html(program.last_extracted()) << "</pre>\n";
    }
  }

  std::string text() {
    const auto shown = std::min(static_cast<std::uint32_t>(frozen_.class_count()), most_classes);
    if (shown < frozen_.class_count()) out_ << "<p>Only the first " << shown << " classes are shown.</p>\n";
    out_ << "<h2>Classes</h2>\n<main>\n";
    for (std::uint32_t owner = 0; owner < shown; ++owner) add_class(owner);
    out_ << "</main>\n</html>\n";
    return out_.str();
  }

 private:
  static constexpr const char* style =
      "<style>body{font:15px/1.4 "
      "system-ui,sans-serif;margin:2rem;color:#222}main{display:flex;flex-wrap:wrap;gap:"
      ".7rem}section{border:1px solid #bbb;border-radius:.4rem;padding:.4rem "
      ".7rem}section:target{outline:3px solid "
      "#e8a33d}h3{margin:0;font-size:.8rem;color:#777}code{display:block}.used{border-color:#2a7;background:#"
      "f0faf5}"
      ".best{font-weight:bold}a{color:#06c;text-decoration:none}</style>\n";

  // The classes that the last extracted term is made of.
  void mark_used(Program& program) {
    used_.assign(frozen_.class_count(), false);
    const auto value = program.last_extracted_value();
    if (!value || !database_.sort(value->first).is_classes()) return;
    std::vector<std::uint32_t> stack = {frozen_.class_of(database_.find(value->second))};
    while (!stack.empty()) {
      const std::uint32_t owner = stack.back();
      stack.pop_back();
      if (owner == no_class || used_[owner] || choice_.nodes[owner] == no_node) continue;
      used_[owner] = true;
      for (const std::uint32_t child : frozen_.children(frozen_.node(choice_.nodes[owner])))
        stack.push_back(child);
    }
  }

  void add_class(std::uint32_t owner) {
    out_ << "<section id=\"c" << owner << "\"" << (used_[owner] ? " class=\"used\"" : "") << "><h3>class "
         << owner << "</h3>\n";
    for (std::uint32_t i = frozen_.first_node(owner); i < frozen_.last_node(owner); ++i) {
      const FrozenNode& node = frozen_.node(i);
      const Function& function = database_.function(node.function);
      out_ << "<code" << (choice_.nodes[owner] == i ? " class=\"best\"" : "") << ">("
           << escape_html(function.name);
      const auto cells = frozen_.cells(node, database_);
      for (std::size_t j = 0; j < cells.size(); ++j) add_cell(function.inputs[j], cells[j]);
      out_ << ")</code>\n";
    }
    out_ << "</section>\n";
  }

  void add_cell(SortId sort, Value value) {
    const std::uint32_t owner =
        database_.sort(sort).is_classes() ? frozen_.class_of(database_.find(value)) : no_class;
    if (owner != no_class) {
      out_ << " <a href=\"#c" << owner << "\">" << owner << "</a>";
    } else {
      out_ << " " << escape_html(print_value(database_, frozen_, choice_, sort, value).value_or("?"));
    }
  }

  Database& database_;
  Frozen frozen_;
  Choice choice_;
  std::vector<bool> used_;
  std::ostringstream out_;
};

}  // namespace

std::string html_page(Program& program, const std::string& title) {
  return Page(program, title).text();
}

}  // namespace luminal::egraph

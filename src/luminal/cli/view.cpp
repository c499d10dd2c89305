#include "luminal/cli/view.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "luminal/luminal.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

struct ViewOptions {
  std::string file;
  std::string html;
  bool dot = false;
};

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw Error(cat("view: the file ", in_quotes(path), " cannot be read"));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void view(const ViewOptions& options) {
  const Dag dag = parse(read_all(options.file));
  if (options.dot) {
    std::cout << to_dot(dag);
    return;
  }
  const std::string target = options.html.empty() ? options.file + ".html" : options.html;
  std::ofstream page(target, std::ios::binary);
  page << to_html(dag, options.file);
  page.close();
  if (!page) throw Error(cat("view: the file ", in_quotes(target), " cannot be written"));
  std::cout << target << '\n';
}

}  // namespace

void add_view_command(CLI::App& app) {
  const auto options = std::make_shared<ViewOptions>();
  auto* command =
      app.add_subcommand("view", "Draw a graph: writes one self-contained page and prints its path");
  command->add_option("FILE", options->file, "A graph in the text format")->required();
  command->add_option("--html", options->html, "Where to write the page (default: FILE.html)");
  command->add_flag("--dot", options->dot, "Print Graphviz' language instead");
  command->callback([options] { view(*options); });
}

}  // namespace luminal::cli

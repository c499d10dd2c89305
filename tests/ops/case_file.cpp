#include "case_file.h"

#include <bit>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "luminal/support/checked.h"
#include "luminal/support/text.h"

namespace luminal::ops {
namespace {

std::vector<std::int64_t> numbers(const std::string& text) {
  std::vector<std::int64_t> result;
  if (text == "-") return result;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) result.push_back(std::stoll(part));
  return result;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw std::runtime_error(cat("'", c, "' is no hexadecimal digit"));
}

Array read_array(std::istream& line) {
  std::string dtype;
  std::string dims;
  std::string hex;
  line >> dtype >> dims;
  Array array(dtype_named(dtype).value(), numbers(dims));
  line >> hex;
  const std::size_t bytes = static_cast<std::size_t>(array.size()) * byte_size(array.dtype());
  if (hex == "-") hex.clear();
  if (hex.size() != 2 * bytes) throw std::runtime_error(cat(hex.size() / 2, " bytes for ", bytes));
  for (std::size_t i = 0; i < bytes; ++i)
    array.bytes()[i] = static_cast<std::byte>(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
  return array;
}

Number read_number(std::istream& line) {
  std::string kind;
  std::string value;
  line >> kind >> value;
  if (kind == "b") return value == "1";
  if (kind == "i") return std::int64_t{std::stoll(value)};
  return std::bit_cast<double>(std::uint64_t{std::stoull(value, nullptr, 16)});
}

Expected read_expected(std::istream& line) {
  std::string dtype;
  std::string dims;
  double ulps = 0;
  double scale = 0;
  std::string rest;
  line >> dtype >> dims >> ulps >> scale >> rest;
  std::istringstream array(cat(dtype, " ", dims, " ", rest));
  return {read_array(array), ulps, scale};
}

void read_line(const std::string& text, std::vector<Case>& cases, int number) {
  std::istringstream line(text);
  std::string word;
  line >> word;
  if (word == "case") {
    Case& added = cases.emplace_back();
    added.line = number;
    line >> added.op >> added.note;
    return;
  }
  Case& current = cases.back();
  if (word == "in") {
    InputTensor input{read_array(line), {}};
    for (std::string movement; line >> movement;) input.view.push_back(movement);
    current.inputs.emplace_back(std::move(input));
  } else if (word == "num") {
    current.inputs.emplace_back(read_number(line));
  } else if (word == "arg") {
    std::string name;
    std::string value;
    line >> name >> value;
    current.args.set(name, value);
  } else if (word == "out") {
    current.outputs.push_back(read_expected(line));
  } else {
    throw std::runtime_error(cat("'", word, "' begins no line"));
  }
}

}  // namespace

DType Case::dtype() const {
  for (const auto& input : inputs)
    if (const auto* tensor = std::get_if<InputTensor>(&input)) return tensor->base.dtype();
  return outputs.at(0).values.dtype();
}

std::vector<Case> read_cases(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(cat(file, " cannot be read"));
  std::vector<Case> cases;
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (text.empty() || text[0] == '#') continue;
    try {
      read_line(text, cases, number);
    } catch (const std::exception& problem) {
      throw std::runtime_error(cat(file, ":", number, ": ", problem.what()));
    }
  }
  return cases;
}

const std::string& Args::value(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::runtime_error(cat("the case has no argument '", name, "'"));
  return found->second;
}

std::int64_t Args::integer(const std::string& name, std::int64_t otherwise) const {
  return has(name) ? std::stoll(value(name)) : otherwise;
}
int Args::axis(const std::string& name, int otherwise) const {
  return static_cast<int>(integer(name, otherwise));
}
double Args::real(const std::string& name, double otherwise) const {
  return has(name) ? std::stod(value(name)) : otherwise;
}
std::string Args::text(const std::string& name) const {
  return value(name);
}
DType Args::dtype(const std::string& name, DType otherwise) const {
  return has(name) ? dtype_named(value(name)).value() : otherwise;
}
std::vector<int> Args::integers(const std::string& name) const {
  std::vector<int> result;
  for (const auto n : numbers(value(name))) result.push_back(static_cast<int>(n));
  return result;
}
// 0, 1 and -1 stay as they are: they mean something where they stand.
Expr Args::dim(const std::string& name, std::int64_t number) const {
  if (!graph_ || number < 2) return number;
  Graph graph = *graph_;
  const Expr named = graph.dim(name, 0, std::nullopt);
  graph.set_dim(name, number);
  return named;
}
Expr Args::size(const std::string& name, std::int64_t otherwise) const {
  return dim(name, integer(name, otherwise));
}
std::vector<Expr> Args::sizes(const std::string& name) const {
  std::vector<Expr> result;
  for (const auto n : numbers(value(name))) result.push_back(dim(cat(name, "_", result.size()), n));
  return result;
}
Axes Args::axes(const std::string& name) const {
  return has(name) ? Axes(integers(name)) : Axes::all();
}
Spatial Args::spatial(const std::string& name, int otherwise) const {
  return has(name) ? Spatial(sizes(name)) : Spatial(otherwise);
}

std::vector<Tensor> tensors(const Inputs& inputs, std::size_t first) {
  std::vector<Tensor> result;
  for (std::size_t k = first; k < inputs.size(); ++k) result.push_back(tensor(inputs, k));
  return result;
}

}  // namespace luminal::ops

#include <algorithm>
#include <memory>
#include <utility>

#include "luminal/codegen/footprint.h"
#include "luminal/codegen/nest.h"
#include "luminal/codegen/source.h"
#include "luminal/kernel/merge_loops.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal::codegen {
namespace {

std::string head(std::string_view qualifier, std::string_view name) {
  return cat(qualifier, qualifier.empty() ? "" : " ", "void ", name,
             "(i64 task, void* const* buffers, const i64* dims, void* scratch, i64* status)");
}

/// A function's braces, and between them names for its arguments and what it does.
std::string braced(const kernel::Kernel& kernel, const Dialect& dialect, const std::string& body) {
  std::string text = "{\n  (void)task; (void)buffers; (void)dims; (void)scratch; (void)status;\n";
  const auto dims = kernel.dims();
  for (std::size_t k = 0; k < dims.size(); ++k)
    text += cat("  const i64 dim_", dims[k].name(), " = dims[", k, "]; (void)dim_", dims[k].name(), ";\n");
  std::size_t buffer = 0;
  for (std::size_t k = 0; k < kernel.inputs().size(); ++k, ++buffer) {
    const DType stored = storage_dtype(kernel.inputs()[k].dtype);
    const std::string type = cat("const ", dialect.global_space, stored, "*");
    text += cat("  ", type, " in", k, " = (", type, ")buffers[", buffer, "]; (void)in", k, ";\n");
  }
  for (std::size_t k = 0; k < kernel.outputs().size(); ++k, ++buffer) {
    const DType stored = storage_dtype(kernel.outputs()[k].dtype);
    const std::string type = cat(dialect.global_space, stored, "*");
    text += cat("  ", type, " out", k, " = (", type, ")buffers[", buffer, "]; (void)out", k, ";\n");
  }
  return cat(text, body, "}\n");
}

/// A library's function is a variable of the program, which there must be once.
bool calls_library(const Schedule& schedule) {
  return std::any_of(schedule.nests.begin(), schedule.nests.end(),
                     [](const NestSchedule& nest) { return nest.tiles && nest.tiles->library; });
}

std::uint64_t hash_of(std::string_view text) {
  return Hash(13).add(text).value();
}

}  // namespace

Units::Units(std::vector<std::string> pieces, std::string_view text)
    : pieces_(std::move(pieces)), text_(hash_of(text)) {}

std::span<const std::string> Units::of(std::string_view text) const {
  if (pieces_.empty() || hash_of(text) != text_) return {};
  return pieces_;
}

Source print_kernel(const kernel::Kernel& given, const Dialect& dialect, const Schedule& schedule,
                    std::string_view entry) {
  const kernel::Kernel kernel = kernel::merge_loops(given);
  const std::vector<Nest> nests = nests_of(kernel);
  if (schedule.nests.size() != nests.size())
    throw InternalError(cat("schedule: ", schedule.nests.size(), " nests for a kernel of ", nests.size()));
  const auto calls = std::make_shared<Helpers>(dialect);
  Emitter main(kernel, dialect, *calls);
  Source source{
      .text = {}, .entry = std::string(entry), .tasks = Expr(0), .scratch_bytes = Expr(0), .dims = {}};
  const auto print = [&](Emitter& emitter, std::size_t k) {
    print_nest(emitter, nests[k], schedule.nests[k]);
    source.scratch_bytes = Expr::max(source.scratch_bytes, emitter.scratch_bytes());
  };
  for (std::size_t k = 0; k < nests.size(); ++k) {
    main.open();
    if (nests.size() == 1) {
      print(main, k);
    } else {
      const auto called = std::make_shared<Helpers>(dialect);
      Emitter nest(kernel, dialect, *called);
      nest.open();
      print(nest, k);
      nest.close("");
      const std::string name = cat(entry, "_", k);
      calls->call({head("", name), braced(given, dialect, nest.text()), called});
      main.line(cat(name, "(task, buffers, dims, scratch, status);"));
    }
    main.line("return;");
    const Expr tasks = task_count(kernel, nests[k], schedule.nests[k]);
    main.close(cat("if (task < ", main.text(tasks), ")"));
    if (k + 1 < nests.size()) main.line(cat("task -= ", main.text(tasks), ";"));
    source.tasks = source.tasks + tasks;
  }
  const Function whole{head(dialect.entry_qualifier, entry), braced(given, dialect, main.text()), calls};
  source.text = program(whole, dialect);
  if (!calls->functions().empty() && !calls_library(schedule))
    source.units = Units(units(whole), source.text);
  for (const auto& dim : given.dims()) source.dims.emplace_back(dim.name());
  return source;
}

}  // namespace luminal::codegen

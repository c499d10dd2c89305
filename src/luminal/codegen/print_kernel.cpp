#include "luminal/codegen/footprint.h"
#include "luminal/codegen/nest.h"
#include "luminal/codegen/source.h"
#include "luminal/kernel/merge_loops.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {
namespace {

std::string entry_text(const kernel::Kernel& kernel, const Dialect& dialect, std::string_view entry,
                       const std::string& body) {
  std::string text = cat(dialect.entry_qualifier, dialect.entry_qualifier.empty() ? "" : " ", "void ", entry,
                         "(i64 task, void* const* buffers, const i64* dims, void* scratch, i64* status) {\n"
                         "  (void)task; (void)buffers; (void)dims; (void)scratch; (void)status;\n");
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

}  // namespace

Source print_kernel(const kernel::Kernel& given, const Dialect& dialect, const Schedule& schedule,
                    std::string_view entry) {
  const kernel::Kernel kernel = kernel::merge_loops(given);
  const std::vector<Nest> nests = nests_of(kernel);
  if (schedule.nests.size() != nests.size())
    throw InternalError(cat("schedule: ", schedule.nests.size(), " nests for a kernel of ", nests.size()));
  Helpers helpers(dialect);
  Emitter emitter(kernel, dialect, helpers);
  Source source{
      .text = {}, .entry = std::string(entry), .tasks = Expr(0), .scratch_bytes = Expr(0), .dims = {}};
  for (std::size_t k = 0; k < nests.size(); ++k) {
    emitter.reset_scratch();
    emitter.open();
    print_nest(emitter, nests[k], schedule.nests[k]);
    const Expr tasks = task_count(kernel, nests[k], schedule.nests[k]);
    emitter.line("return;");
    emitter.close(cat("if (task < ", emitter.text(tasks), ")"));
    if (k + 1 < nests.size()) emitter.line(cat("task -= ", emitter.text(tasks), ";"));
    source.tasks = source.tasks + tasks;
    source.scratch_bytes = Expr::max(source.scratch_bytes, emitter.scratch_bytes());
  }
  source.text = entry_text(given, dialect, entry, emitter.text());
  source.text = helpers.preamble() + source.text;
  for (const auto& dim : given.dims()) source.dims.emplace_back(dim.name());
  return source;
}

}  // namespace luminal::codegen

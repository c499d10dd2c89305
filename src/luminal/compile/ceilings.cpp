#include "luminal/compile/ceilings.h"

#include <algorithm>
#include <vector>

#include "luminal/codegen/helpers.h"
#include "luminal/compile/stopwatch.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 28;
constexpr std::int64_t pieces = 64;

struct Words {
  std::string vector;
  std::string fma;
  std::string preamble;
};

int lanes_of(const runtime::Device& device) {
  return std::max(1, device.machine().vector_bytes / 4);
}

Words words_for(const runtime::Device& device, int lanes) {
  codegen::Helpers helpers(device.dialect());
  Words words;
  words.vector = helpers.type(DType::f32, lanes);
  helpers.use("core", DType::f32, lanes);
  words.fma = helpers.use("fma", DType::f32, lanes);
  words.preamble = helpers.preamble();
  return words;
}

codegen::Source program(const runtime::Device& device, const Words& words, const std::string& body) {
  codegen::Source source;
  source.entry = "luminal_ceiling";
  source.text = cat(words.preamble, device.dialect().entry_qualifier, " void luminal_ceiling(i64 task, ",
                    "void* const* buffers, const i64* dims, void* scratch, i64* status) {\n",
                    "  (void)task; (void)buffers; (void)dims; (void)scratch; (void)status;\n", body, "}\n");
  source.tasks = Expr(1);
  source.scratch_bytes = Expr(0);
  return source;
}

/// Sums a piece of memory with eight independent sums, several times.
std::string reading(const Words& words, int lanes, std::size_t bytes, int times) {
  const std::size_t each = bytes / 4;
  std::string body = cat("  const float* x = (const float*)buffers[0] + task * ", each, ";\n");
  for (int k = 0; k < 8; ++k) body += cat("  ", words.vector, " s", k, " = splat_", words.vector, "(0);\n");
  body += cat("  for (i64 t = 0; t < ", times, "; ++t)\n");
  body += cat("  for (i64 i = 0; i < ", each, "; i += ", 8 * lanes, ") {\n");
  for (int k = 0; k < 8; ++k)
    body += cat("    s", k, " = s", k, " + *(const ", words.vector, "*)(x + i + ", k * lanes, ");\n");
  body += cat("  }\n  *(", words.vector, "*)((float*)buffers[1] + task * ", lanes,
              ") = s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7;\n");
  return body;
}

/// Independent chains of multiply-adds in registers.
std::string multiplying(const Words& words, int lanes, int chains, std::int64_t steps) {
  std::string body = cat("  const ", words.vector, " a = *(const ", words.vector, "*)buffers[0];\n");
  for (int k = 0; k < chains; ++k) body += cat("  ", words.vector, " s", k, " = a * ", k, ".0f;\n");
  body += cat("  for (i64 i = 0; i < ", steps, "; ++i) {\n");
  for (int k = 0; k < chains; ++k) body += cat("    s", k, " = ", words.fma, "(a, s", k, ", a);\n");
  body += cat("  }\n  *(", words.vector, "*)((float*)buffers[1] + task * ", lanes, ") = s0");
  for (int k = 1; k < chains; ++k) body += cat(" + s", k);
  return body + ";\n";
}

/// One multiplication and one addition an element, from and to a piece that stays close.
std::string streaming(const Words& words, int lanes, std::int64_t elements, std::int64_t times) {
  return cat("  const float* x = (const float*)buffers[0] + task * ", elements, ";\n",
             "  float* y = (float*)buffers[1] + task * ", elements, ";\n", "  for (i64 t = 0; t < ", times,
             "; ++t) {\n    const ", words.vector, " f = splat_", words.vector, "((float)t);\n",
             "    for (i64 i = 0; i < ", elements, "; i += ", lanes, ")\n      *(", words.vector,
             "*)(y + i) = *(const ", words.vector, "*)(x + i) * f + *(const ", words.vector,
             "*)(y + i);\n  }\n");
}

/// Long enough that every worker takes a part.
constexpr const char* waking = "  volatile i64 n = 0; while (n < 300) n = n + 1;\n";

class Bench {
 public:
  explicit Bench(runtime::Device& device)
      : device_(device), from_(device.allocate(memory_bytes)), to_(device.allocate(memory_bytes / 64)) {
    const std::vector<std::byte> zeros(1 << 20);
    for (std::size_t at = 0; at < memory_bytes; at += zeros.size()) device.upload(*from_, at, zeros);
    for (std::size_t at = 0; at < memory_bytes / 64; at += zeros.size()) device.upload(*to_, at, zeros);
  }

  /// The shortest of several runs.
  double seconds(const codegen::Source& source, std::int64_t tasks, int runs = 7) {
    const auto programs = device_.compile(std::span(&source, 1), nullptr);
    void* const buffers[] = {from_->address(), to_->address()};
    std::int64_t status[4] = {0, 0, 0, 0};
    double best = -1;
    device_.settle();
    for (int run = 0; run < runs; ++run) {
      const Stopwatch watch;
      device_.run({programs[0].get(), buffers, {}, tasks, 0, status});
      const double taken = watch.seconds(1.0 / device_.machine().workers);
      if (run > 0 && (best < 0 || taken < best)) best = taken;
    }
    return best;
  }

 private:
  runtime::Device& device_;
  std::unique_ptr<runtime::Memory> from_;
  std::unique_ptr<runtime::Memory> to_;
};

}  // namespace

codegen::Source reading_program(const runtime::Device& device, std::size_t bytes, int times) {
  const int lanes = lanes_of(device);
  const Words words = words_for(device, lanes);
  return program(device, words, reading(words, lanes, bytes, times));
}

codegen::Source rewriting_program(const runtime::Device& device) {
  return program(device, words_for(device, lanes_of(device)),
                 "  u64* x = (u64*)buffers[0];\n"
                 "  const u64 nothing = *(const u64*)buffers[1];\n"
                 "  const i64 end = (task + 1) * dims[0] < dims[1] ? (task + 1) * dims[0] : dims[1];\n"
                 "  for (i64 i = task * dims[0]; i < end; ++i) x[i] = x[i] ^ nothing;\n");
}

search::MachineModel measure_ceilings(runtime::Device& device) {
  const codegen::Machine machine = device.machine();
  const int lanes = lanes_of(device);
  const Words words = words_for(device, lanes);
  const auto workers = static_cast<double>(machine.workers);
  search::MachineModel model;
  Bench bench(device);
  model.bandwidth = static_cast<double>(memory_bytes) /
                    bench.seconds(reading_program(device, memory_bytes / pieces, 1), pieces);
  // Each worker its own piece, again and again; never less than from memory.
  const auto again_and_again = [&](std::size_t bytes, int times) {
    return static_cast<double>(bytes) * times * workers /
           bench.seconds(reading_program(device, bytes, times), machine.workers, 12);
  };
  model.middle_bandwidth =
      std::max(model.bandwidth,
               again_and_again((16 << 20) / static_cast<std::size_t>(machine.workers) / 4096 * 4096, 4));
  model.cache_bandwidth = std::max(model.middle_bandwidth, again_and_again(1 << 17, 200));
  constexpr int chains = 12;
  constexpr std::int64_t steps = 100'000;
  model.contraction_rate =
      2.0 * lanes * chains * static_cast<double>(steps) * workers /
      bench.seconds(program(device, words, multiplying(words, lanes, chains, steps)), machine.workers, 12);
  constexpr std::int64_t elements = 2048;
  constexpr std::int64_t times = 2000;
  model.vector_rate =
      2.0 * static_cast<double>(elements * times) * workers /
      bench.seconds(program(device, words, streaming(words, lanes, elements, times)), machine.workers, 12);
  // Half of what waking all takes: a kernel rarely waits for the last.
  model.launch = std::max(
      5e-7, bench.seconds(program(device, words, waking), std::int64_t{4} * machine.workers, 200) / 2);
  model.workers = workers;
  return model;
}

search::MachineModel highest(const search::MachineModel& once, const search::MachineModel& again) {
  search::MachineModel model = once;
  for (const auto ceiling : {&search::MachineModel::bandwidth, &search::MachineModel::middle_bandwidth,
                             &search::MachineModel::cache_bandwidth, &search::MachineModel::contraction_rate,
                             &search::MachineModel::vector_rate})
    model.*ceiling = std::max(once.*ceiling, again.*ceiling);
  model.launch = std::min(once.launch, again.launch);
  return model;
}

}  // namespace luminal

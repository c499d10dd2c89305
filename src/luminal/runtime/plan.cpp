#include "luminal/runtime/plan.h"

#include <algorithm>
#include <set>

#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::runtime {
namespace {

constexpr std::size_t alignment = 64;

std::string buffers_text(const std::vector<BufferId>& ids) {
  std::string text;
  for (const auto id : ids) text += cat(text.empty() ? "" : ", ", "b", id.value());
  return text;
}

std::string step_text(const Plan& plan, const Step& step) {
  const std::string what =
      step.kernel ? cat("kernel ", *step.kernel, " (", plan.kernels[*step.kernel].family, ")") : step.name;
  return cat(buffers_text(step.outputs), step.outputs.empty() ? "" : " = ", what, "(",
             buffers_text(step.inputs), ")");
}

}  // namespace

std::string print(const Plan& plan) {
  std::string text;
  for (std::size_t k = 0; k < plan.buffers.size(); ++k) {
    const BufferInfo& b = plan.buffers[k];
    const std::string_view role = b.role == BufferInfo::Role::external ? "external"
                                  : b.role == BufferInfo::Role::loaded ? "loaded"
                                                                       : "intermediate";
    text += cat("buffer b", k, ": ", b.type.dtype, b.type.shape, " ", role, b.is_output ? " output" : "",
                b.name.empty() ? "" : " \"" + b.name + "\"", "\n");
  }
  for (const auto& check : plan.checks) text += cat("check ", check.holds, "\n");
  for (const auto& step : plan.load_steps) text += cat("load ", step_text(plan, step), "\n");
  for (const auto& step : plan.steps) text += cat("run ", step_text(plan, step), "\n");
  return text;
}

void verify(const Plan& plan) {
  std::set<BufferId> written;
  for (std::size_t k = 0; k < plan.buffers.size(); ++k)
    if (plan.buffers[k].role == BufferInfo::Role::external) written.insert(BufferId(k));
  for (const auto* steps : {&plan.load_steps, &plan.steps})
    for (const auto& step : *steps) {
      for (const auto input : step.inputs)
        if (!written.contains(input))
          throw InternalError(cat("plan: b", input.value(), " is read before it is written"), print(plan));
      for (const auto output : step.outputs) written.insert(output);
      if (!step.kernel) continue;
      const auto& kernel = plan.kernels[*step.kernel].kernel;
      if (kernel.inputs().size() != step.inputs.size() || kernel.outputs().size() != step.outputs.size())
        throw InternalError("plan: a kernel gets as many buffers as it has arrays", print(plan));
    }
}

MemoryPlan plan_memory(const Plan& plan, const DimMap& dims) {
  MemoryPlan result;
  const std::size_t count = plan.buffers.size();
  result.offsets.assign(count, 0);
  result.bytes.assign(count, 0);
  for (std::size_t k = 0; k < count; ++k) {
    const auto& type = plan.buffers[k].type;
    const auto sizes = type.shape.eval(dims);
    result.bytes[k] =
        static_cast<std::size_t>(byte_count(sizes, static_cast<std::int64_t>(byte_size(type.dtype))));
  }
  struct Life {
    std::size_t buffer;
    std::size_t first;
    std::size_t last;
  };
  constexpr std::size_t never = static_cast<std::size_t>(-1);
  std::vector<Life> lives(count);
  for (std::size_t k = 0; k < count; ++k) lives[k] = {k, never, 0};
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (const auto* ids : {&plan.steps[s].inputs, &plan.steps[s].outputs})
      for (const auto id : *ids) {
        Life& life = lives[id.index()];
        if (life.first == never) life.first = s;
        life.last = s;
      }
  }
  std::vector<Life> placed;
  std::vector<Life> waiting;
  for (std::size_t k = 0; k < count; ++k) {
    if (plan.buffers[k].role != BufferInfo::Role::intermediate || lives[k].first == never) continue;
    if (plan.buffers[k].is_output) lives[k].last = plan.steps.size();
    waiting.push_back(lives[k]);
  }
  std::stable_sort(waiting.begin(), waiting.end(), [&](const Life& a, const Life& b) {
    return result.bytes[a.buffer] > result.bytes[b.buffer];
  });
  for (const auto& life : waiting) {
    // The lowest gap among those that live at the same time.
    std::vector<std::pair<std::size_t, std::size_t>> taken;
    for (const auto& other : placed)
      if (other.first <= life.last && life.first <= other.last)
        taken.emplace_back(result.offsets[other.buffer],
                           result.offsets[other.buffer] + result.bytes[other.buffer]);
    std::sort(taken.begin(), taken.end());
    std::size_t at = 0;
    for (const auto& [begin, end] : taken) {
      if (at + result.bytes[life.buffer] <= begin) break;
      at = std::max(at, (end + alignment - 1) / alignment * alignment);
    }
    result.offsets[life.buffer] = at;
    result.arena = std::max(result.arena, at + result.bytes[life.buffer]);
    placed.push_back(life);
  }
  return result;
}

}  // namespace luminal::runtime

// The driver: compiling, stage by stage.
#include <chrono>

#include "luminal/compile/compile.h"
#include "luminal/compile/decision_text.h"
#include "luminal/compile/executable_data.h"
#include "luminal/compile/planner.h"
#include "luminal/compile/search_plan.h"
#include "luminal/compile/session_store.h"
#include "luminal/compile/timing_record.h"
#include "luminal/support/error.h"
#include "luminal/support/sha256.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::string decision_key(const Planner& planner, const CompileOptions& options) {
  std::string text = "decisions\n";
  if (options.mode == Mode::search)
    text += cat("search ", options.budget.count(), " ", options.candidates, "\n");
  return text + planner.text();
}

std::string record_key(const Planner& planner, const CompileOptions& options) {
  return "record\n" + decision_key(planner, options);
}

/// The timings that led to the decisions in the cache: their entry begins with the hash of these.
std::optional<TimingRecord> kept_record(Cache& cache, const Planner& planner, const CompileOptions& options) {
  const auto kept = cache.get(record_key(planner, options));
  const auto decisions = cache.get(decision_key(planner, options));
  if (!kept || !decisions || !kept->starts_with(sha256(*decisions) + "\n")) return std::nullopt;
  try {
    return TimingRecord::parse(std::string_view(*kept).substr(kept->find('\n') + 1));
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// From the cache if it has them; otherwise made.
Decisions decisions_for(Planner& planner, const CompileOptions& options, bool fresh, Cache* cache,
                        SessionStore& store, ExecutableData& data) {
  if (cache != nullptr && !fresh) {
    const auto start = std::chrono::steady_clock::now();
    const auto kept = cache->get(decision_key(planner, options));
    auto decisions = kept ? parse_decisions(*kept) : std::nullopt;
    report(planner.reports(), "cache",
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
           decisions ? "the decisions were there" : "");
    if (decisions) return std::move(*decisions);
  }
  Decisions decisions;
  if (options.mode == Mode::search) {
    decisions = search_plan(planner, options, store, data);
  } else {
    search::Roofline oracle;
    decisions = planner.decide(oracle);
  }
  return decisions;
}

/// Decisions as they were carried out: all kernels with their schedules and sources. Their text.
std::string keep(Cache& cache, const std::string& key, Decisions decisions, const runtime::Plan& plan) {
  for (const auto& kernel : plan.kernels) {
    if (kernel.is_given) continue;
    const std::string name = kernel::key(kernel.kernel);
    decisions.schedules.insert_or_assign(name, kernel.schedule);
    decisions.sources.insert_or_assign(name, kernel.source);
  }
  std::string content = text(decisions);
  cache.put(key, content);
  return content;
}

Compiled compiled(const Graph& graph, const std::shared_ptr<runtime::Device>& device,
                  const CompileOptions& options, const BucketChoice& buckets, Cache* cache,
                  ExecutableData& data) {
  Compiled result;
  Planner planner(graph.dag(), device, options, graph.dims(), buckets);
  SessionStore store(cache);
  const bool fresh = options.inspect || options.verify || options.record || options.replay;
  // A search's timings are kept beside its decisions: to show how it decided, it is replayed.
  CompileOptions recorded = options;
  TimingRecord timings;
  if (options.mode == Mode::search && options.record == nullptr) recorded.record = &timings;
  std::optional<TimingRecord> before;
  if (cache != nullptr && options.mode == Mode::search && options.inspect && !options.verify &&
      options.record == nullptr && options.replay == nullptr)
    before = kept_record(*cache, planner, options);
  if (before) recorded.replay = &*before;
  const Decisions decisions = decisions_for(planner, recorded, fresh, cache, store, data);
  result.search = std::move(data.search);
  if (options.inspect)
    for (const auto& [key, region] : decisions.regions) {
      options.inspect("rejected", region.rejected);
      options.inspect("derivation", region.derivation);
    }
  Assembled assembled = planner.assemble(decisions, data.sink());
  for (const auto& stage : planner.reports()) report(data.reports, stage.name, stage.seconds, stage.detail);
  const auto start = std::chrono::steady_clock::now();
  result.sources = std::move(assembled.sources);
  result.outputs = std::move(assembled.outputs);
  result.written = std::move(assembled.written);
  store.set_keeping(true);
  result.runner = std::make_unique<runtime::Runner>(
      device, std::make_shared<const runtime::Plan>(std::move(assembled.plan)), &store);
  // What an interrupted search came to is no answer to keep.
  const bool is_interrupted = options.mode == Mode::search && options.cancel != nullptr && *options.cancel;
  const bool special = options.verify || recorded.replay != nullptr || is_interrupted;
  if (cache != nullptr && decisions.sources.empty() && !special) {
    const std::string kept = keep(*cache, decision_key(planner, options), decisions, result.runner->plan());
    if (options.mode == Mode::search)
      cache->put(record_key(planner, options), cat(sha256(kept), "\n", recorded.record->text()));
  }
  report(data.reports, "load",
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return result;
}

}  // namespace

Executable compile(const Graph& graph, std::shared_ptr<runtime::Device> device, const CompileOptions& options,
                   Location where) {
  if (!device) throw Error("compile: no device", where);
  const std::shared_ptr<runtime::Device> target = std::move(device);
  auto data = std::make_shared<ExecutableData>(graph);
  data->choices = bucket_choices(options.buckets, graph.dag(), where);
  std::optional<Cache> cache;
  if (options.cache)
    cache.emplace(options.cache_directory.empty() ? Cache::default_directory()
                                                  : std::filesystem::path(options.cache_directory));
  CompileOptions each = options;
  each.budget = options.budget / static_cast<double>(data->choices.size());
  try {
    for (const auto& choice : data->choices)
      data->plans.push_back(compiled(graph, target, each, choice, cache ? &*cache : nullptr, *data));
  } catch (const InternalError& broken) {
    if (options.rules.empty()) throw;
    throw Error(cat("compile: the rules that were given lead to what can't be compiled: ", broken.what()),
                where);
  }
  if (data->choices.size() > 1) {
    try {
      data->chosen = choice_for(data->choices, data->values->dims, where);
    } catch (const Error&) {
      // The graph's dims are in no bucket: they may change before the first run.
    }
  }
  if (options.sink)
    for (const auto& stage : data->reports)
      options.sink(cat(stage.name, ": ", static_cast<std::int64_t>(stage.seconds * 1e6), " us",
                       stage.detail.empty() ? "" : " (" + stage.detail + ")"));
  return Executable(std::move(data));
}

}  // namespace luminal

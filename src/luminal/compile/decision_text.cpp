#include "luminal/compile/decision_text.h"

#include <bit>

#include "luminal/codegen/schedule_text.h"
#include "luminal/kernel/serial.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using kernel::Reader;
using kernel::Writer;
using Source = CompiledRegion::Source;
using RegionKernel = CompiledRegion::RegionKernel;

/// Text of several lines.
void write_block(Writer& out, std::string_view text) {
  std::int64_t lines = 0;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  out.number(lines);
  out.line(text);
}

std::string read_block(Reader& in) {
  std::string text;
  for (std::size_t left = in.count(); left > 0; --left) {
    text += in.line();
    text += '\n';
  }
  text += in.line();
  return text;
}

void write_place(Writer& out, const Source& place) {
  out.number(place.source ? 0 : 1);
  out.number(static_cast<std::int64_t>(place.source ? *place.source : *place.kernel));
  out.number(static_cast<std::int64_t>(place.output));
}

Source read_place(Reader& in) {
  Source place;
  const bool is_source = in.number() == 0;
  const auto number = static_cast<std::size_t>(in.number());
  (is_source ? place.source : place.kernel) = number;
  place.output = static_cast<std::size_t>(in.number());
  return place;
}

void write_kernel(Writer& out, const RegionKernel& kernel) {
  out.kernel(kernel.lowered.kernel);
  out.number(static_cast<std::int64_t>(kernel.lowered.checks.size()));
  for (const auto& [index, low, high, length, points] : kernel.lowered.checks)
    for (const auto* e : {&index, &low, &high, &length, &points}) out.expression(*e);
  out.number(static_cast<std::int64_t>(kernel.inputs.size()));
  for (const auto& input : kernel.inputs) write_place(out, input);
  out.number(static_cast<std::int64_t>(kernel.bases.size()));
  for (const auto& base : kernel.bases) {
    out.number(base ? 1 : 0);
    if (base) write_place(out, *base);
  }
  out.number(kernel.is_static ? 1 : 0);
  out.line(kernel.family);
  out.number(std::bit_cast<std::int64_t>(kernel.seconds));
}

RegionKernel read_kernel(Reader& in) {
  RegionKernel kernel;
  kernel.lowered.kernel = in.kernel();
  for (std::size_t n = in.count(); n > 0; --n) {
    rewriting::RangeCheck check;
    for (auto* e : {&check.index, &check.low, &check.high, &check.length, &check.points})
      *e = in.expression();
    kernel.lowered.checks.push_back(check);
  }
  for (std::size_t n = in.count(); n > 0; --n) kernel.inputs.push_back(read_place(in));
  for (std::size_t n = in.count(); n > 0; --n)
    kernel.bases.push_back(in.number() != 0 ? std::optional(read_place(in)) : std::nullopt);
  kernel.is_static = in.number() != 0;
  kernel.family = std::string(in.line());
  kernel.seconds = std::bit_cast<double>(in.number());
  return kernel;
}

void write_source(Writer& out, const codegen::Source& source) {
  write_block(out, source.text);
  out.line(source.entry);
  out.expression(source.tasks);
  out.expression(source.scratch_bytes);
  out.number(static_cast<std::int64_t>(source.dims.size()));
  for (const auto& dim : source.dims) out.line(dim);
}

codegen::Source read_source(Reader& in) {
  codegen::Source source;
  source.text = read_block(in);
  source.entry = std::string(in.line());
  source.tasks = in.expression();
  source.scratch_bytes = in.expression();
  for (std::size_t n = in.count(); n > 0; --n) source.dims.emplace_back(in.line());
  return source;
}

}  // namespace

std::string text(const Decisions& decisions) {
  Writer out;
  out.number(static_cast<std::int64_t>(decisions.regions.size()));
  for (const auto& [key, region] : decisions.regions) {
    write_block(out, key);
    out.number(static_cast<std::int64_t>(region.kernels.size()));
    for (const auto& kernel : region.kernels) write_kernel(out, kernel);
    out.number(static_cast<std::int64_t>(region.wanted.size()));
    for (const auto& place : region.wanted) write_place(out, place);
  }
  out.number(static_cast<std::int64_t>(decisions.schedules.size()));
  for (const auto& [key, schedule] : decisions.schedules) {
    write_block(out, key);
    out.line(codegen::text(schedule));
  }
  out.number(static_cast<std::int64_t>(decisions.sources.size()));
  for (const auto& [key, source] : decisions.sources) {
    write_block(out, key);
    write_source(out, source);
  }
  return out.take();
}

std::optional<Decisions> parse_decisions(std::string_view text) {
  try {
    Reader in(text);
    Decisions decisions;
    for (std::size_t n = in.count(); n > 0; --n) {
      CompiledRegion& region = decisions.regions[read_block(in)];
      for (std::size_t k = in.count(); k > 0; --k) region.kernels.push_back(read_kernel(in));
      for (std::size_t k = in.count(); k > 0; --k) region.wanted.push_back(read_place(in));
    }
    for (std::size_t n = in.count(); n > 0; --n) {
      const std::string key = read_block(in);
      decisions.schedules.emplace(key, codegen::parse_schedule(in.line()));
    }
    for (std::size_t n = in.count(); n > 0; --n) {
      const std::string key = read_block(in);
      decisions.sources.emplace(key, read_source(in));
    }
    if (!in.at_end()) return std::nullopt;
    return decisions;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace luminal

#include "luminal/kernel/kernel.h"
#include "luminal/support/text.h"

namespace luminal::kernel {
namespace {

std::string ids(const std::vector<ValueId>& values) {
  std::string text;
  for (const auto id : values) text += cat(text.empty() ? "" : ", ", "v", id.value());
  return text;
}

std::string scalar_text(const Scalar& value) {
  return to_number(value).text();
}

struct Describe {
  std::string operator()(const value::Load& v) const {
    return cat("load %", v.input, "[", join(v.index), "]");
  }
  std::string operator()(const value::Constant& v) const { return cat("constant ", scalar_text(v.value)); }
  std::string operator()(const value::Index& v) const { return cat("index ", v.value); }
  std::string operator()(const value::Map& v) const { return cat(v.op, " ", ids(v.arguments)); }
  std::string operator()(const value::Guard& v) const {
    std::string text = "guard";
    for (const auto& c : v.conditions) text += cat(" (", c.valid, " else ", scalar_text(c.fill), ")");
    return cat(text, " v", v.argument.value());
  }
  std::string operator()(const value::Reduce& v) const {
    std::string loops;
    for (const auto loop : v.loops) loops += cat(loops.empty() ? "" : ", ", "i", loop.value());
    return cat(name(v.monoid), " over ", loops.empty() ? "nothing" : loops, " of ", ids(v.arguments));
  }
  std::string operator()(const value::Position& v) const {
    return cat("position v", v.argument.value(), " below ", v.length);
  }
  std::string operator()(const value::Random& v) const {
    return cat("random key v", v.key.value(), " stream ", v.stream, " word ", v.position);
  }
  std::string operator()(const value::Scan& v) const {
    return cat("scan ", name(v.monoid), " along i", v.loop.value(), " of v", v.argument.value());
  }
};

std::string arrays_text(const std::vector<ArrayType>& arrays, std::string_view prefix) {
  std::string text;
  for (std::size_t k = 0; k < arrays.size(); ++k)
    text += cat(k == 0 ? "" : ", ", prefix, k, ": ", arrays[k].dtype, arrays[k].shape);
  return text;
}

}  // namespace

std::string print(const Kernel& kernel) {
  std::string text = cat("kernel (", arrays_text(kernel.inputs(), "%"), ") -> (",
                         arrays_text(kernel.outputs(), "out"), ")\n");
  for (std::size_t k = 0; k < kernel.loops().size(); ++k)
    text += cat("  loop i", k, " < ", kernel.loops()[k].extent, "\n");
  for (std::size_t k = 0; k < kernel.values().size(); ++k) {
    const Value& v = kernel.values()[k];
    text += cat("  v", k, ": ", v.dtype, " = ", std::visit(Describe{}, v.kind), "\n");
  }
  for (const auto& store : kernel.stores()) {
    std::string domain;
    for (const auto loop : store.domain) domain += cat(domain.empty() ? "" : ", ", "i", loop.value());
    text +=
        cat("  ", store.mode == Store::Mode::add ? "add" : "store", " out", store.output, "[",
            join(store.index), "] = v", store.value.value(), " for ", domain.empty() ? "once" : domain, "\n");
  }
  return text;
}

std::string key(const Kernel& kernel) {
  return print(kernel);
}

}  // namespace luminal::kernel

#include <algorithm>

#include "luminal/codegen/emit.h"
#include "luminal/codegen/spell.h"
#include "luminal/codegen/strides.h"
#include "luminal/kernel/structure.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::ValueId;
namespace value = kernel::value;

Operand Emitter::compute(ValueId id) {
  const kernel::Value& v = kernel_.value(id);
  if (const auto* load = v.try_get<value::Load>()) return compute_load(id, *load);
  if (const auto* constant = v.try_get<value::Constant>()) return {spell_constant(constant->value), false};
  if (const auto* index = v.try_get<value::Index>()) return compute_index(id, *index);
  if (const auto* map = v.try_get<value::Map>()) return compute_map(id, *map);
  if (const auto* guard = v.try_get<value::Guard>()) return compute_guard(id, *guard);
  if (const auto* position = v.try_get<value::Position>()) return compute_position(id, *position);
  if (const auto* random = v.try_get<value::Random>()) return compute_random(id, *random);
  if (v.try_get<value::Reduce>() != nullptr) {
    sweep({id});
    return scope_->values.at(id);
  }
  throw InternalError("codegen: a scan is not the value of a store", kernel::print(kernel_));
}

std::string Emitter::load_text(const std::string& pointer, DType stored, const Expr& offset, bool lanes,
                               const std::string& mask, const std::string& result, const Expr& count) {
  const std::string place = text(offset);
  if (!lanes) {
    if (mask.empty()) return cat(pointer, "[", place, "]");
    return cat("(", helpers_.use("any", DType::u8, lanes_), "(", mask, ") ? ", pointer, "[", place, "] : (",
               stored, ")0)");
  }
  const std::string type = helpers_.type(stored, lanes_);
  const auto along = step(offset, vector_loop());
  const bool contiguous = along && *along == Expr(1);
  std::string whole = cat("*(const ", type, "_u*)(", pointer, " + ", place, ")");
  if (contiguous && mask.empty()) return whole;
  line(cat(type, " ", result, ";"));
  const std::string element = cat(pointer, "[", place, "]");
  const std::string each = mask.empty() ? cat(result, "[l] = ", element, ";")
                                        : cat(result, "[l] = ", mask, "[l] ? ", element, " : 0;");
  if (contiguous) {
    // Lanes that are not valid may be read where the array has something.
    line(cat("if (", place, " >= 0 && ", place, " + ", lanes_, " <= ", text(count), ") ", result, " = ",
             whole, ";"));
    line("else");
  }
  each_lane({offset}, each);
  return result;
}

Operand Emitter::compute_load(ValueId id, const value::Load& load) {
  const kernel::ArrayType& type = kernel_.inputs()[load.input];
  const bool lanes = is_lanes(id);
  const std::string stored =
      load_text(cat("in", load.input), storage_dtype(type.dtype), flat_index(load.index, type.shape), lanes,
                is_unsafe(id) ? mask() : "", fresh("t"), type.shape.element_count());
  return declare(id, spell_unpack(helpers_, type.dtype, stored, width(lanes)), lanes);
}

Operand Emitter::read_array(ValueId id, const Array& array) {
  const DType held = register_dtype(kernel_.value(id).dtype);
  std::vector<Expr> index;
  std::vector<Expr> dims;
  for (const auto axis : array.axes) {
    index.push_back(kernel_.variable(axis));
    dims.push_back(kernel_.loop(axis).extent);
  }
  const Expr offset = flat_index(index, Shape(dims));
  if (array.lanes) return declare(id, cat(array.name, "[", text(offset), "]"), true);
  const bool lanes = is_lanes(id);
  return declare(id, load_text(array.name, held, offset, lanes, "", fresh("t"), Expr(0)), lanes);
}

Operand Emitter::compute_index(ValueId id, const value::Index& index) {
  const DType dtype = kernel_.value(id).dtype;
  const std::string place = text(index.value);
  if (!is_lanes(id))
    return declare(id, spell_cast(helpers_, DType::i64, dtype, cat("(i64)", place), 1), false);
  const std::string numbers = fresh("t");
  const std::string type = helpers_.type(DType::i64, lanes_);
  const auto along = step(index.value, vector_loop());
  if (along) {
    std::string lane_numbers;
    for (int lane = 0; lane < lanes_; ++lane) lane_numbers += cat(lane == 0 ? "" : ", ", lane);
    line(cat("const ", type, " ", numbers, " = ", splat({cat("(i64)", place), false}, DType::i64), " + (",
             type, "){", lane_numbers, "} * ", splat({cat("(i64)", text(*along)), false}, DType::i64), ";"));
  } else {
    line(cat(type, " ", numbers, ";"));
    each_lane({index.value}, cat(numbers, "[l] = ", place, ";"));
  }
  return declare(id, spell_cast(helpers_, DType::i64, dtype, numbers, lanes_), true);
}

Operand Emitter::compute_map(ValueId id, const value::Map& map) {
  const kernel::Value& v = kernel_.value(id);
  std::vector<Operand> operands;
  bool lanes = false;
  for (const auto argument : map.arguments) {
    operands.push_back(value(argument));
    lanes = lanes || operands.back().lanes;
  }
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < operands.size(); ++k)
    texts.push_back(lanes ? splat(operands[k], register_dtype(kernel_.value(map.arguments[k]).dtype))
                          : operands[k].text);
  const DType first = kernel_.value(map.arguments.front()).dtype;
  const int wide = width(lanes);
  if (map.op == Op::cast) return declare(id, spell_cast(helpers_, first, v.dtype, texts[0], wide), lanes);
  if (map.op == Op::bitcast)
    return declare(id, spell_bitcast(helpers_, first, v.dtype, texts[0], wide), lanes);
  if (map.op == Op::select) {
    if (lanes && !operands[0].lanes)
      return declare(id, cat(operands[0].text, " ? ", texts[1], " : ", texts[2]), lanes);
    return declare(id, spell_op(helpers_, map.op, v.dtype, texts, wide), lanes);
  }
  return declare(id, spell_op(helpers_, map.op, first, texts, wide), lanes);
}

/// A condition made of comparisons that are linear along the vector loop, as a bool vector.
std::optional<std::string> Emitter::lanes_condition(const Expr& valid) {
  if (valid.kind() == Expr::Kind::logical_and) {
    const auto operands = valid.operands();
    const auto first = lanes_condition(operands[0]);
    const auto second = first ? lanes_condition(operands[1]) : std::nullopt;
    if (!second) return std::nullopt;
    return cat("(", *first, " & ", *second, ")");
  }
  if (!is_lanes(kernel_.free_of(valid)))
    return splat({cat("((u8)(", text(valid), " != 0))"), false}, DType::u8);
  if (valid.kind() != Expr::Kind::less && valid.kind() != Expr::Kind::less_equal) return std::nullopt;
  const auto operands = valid.operands();
  const Expr gap = operands[1] - operands[0] - Expr(valid.kind() == Expr::Kind::less ? 1 : 0);
  const auto along = step(gap, vector_loop());
  const auto by = along ? along->constant_value() : std::nullopt;
  constexpr std::int64_t far = 1 << 28;  // beyond it no lane changes the answer
  if (!by || std::abs(*by) > 1 << 20) return std::nullopt;
  const std::string type = helpers_.type(DType::i32, lanes_);
  const std::string start = fresh("t");
  line(cat("const i64 ", start, " = ", text(gap), ";"));
  const std::string clamped = cat("(i32_t)(", start, " > ", far, " ? ", far, " : ", start, " < ", -far, " ? ",
                                  -far, " : ", start, ")");
  std::string steps;
  for (int lane = 0; lane < lanes_; ++lane) steps += cat(lane == 0 ? "" : ", ", *by * lane);
  return cat(helpers_.use("truth", DType::i32, lanes_), "((", helpers_.type(DType::u32, lanes_), ")(",
             splat({clamped, false}, DType::i32), " + (", type, "){", steps, "} >= 0))");
}

Operand Emitter::compute_guard(ValueId id, const value::Guard& guard) {
  const kernel::Value& v = kernel_.value(id);
  const DType held = register_dtype(v.dtype);
  const bool lanes = is_lanes(id);
  const std::string type = helpers_.type(held, width(lanes));
  const std::string name = fresh(cat("v", id.value(), "_"));
  const auto fill = [&](const Scalar& scalar) {
    const Operand constant{spell_constant(scalar), false};
    return lanes ? splat(constant, held) : constant.text;
  };
  bool by_lane = false;
  std::vector<std::string> conditions;
  for (const auto& condition : guard.conditions) {
    conditions.push_back(text(condition.valid));
    by_lane = by_lane || is_lanes(kernel_.free_of(condition.valid));
  }
  line(cat(type, " ", name, ";"));
  if (!by_lane) {
    std::string header;  // one line: values that need no guard may be printed before it
    for (std::size_t k = 0; k < conditions.size(); ++k)
      header += cat("if (!", conditions[k], ") ", name, " = ", fill(guard.conditions[k].fill), "; else ");
    open().guards = true;
    const std::string argument = value(guard.argument, lanes);
    line(cat(name, " = ", argument, ";"));
    close(header);
    return {name, lanes};
  }
  // One mask a condition, each within those before: a lane takes the fill of the first that fails.
  std::vector<std::string> masks;
  for (std::size_t k = 0; k < conditions.size(); ++k) {
    const std::string outer = k == 0 ? mask() : masks.back();
    masks.push_back(fresh("m"));
    if (const auto test = lanes_condition(guard.conditions[k].valid)) {
      line(cat("const ", helpers_.type(DType::u8, lanes_), " ", masks.back(), " = ", *test,
               outer.empty() ? "" : cat(" & ", outer), ";"));
      continue;
    }
    line(cat(helpers_.type(DType::u8, lanes_), " ", masks.back(), ";"));
    each_lane({guard.conditions[k].valid}, cat(masks.back(), "[l] = (u8)(", conditions[k], " != 0",
                                               outer.empty() ? "" : cat(" && ", outer, "[l]"), ");"));
  }
  Scope& inner = open();
  inner.guards = true;
  inner.mask = masks.back();
  const std::string argument = value(guard.argument, true);
  line(cat(name, " = ", argument, ";"));
  for (std::size_t k = masks.size(); k-- > 0;)
    line(
        cat(name, " = ",
            spell_op(helpers_, Op::select, v.dtype, {masks[k], name, fill(guard.conditions[k].fill)}, lanes_),
            ";"));
  close("");
  return {name, true};
}

Operand Emitter::compute_position(ValueId id, const value::Position& position) {
  const DType dtype = kernel_.value(position.argument).dtype;
  const Operand argument = value(position.argument);
  const std::string length = text(position.length);
  const std::string name = cat("i", kernel::position_base + id.index());
  const std::string place = helpers_.use("luminal_place");
  const std::string lanes_mask = mask();
  const auto call = [&](const std::string& at) {
    return cat(place, "(", spell_cast(helpers_, dtype, DType::i64, at, 1), ", ", length, ", ", id.value(),
               ", status)");
  };
  if (!prove_lt(Expr(0), position.length)) {
    const std::string when =
        lanes_mask.empty() ? "" : cat(" && ", helpers_.use("any", DType::u8, lanes_), "(", lanes_mask, ")");
    line(cat("if (", length, " <= 0", when, ") { status[1] = ", id.value(),
             ", status[2] = 0, status[3] = 0, status[0] = 1; return; }"));
  }
  if (!argument.lanes) {
    const std::string when =
        lanes_mask.empty() ? "" : cat(helpers_.use("any", DType::u8, lanes_), "(", lanes_mask, ") ? ");
    line(cat("const i64 ", name, " = ", when, call(argument.text), when.empty() ? "" : " : 0", ";"));
    return {name, false};
  }
  line(cat(helpers_.type(DType::i64, lanes_), " ", name, "_v;"));
  const std::string when = lanes_mask.empty() ? "" : cat(lanes_mask, "[l] ? ");
  each_lane({},
            cat(name, "_v[l] = ", when, call(cat(argument.text, "[l]")), when.empty() ? "" : " : 0", ";"));
  return {cat(name, "_v"), true};
}

Operand Emitter::compute_random(ValueId id, const value::Random& random) {
  const Operand key = value(random.key);
  const std::string position = text(random.position);
  const std::string function = helpers_.use("luminal_philox");
  const auto call = [&](const std::string& of) {
    return cat(function, "((u64)", of, ", ", random.stream, "u, (u64)", position, ")");
  };
  if (!is_lanes(id)) return declare(id, call(key.text), false);
  const std::string numbers = fresh("t");
  line(cat(helpers_.type(DType::u32, lanes_), " ", numbers, ";"));
  each_lane({random.position}, cat(numbers, "[l] = ", call(key.lanes ? key.text + "[l]" : key.text), ";"));
  return {numbers, true};
}

void Emitter::store(const kernel::Store& store) {
  const kernel::ArrayType& type = kernel_.outputs()[store.output];
  const Expr offset = flat_index(store.index, type.shape);
  const std::string place = text(offset);
  const std::string pointer = cat("out", store.output);
  const DType stored = storage_dtype(type.dtype);
  const bool lanes = is_lanes(kernel_.free_of(offset)) || is_lanes(store.value);
  std::string result = value(store.value, lanes);
  const auto along = lanes ? step(offset, vector_loop()) : std::nullopt;
  const bool contiguous = along && *along == Expr(1);
  const std::string vector = helpers_.type(stored, width(lanes));
  const std::string whole = cat("*(", vector, "_u*)(", pointer, " + ", place, ")");
  const std::string element = cat(pointer, "[", place, "]");
  if (store.mode == kernel::Store::Mode::add) {
    ensure(!lanes || contiguous, "a store that adds has lanes only where they are neighbours");
    const std::string old = spell_unpack(helpers_, type.dtype, lanes ? whole : element, width(lanes));
    result = spell_op(helpers_, Op::add, type.dtype, {old, result}, width(lanes));
  }
  result = spell_pack(helpers_, type.dtype, result, width(lanes));
  if (!lanes || contiguous) {
    line(cat(lanes ? whole : element, " = ", result, ";"));
    return;
  }
  const std::string kept = fresh("t");
  line(cat("const ", vector, " ", kept, " = ", result, ";"));
  each_lane({offset}, cat(element, " = ", kept, "[l];"));
}

}  // namespace luminal::codegen

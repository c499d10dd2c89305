#pragma once
#include <string>
#include <vector>

#include "luminal/codegen/helpers.h"
#include "luminal/kernel/kernel.h"
#include "luminal/op/scalar.h"

/// How element-wise meaning is spelled: expressions on register values, of one lane or several. A register
/// holds a small float as the f32 of the same value, and a bool as 0 or 1.
namespace luminal::codegen {

/// A constant of this dtype, of one lane.
std::string spell_constant(const Scalar& value);

/// An element-wise op on operands of `dtype`, already of `lanes` lanes each (select's first is a bool). The
/// result is rounded to the dtype.
std::string spell_op(Helpers& helpers, Op op, DType dtype, const std::vector<std::string>& arguments,
                     int lanes);

/// A conversion by the rules of `convert`.
std::string spell_cast(Helpers& helpers, DType from, DType to, const std::string& argument, int lanes);
std::string spell_bitcast(Helpers& helpers, DType from, DType to, const std::string& argument, int lanes);

/// A value of the compute dtype (as accumulators have), rounded to `dtype`.
std::string spell_round(Helpers& helpers, DType dtype, const std::string& argument, int lanes);

/// Between registers and memory.
std::string spell_unpack(Helpers& helpers, DType dtype, const std::string& stored, int lanes);
std::string spell_pack(Helpers& helpers, DType dtype, const std::string& value, int lanes);

/// One step of a monoid that is a binary op (sum, max, prod) on accumulators of `dtype`'s compute dtype.
std::string spell_combine(Helpers& helpers, kernel::Monoid monoid, DType dtype, const std::string& a,
                          const std::string& b, int lanes);
/// The monoid's neutral element, in the compute dtype.
Scalar neutral_of(kernel::Monoid monoid, DType dtype);

}  // namespace luminal::codegen

#pragma once
#include <optional>

#include "luminal/codegen/contract.h"

/// Matrix products as calls of a BLAS library: gemm, for each block of the result that a schedule names.
namespace luminal::codegen {

/// A matrix in memory: element (r, c) at offset + r·stride + c, or if `turned` at offset + r + c·stride.
/// Lines do not overlap: the stride is at least their length.
struct Matrix {
  Expr offset;
  Expr stride;
  bool turned = false;
};

/// result[r, c] = Σ left[r, k]·right[k, c], of f32 or f64, for every point of the batch; rows, columns and
/// batch as `contractions_of` has them.
struct LibraryCall {
  DType dtype = DType::f32;
  Expr depth;
  std::uint32_t left_input = 0;
  std::uint32_t right_input = 0;
  std::uint32_t output = 0;
  Matrix left;
  Matrix right;
  Matrix result;
};

/// The call that computes a nest; nullopt where there is none: where factors are not read as they lie, or
/// the sums not stored as they are, at places and in sizes that BLAS has.
std::optional<LibraryCall> library_call(const kernel::Kernel& kernel, const Nest& nest);

/// A range [begin, end) of flat rows or columns; both are names in the program.
struct Part {
  std::string begin;
  std::string end;
};
/// Prints the call for a block, into a block that binds the batch's loops.
void print_library_call(Emitter& emitter, const LibraryCall& call, const Part& rows, const Part& columns);

}  // namespace luminal::codegen

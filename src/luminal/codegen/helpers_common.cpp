#include "luminal/codegen/helper_tables.h"

namespace luminal::codegen {
namespace {

constexpr HelperText table[] = {
    // c = a·b, of m × n, m × k and k × n elements: (r, c) at r·step + c, or where turned at r + c·step.
    // Whoever
    // loads the program sets the variable to cblas_sgemm or cblas_dgemm, which count with ints; what they
    // cannot count, and empty sums, are done here. BLAS' 101 and 102 are the result's order,
    // 111 and 112 say whether a factor has that order too.
    {"gemm", "",
     R"(void (*luminal_blas_$T)(int, int, int, int, int, int, $T, const $T*, int, const $T*, int, $T, $T*, int);
static void gemm_$T(i64 m, i64 n, i64 k, int a_turned, const $T* a, i64 a_step, int b_turned, const $T* b,
                    i64 b_step, int c_turned, $T* c, i64 c_step) {
  const i64 most = 0x7fffffff;
  if (k > 0 && m <= most && n <= most && k <= most && a_step <= most && b_step <= most && c_step <= most) {
    luminal_blas_$T(c_turned ? 102 : 101, a_turned == c_turned ? 111 : 112, b_turned == c_turned ? 111 : 112,
                    (int)m, (int)n, (int)k, 1, a, (int)a_step, b, (int)b_step, 0, c, (int)c_step);
    return;
  }
  const i64 a_row = a_turned ? 1 : a_step, a_term = a_turned ? a_step : 1;
  const i64 b_term = b_turned ? 1 : b_step, b_column = b_turned ? b_step : 1;
  const i64 c_row = c_turned ? 1 : c_step, c_column = c_turned ? c_step : 1;
  for (i64 r = 0; r < m; ++r)
    for (i64 j = 0; j < n; ++j) {
      $T sum = 0;
      for (i64 t = 0; t < k; ++t) sum += a[r * a_row + t * a_term] * b[t * b_term + j * b_column];
      c[r * c_row + j * c_column] = sum;
    }
}
)"},
    // NaN if either is, and +0 of the two zeros: equal values have equal bits but for the zeros' sign.
    {"max", "core", R"($Q $T max_$T($T a, $T b) {
  const $U less = MASK_$T(a < b), same = MASK_$T(a == b), none = MASK_$T((a != a) | (b != b));
  const $U x = bits_$T(a), y = bits_$T(b);
  const $U larger = (less & y) | (~less & ((same & x & y) | (~same & x)));
  return real_$T((none & bits_$T(a + b)) | (~none & larger));
}
)"},
    // The factor of soft sums: exp(m - top), and 0 where m is -inf.
    {"scale", "core exp2", R"($Q $T scale_$T($T m, $T top) {
  const $U none = MASK_$T(m == -__builtin_inf$W());
  return real_$T(~none & bits_$T(exp2_$T((m - top) * ($E)1.4426950408889634074)));
}
)"},
    {"unless_empty", "core", R"($Q $T unless_empty_$T($T x, $T top) {
  return real_$T(~MASK_$T(top == -__builtin_inf$W()) & bits_$T(x));
}
)"},
    {"imax", "core", R"($Q $T imax_$T($T a, $T b) {
  const $U less = MASK_$T(a < b);
  return ($T)((less & ($U)b) | (~less & ($U)a));
}
)"},

    // f32 to the bits of a float with few exponent bits: normal values by rounding the mantissa in place,
    // smaller
    // ones by adding a number whose last bit is worth as much as theirs.
    {"pack_small", "core",
     R"($Q $U pack_small_$T($T x, u32 sign, u32 shift, u32 rebias, f32 magic, u32 least, u32 top, u32 nan) {
  const $U u = bits_$T(x), a = u & 0x7fffffffu;
  const $U rounded = (a - (rebias << 23) + ((1u << (shift - 1)) - 1) + ((a >> shift) & 1)) >> shift;
  const $U high = MASK_$T(rounded > top), low = MASK_$T(a < least), bad = MASK_$T(a > 0x7f800000u);
  const $U normal = (high & top) | (~high & rounded);
  const $U small = bits_$T(real_$T(a) + magic) - bits_$T(splat_$T(magic));
  const $U finite = (low & small) | (~low & normal);
  return (bad & nan) | (~bad & (finite | ((u >> 31) << sign)));
}
)"},
    {"unpack_small", "core",
     R"($Q $T unpack_small_$T($U h, u32 place, u32 shift, u32 rebias, f32 unit, u32 inf, u32 nan) {
  const $U sign = (h >> place) << 31, m = h & ((1u << place) - 1);
  const $U low = MASK_$T(m < (1u << (23 - shift))), endless = MASK_$T(m == inf), bad = MASK_$T(m >= nan);
  const $U normal = (m << shift) + (rebias << 23);
  const $U finite = (low & bits_$T($C(m, $T) * unit)) | (~low & normal);
  const $U number = (endless & 0x7f800000u) | (~endless & finite);
  return real_$T((bad & 0x7fc00000u) | (~bad & (number | sign)));
}
)"},
    {"pack_f16", "pack_small",
     "$Q u16$X pack_f16_$T($T x) { return $C(pack_small_$T(x, 15, 13, 112, 0.5f, 0x38800000u, 0x7c00u, "
     "0x7e00u), "
     "u16$X); }\n"},
    {"unpack_f16", "unpack_small",
     "$Q $T unpack_f16_$T(u16$X h) { return unpack_small_$T($C(h, $U), 15, 13, 112, 0x1p-24f, 0x7c00u, "
     "0x7c01u); "
     "}\n"},
    {"pack_f8e5m2", "pack_small",
     "$Q u8$X pack_f8e5m2_$T($T x) { return $C(pack_small_$T(x, 7, 21, 112, 128.0f, 0x38800000u, 0x7cu, "
     "0x7eu), "
     "u8$X); }\n"},
    {"unpack_f8e5m2", "unpack_small",
     "$Q $T unpack_f8e5m2_$T(u8$X h) { return unpack_small_$T($C(h, $U), 7, 21, 112, 0x1p-16f, 0x7cu, "
     "0x7du); "
     "}\n"},
    {"pack_f8e4m3", "pack_small",
     "$Q u8$X pack_f8e4m3_$T($T x) { return $C(pack_small_$T(x, 7, 20, 120, 16384.0f, 0x3c800000u, 0x7fu, "
     "0x7fu), u8$X); }\n"},
    {"unpack_f8e4m3", "unpack_small",
     "$Q $T unpack_f8e4m3_$T(u8$X h) { return unpack_small_$T($C(h, $U), 7, 20, 120, 0x1p-9f, 0xffffu, "
     "0x7fu); "
     "}\n"},
    {"pack_bf16", "core", R"($Q u16$X pack_bf16_$T($T x) {
  const $U u = bits_$T(x), bad = MASK_$T(x != x);
  const $U rounded = (u + 0x7fffu + ((u >> 16) & 1)) >> 16;
  return $C((bad & 0x7fc0u) | (~bad & rounded), u16$X);
}
)"},
    {"unpack_bf16", "core", "$Q $T unpack_bf16_$T(u16$X h) { return real_$T($C(h, $U) << 16); }\n"},
    {"round_f16", "pack_f16 unpack_f16",
     "$Q $T round_f16_$T($T x) { return unpack_f16_$T(pack_f16_$T(x)); }\n"},
    {"round_bf16", "core", R"($Q $T round_bf16_$T($T x) {
  const $U u = bits_$T(x), bad = MASK_$T(x != x);
  return real_$T((bad & 0x7fc00000u) | (~bad & ((u + 0x7fffu + ((u >> 16) & 1)) & 0xffff0000u)));
}
)"},
    {"round_f8e4m3", "pack_f8e4m3 unpack_f8e4m3",
     "$Q $T round_f8e4m3_$T($T x) { return unpack_f8e4m3_$T(pack_f8e4m3_$T(x)); }\n"},
    {"round_f8e5m2", "pack_f8e5m2 unpack_f8e5m2",
     "$Q $T round_f8e5m2_$T($T x) { return unpack_f8e5m2_$T(pack_f8e5m2_$T(x)); }\n"},
};

}  // namespace

std::span<const HelperText> common_helpers() {
  return table;
}

}  // namespace luminal::codegen

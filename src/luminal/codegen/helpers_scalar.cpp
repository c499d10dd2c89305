#include "luminal/codegen/helper_tables.h"

namespace luminal::codegen {
namespace {

// f32 functions compute in f64 and round, as the oracle does.
constexpr HelperText table[] = {
    {"core", "", R"(#define MASK_$T(c) (($U)0 - ($U)(c))
$Q $U bits_$T($T x) { $U r; __builtin_memcpy(&r, &x, sizeof r); return r; }
$Q $T real_$T($U x) { $T r; __builtin_memcpy(&r, &x, sizeof r); return r; }
$Q $T splat_$T($E x) { return x; }
)"},
    {"truth", "core", "$Q $B truth_$T($U m) { return (u8)(m & 1); }\n"},
    {"mask", "core", "$Q $U mask_$T($B c) { return MASK_$T(c != 0); }\n"},
    {"select", "core", "$Q $T select_$T($B c, $T a, $T b) { return c ? a : b; }\n"},
    {"any", "", "$Q int any_$T($T x) { return x != 0; }\n"},
    {"all", "", "$Q int all_$T($T x) { return x != 0; }\n"},

    {"sqrt", "", "$Q $T sqrt_$T($T x) { return __builtin_sqrt$W(x); }\n"},
    {"floor", "", "$Q $T floor_$T($T x) { return __builtin_floor$W(x); }\n"},
    {"round", "", "$Q $T round_$T($T x) { return __builtin_rint$W(x); }\n"},
    {"trunc", "", "$Q $T trunc_$T($T x) { return __builtin_trunc$W(x); }\n"},
    {"fma", "", R"(#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
$Q $T fma_$T($T a, $T b, $T c) { return __builtin_fma$W(a, b, c); }
#else
$Q $T fma_$T($T a, $T b, $T c) { return a * b + c; }
#endif
)"},
    {"exp2", "", "double exp2(double);\n$Q $T exp2_$T($T x) { return ($T)exp2((double)x); }\n"},
    {"log2", "", "double log2(double);\n$Q $T log2_$T($T x) { return ($T)log2((double)x); }\n"},
    {"sin", "", "double sin(double);\n$Q $T sin_$T($T x) { return ($T)sin((double)x); }\n"},
    {"cos", "", "double cos(double);\n$Q $T cos_$T($T x) { return ($T)cos((double)x); }\n"},
    {"atan", "", "double atan(double);\n$Q $T atan_$T($T x) { return ($T)atan((double)x); }\n"},
    {"erf", "", "double erf(double);\n$Q $T erf_$T($T x) { return ($T)erf((double)x); }\n"},
    {"log1p", "", "double log1p(double);\n$Q $T log1p_$T($T x) { return ($T)log1p((double)x); }\n"},
    {"expm1", "", "double expm1(double);\n$Q $T expm1_$T($T x) { return ($T)expm1((double)x); }\n"},
    {"pow", "",
     "double pow(double, double);\n$Q $T pow_$T($T a, $T b) { return ($T)pow((double)a, (double)b); }\n"},
    // Exact in f64 too, and so the same for f32.
    {"fmod", "",
     "double fmod(double, double);\n$Q $T fmod_$T($T a, $T b) { return ($T)fmod((double)a, (double)b); }\n"},

    {"idiv", "", R"($Q $T idiv_$T($T a, $T b) {
  if (b == 0) return 0;
  if (($T)-1 < 0 && b == ($T)-1) return ($T)(0 - (u64)a);
  return ($T)(a / b);
}
)"},
    {"imod", "", R"($Q $T imod_$T($T a, $T b) {
  if (b == 0 || (($T)-1 < 0 && b == ($T)-1)) return 0;
  return ($T)(a % b);
}
)"},
    {"ipow", "", R"($Q $T ipow_$T($T a, $T b) {
  u64 result = 1, square = (u64)a;
  if (($T)-1 < 0 && b < 0) return a == 1 ? 1 : a == ($T)-1 ? (b % 2 == 0 ? 1 : a) : 0;
  for (u64 left = (u64)b; left != 0; left >>= 1) {
    if (left & 1) result *= square;
    square *= square;
  }
  return ($T)result;
}
)"},
    {"shift_left", "", R"($Q $T shift_left_$T($T a, $T b) {
  return (u64)b >= 8 * sizeof($T) ? 0 : ($T)((u64)a << b);
}
)"},
    {"shift_right", "", R"($Q $T shift_right_$T($T a, $T b) {
  return (u64)b >= 8 * sizeof($T) ? (a < 0 ? ($T)-1 : 0) : ($T)(a >> b);
}
)"},

    {"from_f64", "", R"($Q $T from_f64_$T(f64 x) {
  const f64 low = ($T)-1 < 0 ? -(f64)((u64)1 << (8 * sizeof($T) - 1)) : 0.0;
  const f64 beyond = (($T)-1 < 0 ? 1.0 : 2.0) * (f64)((u64)1 << (8 * sizeof($T) - 1));
  if (x != x) return 0;
  if (x < low) return ($T)-1 < 0 ? ($T)((u64)1 << (8 * sizeof($T) - 1)) : 0;
  if (x >= beyond) return ($T)-1 < 0 ? ($T)(((u64)1 << (8 * sizeof($T) - 1)) - 1) : ($T)-1;
  return ($T)x;
}
)"},
    // Rounding to odd keeps what a second rounding to a shorter format needs to know.
    {"odd_f64", "core:f32 core:f64", R"($Q $T odd_f64_$T(f64 x) {
  const f32 y = (f32)x;
  if (x != x || (f64)y == x) return y;
  const u32 u = bits_f32(y);
  const f64 size = x < 0 ? -x : x, rounded = y < 0 ? -(f64)y : (f64)y;
  return real_f32((rounded > size ? u - 1 : u) | 1);
}
)"},
    {"odd_i64", "", R"($Q $T odd_i64_$T(i64 x) {
  const u64 size = x < 0 ? 0 - (u64)x : (u64)x;
  const u64 kept = size >> 53 == 0 ? size : ((size & ~(u64)0x7ff) | ((size & 0x7ff) != 0 ? 0x800 : 0));
  return x < 0 ? -(f64)kept : (f64)kept;
}
)"},
    {"odd_u64", "", R"($Q $T odd_u64_$T(u64 x) {
  return (f64)(x >> 53 == 0 ? x : ((x & ~(u64)0x7ff) | ((x & 0x7ff) != 0 ? 0x800 : 0)));
}
)"},

    {"luminal_floor_div", "", R"($Q i64 luminal_floor_div(i64 a, i64 b) {
  const i64 q = a / b;
  return q - ((a % b != 0) & ((a < 0) != (b < 0)));
}
)"},
    {"luminal_floor_mod", "", R"($Q i64 luminal_floor_mod(i64 a, i64 b) {
  const i64 r = a % b;
  return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
}
)"},
    {"luminal_ceil_div", "", R"($Q i64 luminal_ceil_div(i64 a, i64 b) {
  const i64 q = a / b;
  return q + ((a % b != 0) & ((a < 0) == (b < 0)));
}
)"},
    {"luminal_philox", "", R"($Q u32 luminal_philox(u64 key, u64 stream, u64 index) {
  const u64 block = index / 4;
  u32 c0 = (u32)block, c1 = (u32)(block >> 32), c2 = (u32)stream, c3 = (u32)(stream >> 32);
  u32 k0 = (u32)key, k1 = (u32)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const u64 first = (u64)0xD2511F53u * c0, second = (u64)0xCD9E8D57u * c2;
    const u32 n0 = (u32)(second >> 32) ^ c1 ^ k0, n2 = (u32)(first >> 32) ^ c3 ^ k1;
    c1 = (u32)second, c3 = (u32)first, c0 = n0, c2 = n2;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return index % 4 == 0 ? c0 : index % 4 == 1 ? c1 : index % 4 == 2 ? c2 : c3;
}
)"},
    {"luminal_place", "", R"($Q i64 luminal_place(i64 place, i64 length, i64 value, i64* status) {
  if (place >= 0 && place < length) return place;
  status[1] = value, status[2] = place, status[3] = length, status[0] = 1;
  return place < 0 ? 0 : length - 1;
}
)"},
};

}  // namespace

std::span<const HelperText> scalar_helpers() {
  return table;
}

}  // namespace luminal::codegen

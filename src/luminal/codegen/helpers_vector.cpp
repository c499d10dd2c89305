#include "luminal/codegen/helper_tables.h"

namespace luminal::codegen {
namespace {

#define LANE_WISE_1(name)                                  \
  {name, "." name,                                         \
   "$Q $T " name                                           \
   "_$T($T x) {\n  $T r;\n  for (int l = 0; l < $L; ++l) " \
   "r[l] = " name "_$E(x[l]);\n  return r;\n}\n"}
#define LANE_WISE_2(name)                                        \
  {name, "." name,                                               \
   "$Q $T " name                                                 \
   "_$T($T a, $T b) {\n  $T r;\n  for (int l = 0; l < $L; ++l) " \
   "r[l] = " name "_$E(a[l], b[l]);\n  return r;\n}\n"}
#define ELEMENT_WISE(name, builtin)                                                                         \
  {name, "." name,                                                                                          \
   "#if __has_builtin(" builtin ")\n$Q $T " name "_$T($T x) { return " builtin "(x); }\n#else\n$Q $T " name \
   "_$T($T x) {\n  $T r;\n  for (int l = 0; l < $L; ++l) "                                                  \
   "r[l] = " name "_$E(x[l]);\n  return r;\n}\n#endif\n"}

constexpr HelperText table[] = {
    {"core", "", R"(#define MASK_$T(c) (($U)(c))
$Q $U bits_$T($T x) { return ($U)x; }
$Q $T real_$T($U x) { return ($T)x; }
$Q $T splat_$T($E x) { return ($T){$R}; }
)"},
    {"truth", "core", "$Q $B truth_$T($U m) { return __builtin_convertvector(m & 1, $B); }\n"},
    {"mask", "core", "$Q $U mask_$T($B c) { return ($U)(__builtin_convertvector(c, $U) != 0); }\n"},
    {"select", "mask", R"($Q $T select_$T($B c, $T a, $T b) {
  const $U m = mask_$T(c);
  return ($T)((m & ($U)a) | (~m & ($U)b));
}
)"},
    {"any", "",
     "$Q int any_$T($T x) {\n  $E r = 0;\n  for (int l = 0; l < $L; ++l) r |= x[l];\n  return r != 0;\n}\n"},
    {"all", "",
     "$Q int all_$T($T x) {\n  $E r = 1;\n  for (int l = 0; l < $L; ++l) r &= x[l];\n  return r != 0;\n}\n"},
    ELEMENT_WISE("sqrt", "__builtin_elementwise_sqrt"),
    ELEMENT_WISE("floor", "__builtin_elementwise_floor"),
    ELEMENT_WISE("round", "__builtin_elementwise_rint"),
    ELEMENT_WISE("trunc", "__builtin_elementwise_trunc"),
    {"fma", "",
     R"(#if __has_builtin(__builtin_elementwise_fma) && (defined(__FMA__) || defined(__ARM_FEATURE_FMA))
$Q $T fma_$T($T a, $T b, $T c) { return __builtin_elementwise_fma(a, b, c); }
#else
$Q $T fma_$T($T a, $T b, $T c) { return a * b + c; }
#endif
)"},
    LANE_WISE_1("exp2"),
    LANE_WISE_1("log2"),
    LANE_WISE_1("sin"),
    LANE_WISE_1("cos"),
    LANE_WISE_1("atan"),
    LANE_WISE_1("erf"),
    LANE_WISE_1("log1p"),
    LANE_WISE_1("expm1"),
    LANE_WISE_2("pow"),
    LANE_WISE_2("fmod"),
    LANE_WISE_2("idiv"),
    LANE_WISE_2("imod"),
    LANE_WISE_2("ipow"),
    LANE_WISE_2("shift_left"),
    LANE_WISE_2("shift_right"),
    {"from_f64", ".from_f64", R"($Q $T from_f64_$T($D x) {
  $T r;
  for (int l = 0; l < $L; ++l) r[l] = from_f64_$E(x[l]);
  return r;
}
)"},
    {"odd_f64", ".odd_f64", R"($Q $T odd_f64_$T($D x) {
  $T r;
  for (int l = 0; l < $L; ++l) r[l] = odd_f64_$E(x[l]);
  return r;
}
)"},
    {"odd_i64", ".odd_i64", R"($Q $T odd_i64_$T(i64$X x) {
  $T r;
  for (int l = 0; l < $L; ++l) r[l] = odd_i64_$E(x[l]);
  return r;
}
)"},
    {"odd_u64", ".odd_u64", R"($Q $T odd_u64_$T(u64$X x) {
  $T r;
  for (int l = 0; l < $L; ++l) r[l] = odd_u64_$E(x[l]);
  return r;
}
)"},
};

}  // namespace

std::span<const HelperText> vector_helpers() {
  return table;
}

}  // namespace luminal::codegen

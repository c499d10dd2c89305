// Functions on f32, of one lane or several alike, so a value does not depend on the lane that computes it.
// Polynomials are near-minimax fits (interpolation at Chebyshev nodes, in 40 digits). Errors, tested against
// f64: exp2, log2 and erf, which compute in f32, 2 units in the last place; the others compute in f64 and
// round, 1 unit.
#include "luminal/codegen/helper_tables.h"

namespace luminal::codegen {
namespace {

constexpr HelperText table[] = {
    // 2^x = 2^n · 2^f with |f| <= 1/2. Adding 1.5·2^23 rounds to n; two factors of 2^(n/2) reach the
    // denormals. Of what is 0 that is not computed: products that underflow take a hundred times as long, and
    // what masks hide is exp2(-inf).
    {"exp2", "core fma", R"($Q $T exp2_$T($T x) {
  const $U high = MASK_$T(x > 129.0f), low = MASK_$T(x < -151.0f);
  const $T y = real_$T((high & 0x43010000u) | (~(high | low) & bits_$T(x)));
  const $T t = y + 12582912.0f;
  const $T f = y - (t - 12582912.0f);
  const $U n = bits_$T(t) - 0x4b400000u;
  const $U half = ($U)((($I)n) >> 1);
  $T p = splat_$T(0.000154614446986f);
  p = fma_$T(p, f, splat_$T(0.00134004281776f));
  p = fma_$T(p, f, splat_$T(0.00961805667852f));
  p = fma_$T(p, f, splat_$T(0.0555032722667f));
  p = fma_$T(p, f, splat_$T(0.240226509223f));
  p = fma_$T(p, f, splat_$T(0.693147206703f));
  p = fma_$T(p, f, splat_$T(1.0f));
  return real_$T(~low & bits_$T(p * real_$T((half + 127u) << 23) * real_$T((n - half + 127u) << 23)));
}
)"},
    // log2(m · 2^n) with m in [sqrt 1/2, sqrt 2): n + log2(e) (f - f²/2 + f³ P(f)), f = m - 1, the leading
    // product in
    // two parts.
    {"log2", "core fma", R"($Q $T log2_$T($T x) {
  const $U small = MASK_$T(x < 0x1p-126f);
  const $U u = (small & bits_$T(x * 0x1p23f)) | (~small & bits_$T(x));
  const $I e = ($I)(u - 0x3f3504f3u) >> 23;
  const $T n = $C(e - ($I)(small & 23u), $T);
  const $T f = real_$T(u - (($U)e << 23)) - 1.0f;
  const $T s = f * f;
  $T p = splat_$T(0.0697161147145f);
  p = fma_$T(p, f, splat_$T(-0.114797338466f));
  p = fma_$T(p, f, splat_$T(0.116854199235f));
  p = fma_$T(p, f, splat_$T(-0.124256873315f));
  p = fma_$T(p, f, splat_$T(0.142490576457f));
  p = fma_$T(p, f, splat_$T(-0.166678023195f));
  p = fma_$T(p, f, splat_$T(0.200007157489f));
  p = fma_$T(p, f, splat_$T(-0.24999996958f));
  p = fma_$T(p, f, splat_$T(0.3333333118f));
  const $T w = fma_$T(f * s, p, s * -0.5f);
  const $T top = f * 1.44269502f;
  const $T rest = fma_$T(f, splat_$T(1.44269502f), -top) + f * 1.92596303e-8f + w * 1.44269502f;
  const $U zero = MASK_$T(x == 0.0f), bad = MASK_$T(x != x) | MASK_$T(x < 0.0f), endless = MASK_$T(x == __builtin_inff());
  const $U plain = ~(zero | bad | endless);
  return real_$T((zero & 0xff800000u) | (bad & 0x7fc00000u) | (endless & 0x7f800000u) |
                 (plain & bits_$T(n + (top + rest))));
}
)"},
    // r = x - n·pi/2, exact enough in f64 up to 1e5; further away the C library.
    {"turn", "core core:f64", R"($Q $T turn_$T($T x, u64 ahead) {
  const $D d = $C(x, $D);
  const $D t = d * 0.63661977236758138 + 6755399441055744.0;
  const $D n = t - 6755399441055744.0;
  const $D r = (d - n * 1.57079632673412561417) - n * 6.07710050650619224932e-11;
  const u64$X q = bits_$D(t) + ahead;
  const $D z = r * r;
  const $D s = r + r * z * (-0.166666666666638859 + z * (0.00833333333107922308 + z * (-0.000198412669169859656 +
      z * (2.75559909295653186e-6 + z * -2.48056362418347626e-8))));
  const $D c = 1.0 + z * (-0.499999999999638913 + z * (0.0416666666373960726 + z * (-0.00138888850913991986 +
      z * (0.0000247998621901483962 + z * -2.7237140418016e-7))));
  const u64$X odd = -(q & 1);
  return $C(real_$D(((odd & bits_$D(c)) | (~odd & bits_$D(s))) ^ ((q & 2) << 62)), $T);
}
)"},
    {"sin", "turn sin:f64 any:u32", R"($Q $T sin_$T($T x) {
  if (any_$U(~(MASK_$T(x <= 1e5f) & MASK_$T(x >= -1e5f)))) return $C(sin_$D($C(x, $D)), $T);
  return turn_$T(x, 0);
}
)"},
    {"cos", "turn cos:f64 any:u32", R"($Q $T cos_$T($T x) {
  if (any_$U(~(MASK_$T(x <= 1e5f) & MASK_$T(x >= -1e5f)))) return $C(cos_$D($C(x, $D)), $T);
  return turn_$T(x, 1);
}
)"},
    // Within tan(pi/8) of 0, 1 or infinity.
    {"atan", "core core:f64", R"($Q $T atan_$T($T x) {
  const $D d = $C(x, $D);
  const u64$X sign = bits_$D(d) & ((u64)1 << 63);
  const $D a = real_$D(bits_$D(d) ^ sign);
  const u64$X far = MASK_$D(a > 2.4142135623730950), near = MASK_$D(a <= 0.41421356237309505), mid = ~(far | near);
  const $D v = real_$D((far & bits_$D(-1.0 / a)) | (near & bits_$D(a)) | (mid & bits_$D((a - 1.0) / (a + 1.0))));
  const $D base = real_$D((far & 0x3ff921fb54442d18u) | (mid & 0x3fe921fb54442d18u));
  const $D z = v * v;
  const $D y = base + v * (0.999999999978398776 + z * (-0.333333320976093859 + z * (0.199998838565513028 +
      z * (-0.142815887726541241 + z * (0.110404892272182403 + z * (-0.0845619288694049602 +
      z * 0.0470734814196802017))))));
  return $C(real_$D(bits_$D(y) ^ sign), $T);
}
)"},
    // Near 0 an odd polynomial; further away 1 - 2^Q(|x|).
    {"erf", "core exp2 fma", R"($Q $T erf_$T($T x) {
  const $U sign = bits_$T(x) & 0x80000000u, size = bits_$T(x) ^ sign;
  const $U near = MASK_$T(real_$T(size) < 0.9f), end = MASK_$T(real_$T(size) > 4.0f);
  const $T a = real_$T((end & 0x40800000u) | (~end & size));
  const $T z = a * a;
  $T p = splat_$T(1.05893806410750192e-6f);
  p = fma_$T(p, z, splat_$T(-0.0000139093400218745986f));
  p = fma_$T(p, z, splat_$T(0.000119565625682073296f));
  p = fma_$T(p, z, splat_$T(-0.000854263799708722963f));
  p = fma_$T(p, z, splat_$T(0.00522378347718924812f));
  p = fma_$T(p, z, splat_$T(-0.0268661332350955916f));
  p = fma_$T(p, z, splat_$T(0.112837913086045815f));
  p = fma_$T(p, z, splat_$T(-0.376126388896353068f));
  p = fma_$T(p, z, splat_$T(0.12837916709467673f));
  $T q = splat_$T(-7.40016700622713666e-8f);
  q = fma_$T(q, a, splat_$T(1.76681591172378823e-6f));
  q = fma_$T(q, a, splat_$T(-0.0000162019043918992782f));
  q = fma_$T(q, a, splat_$T(0.000046480717170435069f));
  q = fma_$T(q, a, splat_$T(0.00042088406392670833f));
  q = fma_$T(q, a, splat_$T(-0.00571896419716844311f));
  q = fma_$T(q, a, splat_$T(0.0360903137858452428f));
  q = fma_$T(q, a, splat_$T(-0.156416393663983344f));
  q = fma_$T(q, a, splat_$T(-0.913345184231908988f));
  q = fma_$T(q, a, splat_$T(-1.62978836537943294f));
  q = fma_$T(q, a, splat_$T(0.000309037601377735312f));
  const $T small = fma_$T(a, p, a), large = 1.0f - exp2_$T(q);
  return real_$T(((near & bits_$T(small)) | (~near & bits_$T(large))) ^ sign);
}
)"},
    // s · f·P(f) + (s - 1) with s = 2^n, x = n·ln 2 + f: exact in its leading term where n is 0.
    {"expm1", "core core:f64", R"($Q $T expm1_$T($T x) {
  const $U high = MASK_$T(x > 90.0f), low = MASK_$T(x < -105.0f);
  const $D d = $C(real_$T((high & 0x42b40000u) | (low & 0xc2d20000u) | (~(high | low) & bits_$T(x))), $D);
  const $D t = d * 1.4426950408889634 + 6755399441055744.0;
  const $D n = t - 6755399441055744.0;
  const $D f = d - n * 0.69314718055994531;
  const $D p = f * (0.999999999995509041 + f * (0.499999999999551067 + f * (0.166666667863085862 +
      f * (0.0416666667862657343 + f * (0.00833328353870852702 + f * (0.00138888391105720083 +
      f * (0.000199075693108482892 + f * 0.0000248678701796877261)))))));
  const $D s = real_$D((bits_$D(t) - 0x4338000000000000u + 1023u) << 52);
  return $C(s * p + (s - 1.0), $T);
}
)"},
    // 2 atanh(s): s = x / (2 + x) near 0, (m - 1) / (m + 1) of 1 + x = m · 2^n elsewhere.
    {"log1p", "core core:f64", R"($Q $T log1p_$T($T x) {
  const $D d = $C(x, $D);
  const u64$X near = MASK_$D(d > -0.29) & MASK_$D(d < 0.41);
  const u64$X u = bits_$D(1.0 + d);
  const i64$X e = (i64$X)(u - 0x3fe6a09e667f3bcdu) >> 52;
  const $D m = real_$D(u - ((u64$X)e << 52));
  const $D over = real_$D((near & bits_$D(d)) | (~near & bits_$D(m - 1.0)));
  const $D under = real_$D((near & bits_$D(2.0 + d)) | (~near & bits_$D(m + 1.0)));
  const $D n = real_$D(~near & bits_$D($C(e, $D)));
  const $D s = over / under, z = s * s;
  const $D y = n * 0.69314718055994531 + 2.0 * s * (1.0 + z * (0.33333333333687545 + z * (0.199999993986687928 +
      z * (0.142858772679572445 + z * (0.110957004151542518 + z * 0.0968132685710100387)))));
  const $U end = MASK_$T(x == -1.0f), bad = MASK_$T(x != x) | MASK_$T(x < -1.0f), endless = MASK_$T(x == __builtin_inff());
  const $U plain = ~(end | bad | endless);
  return real_$T((end & 0xff800000u) | (bad & 0x7fc00000u) | (endless & 0x7f800000u) | (plain & bits_$T($C(y, $T))));
}
)"},
};

}  // namespace

std::span<const HelperText> f32_helpers() {
  return table;
}

}  // namespace luminal::codegen

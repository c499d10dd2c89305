#include "luminal/io/quantise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "luminal/op/small_float.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

/// Writes a number where `PackedNumber::at` reads it. The block starts as zeros, and each number is written
/// once.
void put(const PackedNumber& number, std::uint8_t* block, std::size_t i, int value) {
  const auto bits = static_cast<unsigned>(value + number.zero);
  for (const BitPlane& plane : number.planes) {
    const unsigned part = (bits >> plane.to & plane.mask) << plane.shift_at(i);
    block[plane.byte(i)] = static_cast<std::uint8_t>(block[plane.byte(i)] | part);
  }
}

/// Stores `value` as f16 and returns what was stored; `Error` if f16 has no such number.
float put_half(std::uint8_t* block, std::size_t offset, float value) {
  const std::uint16_t bits = luminal::encode(f16_format, double{value});
  std::memcpy(block + offset, &bits, sizeof bits);
  const float stored = luminal::decode(f16_format, bits);
  if (!std::isfinite(stored)) throw Error(cat("the block's scale ", value, " exceeds f16"));
  return stored;
}

int rounded(float value, int low, int high) {
  if (!(value > static_cast<float>(low))) return low;  // NaN too
  return std::min(static_cast<int>(std::lround(std::min(value, static_cast<float>(high)))), high);
}

float inverse(float value) {
  return value == 0.0F ? 0.0F : 1.0F / value;
}

float largest(std::span<const float> x) {
  float result = x.front();
  for (const float value : x)
    if (std::abs(value) > std::abs(result)) result = value;
  return result;
}

void encode_q8_0(const BlockDecode& decode, const float* x, std::uint8_t* block) {
  const float d = std::abs(largest({x, 32})) / 127.0F;
  put_half(block, decode.d_offset, d);
  for (std::size_t i = 0; i < 32; ++i) put(decode.code, block, i, rounded(x[i] * inverse(d), -127, 127));
}

void encode_q4_0(const BlockDecode& decode, const float* x, std::uint8_t* block) {
  const float d = largest({x, 32}) / -8.0F;
  put_half(block, decode.d_offset, d);
  for (std::size_t i = 0; i < 32; ++i) {
    const float code = std::trunc(x[i] * inverse(d) + 8.5F);
    put(decode.code, block, i, static_cast<int>(code > 0 ? std::min(code, 15.0F) : 0.0F) - decode.code.zero);
  }
}

struct Line {
  float scale = 0;
  float minimum = 0;  // subtracted: x ≈ scale · code − minimum, and not negative
  float error = 0;
};

float weight(float x, float spread) {
  return spread + std::abs(x);
}

/// Least squares for given codes; `nullopt`-like zero scale if they are all equal.
Line fit(std::span<const float> x, std::span<const int> codes, float spread) {
  float w = 0, wl = 0, wll = 0, wx = 0, wxl = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float v = weight(x[i], spread);
    const auto l = static_cast<float>(codes[i]);
    w += v;
    wl += v * l;
    wll += v * l * l;
    wx += v * x[i];
    wxl += v * x[i] * l;
  }
  const float determinant = w * wll - wl * wl;
  Line line;
  if (determinant > 0) {
    line.scale = (w * wxl - wx * wl) / determinant;
    line.minimum = -(wll * wx - wl * wxl) / determinant;
    if (line.minimum < 0) {
      line.minimum = 0;
      line.scale = wll > 0 ? wxl / wll : 0;
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float difference = line.scale * static_cast<float>(codes[i]) - line.minimum - x[i];
    line.error += weight(x[i], spread) * difference * difference;
  }
  return line;
}

/// The line with codes 0 … top that fits best, among those near the range of the values.
Line best_line(std::span<const float> x, int top) {
  float squares = 0;
  for (const float value : x) squares += value * value;
  const float spread = std::sqrt(squares / static_cast<float>(x.size()));
  const float low = std::min(0.0F, *std::min_element(x.begin(), x.end()));
  const float high = *std::max_element(x.begin(), x.end());
  if (!(high > low)) return {0, -low, 0};
  Line best{(high - low) / static_cast<float>(top), -low, INFINITY};
  std::array<int, 32> codes{};
  for (int step = -10; step <= 10; ++step) {
    const float inverse_scale = (static_cast<float>(top) + 0.1F * static_cast<float>(step)) / (high - low);
    for (std::size_t i = 0; i < x.size(); ++i) codes[i] = rounded((x[i] - low) * inverse_scale, 0, top);
    const Line line = fit(x, std::span(codes).first(x.size()), spread);
    if (line.scale > 0 && line.error < best.error) best = line;
  }
  return best;
}

void encode_q4_k(const BlockDecode& decode, const float* x, std::uint8_t* block) {
  std::array<Line, 8> lines;
  float top_scale = 0, top_minimum = 0;
  for (std::size_t g = 0; g < 8; ++g) {
    lines[g] = best_line({x + 32 * g, 32}, 15);
    top_scale = std::max(top_scale, lines[g].scale);
    top_minimum = std::max(top_minimum, lines[g].minimum);
  }
  const float d = put_half(block, decode.d_offset, top_scale / 63.0F);
  const float m = put_half(block, *decode.m_offset, top_minimum / 63.0F);
  for (std::size_t g = 0; g < 8; ++g) {
    const int scale = rounded(lines[g].scale * inverse(d), 0, 63);
    const int minimum = rounded(lines[g].minimum * inverse(m), 0, 63);
    put(decode.scale, block, g, scale);
    put(decode.minimum, block, g, minimum);
    const float step = inverse(d * static_cast<float>(scale));
    for (std::size_t i = 32 * g; i < 32 * (g + 1); ++i)
      put(decode.code, block, i, rounded((x[i] + m * static_cast<float>(minimum)) * step, 0, 15));
  }
}

/// The signed scale with codes −32 … 31 that fits best.
float best_scale(std::span<const float> x) {
  const float extreme = largest(x);
  if (extreme == 0) return 0;
  float best = 0, best_gain = -1;
  for (int step = -9; step <= 9; ++step) {
    const float inverse_scale = -(32.0F + 0.1F * static_cast<float>(step)) / extreme;
    float wxl = 0, wll = 0;
    for (const float value : x) {
      const auto code = static_cast<float>(rounded(value * inverse_scale, -32, 31));
      const float v = value * value;
      wxl += v * value * code;
      wll += v * code * code;
    }
    // The weighted square error is a constant minus this.
    const float gain = wll > 0 ? wxl * wxl / wll : 0;
    if (!std::isfinite(gain)) return extreme / -32.0F;  // squares that exceed a float
    if (gain > best_gain) {
      best_gain = gain;
      best = wll > 0 ? wxl / wll : 0;
    }
  }
  return best;
}

void encode_q6_k(const BlockDecode& decode, const float* x, std::uint8_t* block) {
  std::array<float, 16> scales{};
  for (std::size_t g = 0; g < 16; ++g) scales[g] = best_scale({x + 16 * g, 16});
  const float d = put_half(block, decode.d_offset, largest(scales) / -128.0F);
  for (std::size_t g = 0; g < 16; ++g) {
    const int scale = rounded(scales[g] * inverse(d), -128, 127);
    put(decode.scale, block, g, scale);
    const float step = inverse(d * static_cast<float>(scale));
    for (std::size_t i = 16 * g; i < 16 * (g + 1); ++i)
      put(decode.code, block, i, rounded(x[i] * step, -32, 31));
  }
}

using Encoder = void (*)(const BlockDecode&, const float*, std::uint8_t*);

Encoder encoder_of(Format format) {
  switch (format) {
    case Format::q8_0:
      return encode_q8_0;
    case Format::q4_0:
      return encode_q4_0;
    case Format::q4_k:
      return encode_q4_k;
    case Format::q6_k:
      return encode_q6_k;
    default:
      return nullptr;
  }
}

std::vector<std::byte> encode_plain(DType dtype, const Array& array) {
  std::vector<std::byte> result(static_cast<std::size_t>(array.size()) * byte_size(dtype));
  const Array rows = array.contiguous();
  if (rows.dtype() == dtype) {
    if (!result.empty()) std::memcpy(result.data(), rows.bytes(), result.size());
    return result;
  }
  const std::size_t from = byte_size(rows.dtype());
  const std::size_t to = byte_size(dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.size()); ++i)
    store(convert(load(rows.dtype(), rows.bytes() + i * from), dtype), result.data() + i * to);
  return result;
}

}  // namespace

bool can_encode(Format format) {
  return row(format).dtype.has_value() || encoder_of(format) != nullptr;
}

std::vector<std::byte> encode_tensor(Format format, const Array& array) {
  const FormatRow& stored = row(format);
  if (stored.dtype) return encode_plain(*stored.dtype, array);
  const Encoder encoder = encoder_of(format);
  if (encoder == nullptr) throw Error(cat("quantise: ", stored.name, " can be read but not written"));
  std::vector<std::byte> result(static_cast<std::size_t>(stored_bytes(format, array.dims())));
  const std::vector<std::byte> plain = encode_plain(DType::f32, array);
  std::vector<float> x(stored.block_elements);
  const std::size_t chunk = x.size() * sizeof(float);
  for (std::size_t b = 0; b < result.size() / stored.block_bytes; ++b) {
    std::memcpy(x.data(), plain.data() + b * chunk, chunk);
    if (!std::all_of(x.begin(), x.end(), [](float value) { return std::isfinite(value); }))
      throw Error(cat("quantise: elements ", b * x.size(), " to ", (b + 1) * x.size() - 1,
                      " hold a value that is not finite, which ", stored.name, " cannot store"));
    try {
      encoder(*stored.decode, x.data(),
              reinterpret_cast<std::uint8_t*>(result.data() + b * stored.block_bytes));
    } catch (const Error& error) {
      throw Error(cat("quantise: elements ", b * x.size(), " to ", (b + 1) * x.size() - 1, ": ",
                      error.problem(), ", so ", stored.name, " cannot store them"));
    }
  }
  return result;
}

}  // namespace luminal::io

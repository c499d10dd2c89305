#include "luminal/train/drawn_digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <span>

#include "luminal/op/philox.h"

namespace luminal::train {
namespace {

struct Point {
  float x;
  float y;
};
struct Segment {
  Point from;
  Point to;
};

/// Part of an ellipse, from one angle to another, in turns: 0 is right, 0.25 is down. A straight line is one
/// whose radii are 0, from its centre to `end`.
struct Stroke {
  Point centre;
  Point radii;
  float start;
  float stop;
  Point end;
};
constexpr Stroke arc(float x, float y, float rx, float ry, float start, float stop) {
  return {{x, y}, {rx, ry}, start, stop, {0, 0}};
}
constexpr Stroke line(float x0, float y0, float x1, float y1) {
  return {{x0, y0}, {0, 0}, 0, 0, {x1, y1}};
}

struct Form {
  int digit;
  std::array<Stroke, 4> strokes;
  std::size_t count;
};
template <typename... Strokes>
constexpr Form form(int digit, Strokes... strokes) {
  return {digit, {strokes...}, sizeof...(strokes)};
}

// The font: the box is [-1, 1] × [-1, 1], y downwards.
constexpr std::array forms = {
    form(0, arc(0, 0, 0.6F, 0.95F, 0, 1)),
    form(0, arc(0, 0, 0.45F, 0.9F, 0, 1)),
    form(1, line(0, -0.95F, 0, 0.95F)),
    form(1, line(0.1F, -0.95F, 0.1F, 0.95F), line(0.1F, -0.95F, -0.3F, -0.55F)),
    form(1, line(0, -0.95F, 0, 0.95F), line(0, -0.95F, -0.3F, -0.6F), line(-0.35F, 0.95F, 0.35F, 0.95F)),
    form(2, arc(0, -0.45F, 0.55F, 0.5F, 0.5F, 1.1F), line(0.45F, -0.16F, -0.6F, 0.92F),
         line(-0.6F, 0.92F, 0.6F, 0.92F)),
    form(2, arc(0, -0.5F, 0.5F, 0.45F, 0.45F, 1.15F), line(0.3F, -0.13F, -0.5F, 0.85F),
         line(-0.5F, 0.85F, 0.65F, 0.95F)),
    form(3, arc(-0.05F, -0.47F, 0.52F, 0.47F, 0.55F, 1.25F), arc(-0.05F, 0.47F, 0.6F, 0.49F, 0.75F, 1.45F)),
    form(3, line(-0.5F, -0.93F, 0.5F, -0.93F), line(0.5F, -0.93F, -0.05F, -0.12F),
         arc(-0.05F, 0.42F, 0.58F, 0.54F, 0.75F, 1.45F)),
    form(4, line(0.25F, -0.95F, -0.65F, 0.35F), line(-0.65F, 0.35F, 0.65F, 0.35F),
         line(0.25F, -0.95F, 0.25F, 0.95F)),
    form(4, line(-0.45F, -0.9F, -0.55F, 0.1F), line(-0.55F, 0.1F, 0.55F, 0.1F),
         line(0.4F, -0.9F, 0.35F, 0.95F)),
    form(5, line(0.5F, -0.93F, -0.45F, -0.93F), line(-0.45F, -0.93F, -0.5F, -0.12F),
         arc(-0.05F, 0.37F, 0.6F, 0.57F, 0.62F, 1.42F)),
    form(5, line(0.55F, -0.9F, -0.35F, -0.9F), line(-0.35F, -0.9F, -0.45F, -0.05F),
         arc(-0.02F, 0.4F, 0.5F, 0.52F, 0.6F, 1.4F)),
    form(6, arc(0, 0.42F, 0.55F, 0.52F, 0, 1), arc(0.35F, 0.35F, 0.9F, 1.3F, 0.5F, 0.75F)),
    form(6, arc(0, 0.45F, 0.5F, 0.48F, 0, 1), line(-0.45F, 0.3F, 0.2F, -0.95F)),
    form(7, line(-0.6F, -0.92F, 0.6F, -0.92F), line(0.6F, -0.92F, -0.15F, 0.95F)),
    form(7, line(-0.55F, -0.9F, 0.55F, -0.9F), line(0.55F, -0.9F, -0.2F, 0.95F), line(-0.3F, 0, 0.5F, 0)),
    form(8, arc(0, -0.47F, 0.47F, 0.46F, 0, 1), arc(0, 0.47F, 0.56F, 0.48F, 0, 1)),
    form(8, arc(0, -0.5F, 0.4F, 0.42F, 0, 1), arc(0, 0.42F, 0.5F, 0.52F, 0, 1)),
    form(9, arc(0, -0.42F, 0.52F, 0.5F, 0, 1), line(0.52F, -0.42F, 0.35F, 0.95F)),
    form(9, arc(0, -0.45F, 0.5F, 0.48F, 0, 1), line(0.5F, -0.4F, 0.5F, 0.4F),
         arc(0, 0.4F, 0.5F, 0.52F, 0, 0.4F)),
};

/// Random numbers of one example.
struct Draw {
  std::uint64_t seed;
  std::uint64_t stream;
  std::uint64_t at = 0;
  std::uint32_t word() { return philox(seed, stream, at++); }
  float uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(word() >> 8U) * 0x1p-24F;
  }
};

constexpr std::size_t most_segments = 64;
constexpr int arc_steps = 14;

struct Drawing {
  std::array<Segment, most_segments> segments;
  std::size_t count = 0;
  void add(Point from, Point to) {
    if (count < most_segments) segments[count++] = {from, to};
  }
};

/// The strokes of a form as straight pieces, moved to where the example has them, in pixels.
Drawing drawn(const Form& shape, Draw& draw) {
  const float angle = draw.uniform(-0.26F, 0.26F);
  const float slant = draw.uniform(-0.2F, 0.2F);
  const float wide = draw.uniform(6.0F, 9.5F);
  const float high = draw.uniform(7.5F, 10.5F);
  const float x0 = 13.5F + draw.uniform(-2.5F, 2.5F);
  const float y0 = 13.5F + draw.uniform(-2.5F, 2.5F);
  const float c = std::cos(angle);
  const float s = std::sin(angle);
  const auto place = [&](Point p) {
    const float x = (p.x - slant * p.y) * wide;
    const float y = p.y * high;
    return Point{x0 + c * x - s * y, y0 + s * x + c * y};
  };
  Drawing drawing;
  for (std::size_t k = 0; k < shape.count; ++k) {
    const Stroke& stroke = shape.strokes[k];
    if (stroke.radii.x == 0) {
      drawing.add(place(stroke.centre), place(stroke.end));
      continue;
    }
    const auto at = [&](int step) {
      const float turn = stroke.start + (stroke.stop - stroke.start) * static_cast<float>(step) / arc_steps;
      const float radians = turn * 2 * std::numbers::pi_v<float>;
      return place({stroke.centre.x + stroke.radii.x * std::cos(radians),
                    stroke.centre.y + stroke.radii.y * std::sin(radians)});
    };
    for (int step = 0; step < arc_steps; ++step) drawing.add(at(step), at(step + 1));
  }
  return drawing;
}

float squared_distance(Point p, const Segment& segment) {
  const float dx = segment.to.x - segment.from.x;
  const float dy = segment.to.y - segment.from.y;
  const float length = dx * dx + dy * dy;
  const float along = length == 0 ? 0 : ((p.x - segment.from.x) * dx + (p.y - segment.from.y) * dy) / length;
  const float t = std::clamp(along, 0.0F, 1.0F);
  const float ex = p.x - segment.from.x - t * dx;
  const float ey = p.y - segment.from.y - t * dy;
  return ex * ex + ey * ey;
}

}  // namespace

DrawnDigits::DrawnDigits(std::int64_t count, std::uint64_t seed)
    : count_(count),
      seed_(seed),
      fields_{{"image", DType::f32, {1, side, side}}, {"label", DType::i64, {}}} {}

void DrawnDigits::read(std::int64_t index, std::span<const std::span<std::byte>> into) const {
  Draw draw{seed_, static_cast<std::uint64_t>(index)};
  const auto digit = static_cast<std::int64_t>(draw.word() % 10);
  std::array<const Form*, forms.size()> candidates{};
  std::size_t found = 0;
  for (const Form& candidate : forms)
    if (candidate.digit == digit) candidates[found++] = &candidate;
  const Drawing drawing = drawn(*candidates[draw.word() % found], draw);
  const float pen = draw.uniform(0.7F, 1.7F);
  const float noise = draw.uniform(0.02F, 0.15F);
  std::array<float, static_cast<std::size_t>(side * side)> pixels{};
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      const Point p{static_cast<float>(x), static_cast<float>(y)};
      float nearest = 1e9F;
      for (std::size_t k = 0; k < drawing.count; ++k)
        nearest = std::min(nearest, squared_distance(p, drawing.segments[k]));
      const float ink = std::clamp(pen + 0.5F - std::sqrt(nearest), 0.0F, 1.0F);
      const float value = ink + draw.uniform(-noise, noise);
      pixels[static_cast<std::size_t>(y * side + x)] = std::clamp(value, 0.0F, 1.0F);
    }
  std::memcpy(into[0].data(), pixels.data(), into[0].size());
  std::memcpy(into[1].data(), &digit, into[1].size());
}

}  // namespace luminal::train

#include "luminal/shape/view.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::string text_of(const movement::Permute& m) {
  return cat("permute(", join(m.axes), ")");
}
std::string text_of(const movement::Expand& m) {
  return cat("expand(", m.axis, ", ", m.size, ")");
}
std::string text_of(const movement::Slice& m) {
  return cat("slice(", m.axis, ", ", m.start, ", ", m.size, ", ", m.step, ")");
}
std::string text_of(const movement::Pad& m) {
  return cat("pad(", m.axis, ", ", m.before, ", ", m.after, ", ", m.fill, ")");
}
std::string text_of(const movement::Reshape& m) {
  return cat("reshape(", m.shape, ")");
}
std::string text_of(const movement::Unfold& m) {
  return cat("unfold(", m.axis, ", ", m.size, ", ", m.stride, ", ", m.dilation, ")");
}
std::string text_of(const movement::Fold& m) {
  return cat("fold(", m.axis, ", ", m.size, ", ", m.stride, ", ", m.dilation, ")");
}
std::string text_of(const movement::Shear& m) {
  return cat("shear(", m.axis, ", ", m.size, ", ", m.stride, ", ", m.dilation, ")");
}
std::string text_of(const movement::Flip& m) {
  return cat("flip(", m.axis, ")");
}
std::string text_of(const movement::Strided& m) {
  return cat("strided(", m.shape, ", [", join(m.strides), "], ", m.offset, ")");
}

}  // namespace

std::string movement_text(const Movement& movement) {
  return std::visit([](const auto& each) { return text_of(each); }, movement);
}

std::string View::text() const {
  std::string out;
  for (const auto& movement : movements()) out += (out.empty() ? "" : " ") + movement_text(movement);
  return out;
}

}  // namespace luminal

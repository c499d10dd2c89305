#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>

namespace luminal {

/// An index with a type of its own, so that a node's id cannot be taken for a buffer's. Default-made ids are
/// `none`.
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}

  constexpr std::uint32_t value() const { return value_; }
  constexpr std::size_t index() const { return value_; }
  constexpr bool none() const { return value_ == std::numeric_limits<std::uint32_t>::max(); }
  friend constexpr auto operator<=>(Id, Id) = default;
  friend std::ostream& operator<<(std::ostream& out, Id id) { return out << '%' << id.value_; }

 private:
  std::uint32_t value_ = std::numeric_limits<std::uint32_t>::max();
};

}  // namespace luminal

template <typename Tag>
struct std::hash<luminal::Id<Tag>> {
  std::size_t operator()(luminal::Id<Tag> id) const noexcept { return id.value() * 0x9E3779B97F4A7C15ULL; }
};

#pragma once

namespace luminal {

/// Several functions as one, for `std::visit`: `Cases{[](const A&) {…}, [](const B&) {…}}`.
template <typename... F>
struct Cases : F... {
  using F::operator()...;
};
template <typename... F>
Cases(F...) -> Cases<F...>;

}  // namespace luminal

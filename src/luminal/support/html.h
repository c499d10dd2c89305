#pragma once
#include <string>
#include <string_view>

namespace luminal {

/// `text` as it stands in a page: in elements and in attributes with double quotes.
std::string escape_html(std::string_view text);

}  // namespace luminal

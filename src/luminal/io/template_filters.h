#pragma once
#include "luminal/io/template_value.h"

namespace luminal::io {

/// The filters int, float and round, on 64 bits: `Error` for what does not fit.
TemplateValue integer_filter(const TemplateValue& value, const TemplateArguments& arguments);
TemplateValue real_filter(const TemplateValue& value, const TemplateArguments& arguments);
TemplateValue round_filter(const TemplateValue& value, const TemplateArguments& arguments);

}  // namespace luminal::io

#pragma once
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "luminal/io/template_value.h"

namespace luminal::io {

struct TemplateNode;

/// A chat template as model files carry them: Jinja, rendered as transformers renders it (trim_blocks,
/// lstrip_blocks, its `tojson`, `raise_exception` and `strftime_now`). Immutable; safe to use from several
/// threads at once.
class ChatTemplate {
 public:
  /// `Error` names a construct that is malformed or not supported, and its line. `name` stands in errors.
  explicit ChatTemplate(std::string_view source, std::string name = "template");

  /// The text for a mapping of variables such as messages, tools, add_generation_prompt, bos_token. `now` is
  /// what `strftime_now` tells, in local time; 0 is the present. `Error` with the line for what the template
  /// raises or cannot do; templates that run or grow without end are stopped.
  std::string render(const TemplateValue& variables, std::time_t now = 0) const;

 private:
  std::shared_ptr<const TemplateNode> root_;
  std::string name_;
};

}  // namespace luminal::io

#include "luminal/io/chat_template.h"

#include <array>
#include <map>

#include "luminal/io/template_syntax.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

constexpr std::size_t most_steps = 2'000'000;
constexpr std::size_t most_bytes = 64U << 20U;
constexpr int deepest_call = 40;
constexpr std::int64_t longest_range = 100'000;  // as Jinja's sandbox

/// What happened in a block.
enum class Flow : std::uint8_t { normal, break_loop, continue_loop };

using Frame = std::map<std::string, TemplateValue, std::less<>>;

void set_field(TemplateValue::Mapping& fields, const std::string& name, TemplateValue value) {
  for (auto& [key, field] : fields)
    if (key == name) {
      field = std::move(value);
      return;
    }
  fields.emplace_back(name, std::move(value));
}

/// As Python's dict(mapping or pairs, name=value ...).
TemplateValue::Mapping fields_of(const char* called, const TemplateArguments& arguments) {
  TemplateValue::Mapping fields;
  if (arguments.positional.size() > 1)
    throw Error(
        cat(called, ": it takes at most 1 argument without a name, got ", arguments.positional.size()));
  if (!arguments.positional.empty()) {
    const TemplateValue& from = arguments.positional[0];
    const auto items = elements_of(from);
    if (from.is_mapping()) {
      fields = from.mapping();
    } else {
      if (!items) throw Error(cat(called, ": a ", from.type_name(), " is neither a mapping nor pairs"));
      for (const TemplateValue& item : *items) {
        const auto pair = elements_of(item);
        if (!pair || pair->size() != 2 || !(*pair)[0].is_string())
          throw Error(cat(called, ": an element is not a pair of a string and a value"));
        set_field(fields, (*pair)[0].string(), (*pair)[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) set_field(fields, name, value);
  return fields;
}

class Renderer {
 public:
  Renderer(const std::string& file, std::time_t now) : file_(file), now_(now) {}

  std::string run(const TemplateNode& root, const TemplateValue& variables) {
    frames_.emplace_back();
    add_globals(frames_.back());
    if (!variables.is_mapping())
      throw Error(cat(file_, ": the variables are ", variables.type_name(), ": expected a mapping"));
    for (const auto& [name, value] : variables.mapping()) frames_.back()[name] = value;
    std::string out;
    block(root, out);
    return out;
  }

 private:
  [[noreturn]] void refuse(const TemplateNode& node, const std::string& why) const {
    throw Error(cat(file_, ": line ", node.line, ": ", why));
  }
  void step(const TemplateNode& node) {
    if (++steps_ > most_steps) refuse(node, "the template takes too many steps");
  }
  /// A value that was built counts against what a template may write, so that none grows without end.
  TemplateValue charged(const TemplateNode& node, TemplateValue value) {
    written_ += value.is_string() ? value.string().size()
                : value.is_list() ? value.list().size() * sizeof(value)
                                  : 0;
    if (written_ > most_bytes) refuse(node, "the template builds more than 64 MiB of values");
    return value;
  }
  void append(const TemplateNode& node, std::string& out, std::string_view text) {
    written_ += text.size();
    if (written_ > most_bytes) refuse(node, "the template writes more than 64 MiB");
    out += text;
  }

  void add_globals(Frame& frame) const {
    frame["raise_exception"] =
        TemplateValue::Function([this](const TemplateArguments& arguments) -> TemplateValue {
          arguments.require("raise_exception", "message");
          throw Error(cat(file_, ": the template raised: ", arguments.get(0, "message", "").text()));
        });
    frame["strftime_now"] =
        TemplateValue::Function([this](const TemplateArguments& arguments) -> TemplateValue {
          arguments.require("strftime_now", "format");
          const std::string format = arguments.get(0, "format", "").text();
          const std::time_t time = now_ != 0 ? now_ : std::time(nullptr);
          std::tm parts{};
          ::localtime_r(&time, &parts);
          std::array<char, 1024> text{};
          return std::string(text.data(), std::strftime(text.data(), text.size(), format.c_str(), &parts));
        });
    frame["namespace"] = TemplateValue::Function([](const TemplateArguments& arguments) {
      return TemplateValue::make_namespace(fields_of("namespace", arguments));
    });
    frame["dict"] = TemplateValue::Function(
        [](const TemplateArguments& arguments) { return TemplateValue(fields_of("dict", arguments)); });
    frame["range"] = TemplateValue::Function([](const TemplateArguments& arguments) -> TemplateValue {
      const auto at = [&](std::size_t i) {
        if (!arguments.positional[i].is_integer()) throw Error("range: expected whole numbers");
        return arguments.positional[i].integer();
      };
      const std::size_t count = arguments.positional.size();
      if (!arguments.named.empty())
        throw Error(cat("range: the argument '", arguments.named[0].first, "' is not supported"));
      if (count < 1 || count > 3) throw Error(cat("range: takes 1 to 3 arguments, got ", count));
      const std::int64_t start = count == 1 ? 0 : at(0), stop = count == 1 ? at(0) : at(1),
                         pace = count == 3 ? at(2) : 1;
      if (pace == 0) throw Error("range: the step is 0");
      TemplateValue::List list;
      for (std::int64_t i = start; pace > 0 ? i < stop : i > stop;) {
        if (list.size() >= static_cast<std::size_t>(longest_range))
          throw Error("range: more than 100000 numbers are refused");
        list.emplace_back(i);
        if (__builtin_add_overflow(i, pace, &i)) break;
      }
      return list;
    });
  }

  // --- statements ---
  Flow block(const TemplateNode& body, std::string& out) {
    for (const auto& child : body.children)
      if (const Flow flow = statement(*child, out); flow != Flow::normal) return flow;
    return Flow::normal;
  }

  Flow statement(const TemplateNode& node, std::string& out) {
    step(node);
    switch (node.kind) {
      case NodeKind::body:
        return block(node, out);
      case NodeKind::text:
        append(node, out, node.text);
        return Flow::normal;
      case NodeKind::print:
        append(node, out, printed(node, evaluate(*node.children[0])));
        return Flow::normal;
      case NodeKind::branch:
        return branch(node, out);
      case NodeKind::loop:
        return loop(node, out);
      case NodeKind::assign:
        assign(node, evaluate(*node.children[0]));
        return Flow::normal;
      case NodeKind::assign_block:
      case NodeKind::filter_block: {
        std::string text;
        const Flow flow = block(*node.children[0], text);
        TemplateValue value(std::move(text));
        if (node.children[1]) value = filter(*node.children[1], &value);
        if (node.kind == NodeKind::filter_block)
          append(node, out, value.text());
        else
          assign(node, std::move(value));
        return flow;
      }
      case NodeKind::macro:
        frames_.back()[node.text] = macro(node);
        return Flow::normal;
      case NodeKind::with_block: {
        Frame frame;
        for (const auto& [name, value] : node.named) frame[name] = evaluate(*value);
        frames_.push_back(std::move(frame));
        const Flow flow = block(*node.children[0], out);
        frames_.pop_back();
        return flow;
      }
      case NodeKind::break_loop:
        return Flow::break_loop;
      case NodeKind::continue_loop:
        return Flow::continue_loop;
      default:
        throw InternalError("an expression stands where a statement was expected");
    }
  }

  std::string printed(const TemplateNode& node, const TemplateValue& value) const {
    try {
      return value.text();
    } catch (const Error& error) {
      refuse(node, error.problem());
    }
  }

  Flow branch(const TemplateNode& node, std::string& out) {
    std::size_t i = 0;
    for (; i + 1 < node.children.size(); i += 2)
      if (evaluate(*node.children[i]).truthy()) return block(*node.children[i + 1], out);
    return i < node.children.size() ? block(*node.children[i], out) : Flow::normal;
  }

  void bind(const TemplateNode& node, const TemplateValue& value, Frame& frame) const {
    if (node.names.size() == 1) {
      frame[node.names[0]] = value;
      return;
    }
    const auto items = elements_of(value);
    if (!items || items->size() != node.names.size())
      refuse(node,
             cat("a ", value.type_name(), " cannot be unpacked into ", node.names.size(), " variables"));
    for (std::size_t i = 0; i < node.names.size(); ++i) frame[node.names[i]] = (*items)[i];
  }

  void assign(const TemplateNode& node, TemplateValue value) {
    if (node.text.empty()) return bind(node, value, frames_.back());
    const TemplateValue target = lookup(node.names[0]);
    if (!target.is_namespace())
      refuse(node, cat("'", node.names[0], "' is not a namespace, so its field cannot be set"));
    if (value.is_namespace()) refuse(node, "a namespace within a namespace is not supported");
    set_field(target.name_space().fields, node.text, std::move(value));
  }

  static TemplateValue loop_variable(const TemplateValue::List& items, std::size_t i) {
    const auto number = [](std::size_t n) { return TemplateValue(static_cast<std::int64_t>(n)); };
    TemplateValue::Mapping loop = {{"index", number(i + 1)},
                                   {"index0", number(i)},
                                   {"revindex", number(items.size() - i)},
                                   {"revindex0", number(items.size() - i - 1)},
                                   {"first", i == 0},
                                   {"last", i + 1 == items.size()},
                                   {"length", number(items.size())},
                                   {"depth", 1},
                                   {"depth0", 0}};
    loop.emplace_back("previtem", i > 0 ? items[i - 1] : TemplateValue::undefined("loop.previtem"));
    loop.emplace_back("nextitem",
                      i + 1 < items.size() ? items[i + 1] : TemplateValue::undefined("loop.nextitem"));
    loop.emplace_back("cycle",
                      TemplateValue::Function([i](const TemplateArguments& arguments) -> TemplateValue {
                        if (arguments.positional.empty()) throw Error("loop.cycle: no items were given");
                        return arguments.positional[i % arguments.positional.size()];
                      }));
    return TemplateValue::make_namespace(std::move(loop));
  }

  Flow loop(const TemplateNode& node, std::string& out) {
    const TemplateValue iterable = evaluate(*node.children[0]);
    auto items = elements_of(iterable);
    if (!items) refuse(node, cat("a value of type ", iterable.type_name(), " cannot be looped over"));
    if (node.children[1]) {
      TemplateValue::List kept;
      for (const TemplateValue& item : *items) {
        frames_.emplace_back();
        bind(node, item, frames_.back());
        const bool wanted = evaluate(*node.children[1]).truthy();
        frames_.pop_back();
        if (wanted) kept.push_back(item);
      }
      items = std::move(kept);
    }
    if (items->empty()) {
      if (!node.children[3]) return Flow::normal;
      frames_.emplace_back();
      const Flow flow = block(*node.children[3], out);
      frames_.pop_back();
      return flow;
    }
    for (std::size_t i = 0; i < items->size(); ++i) {
      step(node);
      frames_.emplace_back();
      bind(node, (*items)[i], frames_.back());
      frames_.back()["loop"] = loop_variable(*items, i);
      const Flow flow = block(*node.children[2], out);
      frames_.pop_back();
      if (flow == Flow::break_loop) break;
    }
    return Flow::normal;
  }

  TemplateValue macro(const TemplateNode& node) {
    return TemplateValue::Function([this, &node](const TemplateArguments& arguments) -> TemplateValue {
      if (++calls_ > deepest_call) refuse(node, cat("macros call each other deeper than ", deepest_call));
      arguments.require(cat("the macro '", node.text, "'"), join(node.names, " "));
      // A macro sees the template's own variables and its parameters, not those of its caller.
      std::vector<Frame> outer(std::make_move_iterator(frames_.begin() + 1),
                               std::make_move_iterator(frames_.end()));
      frames_.resize(1);
      frames_.emplace_back();
      for (std::size_t i = 0; i < node.names.size(); ++i) {
        const std::string& name = node.names[i];
        TemplateValue value = TemplateValue::undefined(name);
        if (const TemplateValue* given = arguments.find(i, name); given != nullptr) {
          value = *given;
        } else {
          for (const auto& [key, otherwise] : node.named)
            if (key == name) value = evaluate(*otherwise);
        }
        frames_.back()[name] = std::move(value);
      }
      std::string text;
      block(*node.children[0], text);
      frames_.resize(1);
      std::move(outer.begin(), outer.end(), std::back_inserter(frames_));
      --calls_;
      return text;
    });
  }

  // --- expressions ---
  TemplateValue lookup(const std::string& name) const {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
      if (const auto found = frame->find(name); found != frame->end()) return found->second;
    return TemplateValue::undefined(name);
  }

  TemplateArguments arguments(const TemplateNode& node) {
    TemplateArguments result;
    for (std::size_t i = 1; i < node.children.size(); ++i)
      result.positional.push_back(evaluate(*node.children[i]));
    for (const auto& [name, value] : node.named) result.named.emplace_back(name, evaluate(*value));
    return result;
  }

  /// Runs a function with the node's arguments; its errors get the line.
  template <typename Run>
  auto named(const Run& run, const TemplateNode& node) {
    const TemplateArguments given = arguments(node);
    return located(node, [&] { return run(given); });
  }
  template <typename Run>
  auto located(const TemplateNode& node, const Run& run) {
    try {
      return run();
    } catch (const Error& error) {
      if (error.problem().starts_with(file_ + ": ")) throw;
      refuse(node, error.problem());
    }
  }

  TemplateValue filter(const TemplateNode& node, const TemplateValue* block_text) {
    TemplateValue input;
    if (!node.children[0])
      input = *block_text;
    else if (node.children[0]->kind == NodeKind::filter && block_text != nullptr)
      input = filter(*node.children[0], block_text);
    else
      input = evaluate(*node.children[0]);
    return charged(
        node,
        named([&](const TemplateArguments& given) { return apply_filter(node.text, input, given); }, node));
  }

  TemplateValue compare(const TemplateNode& node) {
    TemplateValue left = evaluate(*node.children[0]);
    for (std::size_t i = 0; i < node.names.size(); ++i) {
      TemplateValue right = evaluate(*node.children[i + 1]);
      const std::string& operation = node.names[i];
      bool holds = false;
      if (operation == "==" || operation == "!=") {
        holds = (left == right) == (operation == "==");
      } else if (operation == "in" || operation == "not in") {
        holds = located(node, [&] { return contains(right, left); }) == (operation == "in");
      } else {
        const auto order = compare_values(left, right);
        if (!order)
          refuse(node, cat("'", operation, "' is not supported between ", left.type_name(), " and ",
                           right.type_name()));
        holds = operation == "<"    ? *order < 0
                : operation == ">"  ? *order > 0
                : operation == "<=" ? *order <= 0
                                    : *order >= 0;
      }
      if (!holds) return false;
      left = std::move(right);
    }
    return true;
  }

  TemplateValue call(const TemplateNode& node) {
    const TemplateValue callee = evaluate(*node.children[0]);
    if (!callee.is_function()) {
      const TemplateNode& target = *node.children[0];
      refuse(node, cat("'", target.text, "' is ",
                       callee.is_undefined() ? "not defined or not supported" : "not a function",
                       ", so it cannot be called"));
    }
    return charged(node, named(callee.function(), node));
  }

  TemplateValue evaluate(const TemplateNode& node) {
    step(node);
    const auto child = [&](std::size_t i) { return evaluate(*node.children[i]); };
    switch (node.kind) {
      case NodeKind::constant:
        return node.value;
      case NodeKind::name:
        return lookup(node.text);
      case NodeKind::list:
      case NodeKind::tuple: {
        TemplateValue::List list;
        for (const auto& element : node.children) list.push_back(evaluate(*element));
        return located(node, [&] {
          return node.kind == NodeKind::tuple ? TemplateValue::tuple(std::move(list))
                                              : TemplateValue(std::move(list));
        });
      }
      case NodeKind::mapping: {
        TemplateValue::Mapping mapping;
        for (std::size_t i = 0; i < node.children.size(); i += 2)
          set_field(mapping, key_of(node, child(i)), child(i + 1));
        return located(node, [&] { return TemplateValue(std::move(mapping)); });
      }
      case NodeKind::attribute: {
        const TemplateValue value = child(0);
        return located(node, [&] { return attribute_of(value, node.text); });
      }
      case NodeKind::subscript: {
        const TemplateValue value = child(0), key = child(1);
        return located(node, [&] { return item_of(value, key); });
      }
      case NodeKind::slice: {
        const auto part = [&](std::size_t i) { return node.children[i] ? child(i) : TemplateValue(); };
        const TemplateValue value = child(0), start = part(1), stop = part(2), pace = part(3);
        return located(node, [&] { return slice_of(value, start, stop, pace); });
      }
      case NodeKind::call:
        return call(node);
      case NodeKind::filter:
        return filter(node, nullptr);
      case NodeKind::test: {
        const TemplateValue input = child(0);
        return named([&](const TemplateArguments& given) { return apply_test(node.text, input, given); },
                     node);
      }
      case NodeKind::compare:
        return compare(node);
      case NodeKind::logical_not:
        return !child(0).truthy();
      case NodeKind::logical_and: {
        TemplateValue left = child(0);
        return left.truthy() ? child(1) : left;
      }
      case NodeKind::logical_or: {
        TemplateValue left = child(0);
        return left.truthy() ? left : child(1);
      }
      case NodeKind::conditional:
        if (child(0).truthy()) return child(1);
        return node.children[2] ? child(2) : TemplateValue::undefined("");
      default:
        return arithmetic(node);
    }
  }

  std::string key_of(const TemplateNode& node, const TemplateValue& key) {
    return located(node, [&] {
      if (!key.is_string())
        throw Error(cat("a mapping's key is ", key.type_name(), ": only strings are supported"));
      return key.string();
    });
  }

  TemplateValue arithmetic(const TemplateNode& node) {
    const TemplateValue left = evaluate(*node.children[0]);
    if (node.kind == NodeKind::negate && left.is_real()) return -left.real();
    if (node.kind == NodeKind::negate || node.kind == NodeKind::plus) {
      return located(node, [&] {
        return binary_operation(node.kind == NodeKind::negate ? "-" : "+", TemplateValue(0), left);
      });
    }
    const TemplateValue right = evaluate(*node.children[1]);
    if (node.kind == NodeKind::concatenate) {
      std::string text = printed(node, left);
      append(node, text, printed(node, right));
      return text;
    }
    return charged(node, located(node, [&] { return binary_operation(node.text, left, right); }));
  }

  const std::string& file_;
  std::time_t now_;
  std::vector<Frame> frames_;
  std::size_t steps_ = 0;
  std::size_t written_ = 0;
  int calls_ = 0;
};

}  // namespace

ChatTemplate::ChatTemplate(std::string_view source, std::string name)
    : root_(parse_template(source, name)), name_(std::move(name)) {}

std::string ChatTemplate::render(const TemplateValue& variables, std::time_t now) const {
  return Renderer(name_, now).run(*root_, variables);
}

}  // namespace luminal::io

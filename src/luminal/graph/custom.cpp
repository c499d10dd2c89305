#include "luminal/graph/custom.h"

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

std::vector<Array> run_custom(const Node& node, std::span<const Array> inputs, const DimMap& dims) {
  const CustomOp& op = *node.get<attribute::Custom>().op;
  std::vector<Array> outputs;
  try {
    outputs = op.run(inputs);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& problem) {
    throw Error(cat("custom op '", op.name, "': ", problem.what()), node.where);
  }
  if (outputs.size() != node.outputs.size())
    throw Error(
        cat("custom op '", op.name, "': gave ", outputs.size(), " outputs, expected ", node.outputs.size()),
        node.where);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto expected = node.outputs[i].shape.eval(dims);
    if (outputs[i].dtype() != node.outputs[i].dtype || outputs[i].dims() != expected)
      throw Error(
          cat("custom op '", op.name, "': output ", i, " is ", outputs[i].dtype(), "[",
              join(outputs[i].dims()), "], expected ", node.outputs[i].dtype, "[", join(expected), "]"),
          node.where);
    outputs[i] = outputs[i].contiguous();
  }
  return outputs;
}

}  // namespace luminal

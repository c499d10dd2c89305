#include "luminal/compile/host.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "luminal/graph/custom.h"
#include "luminal/graph/effects.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

Array array_of(std::span<const std::byte> bytes, const TensorType& type, const DimMap& dims) {
  Array array(type.dtype, type.shape.eval(dims));
  if (!bytes.empty()) std::memcpy(array.bytes(), bytes.data(), bytes.size());
  return array;
}

void run_custom_step(const Node& node, const std::vector<TensorType>& types, const runtime::HostCall& call) {
  std::vector<Array> inputs;
  for (std::size_t k = 0; k < types.size(); ++k)
    inputs.push_back(array_of(call.inputs[k], types[k], call.dims));
  const auto outputs = run_custom(node, inputs, call.dims);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (outputs[k].size() > 0)
      std::memcpy(call.outputs[k].data(), outputs[k].bytes(), call.outputs[k].size());
}

/// Numbers in order, NaN above all; equal ones as they stood.
template <typename Key>
void sort_rows(std::size_t rows, std::size_t length, bool descending, std::size_t bytes,
               const std::byte* from, std::byte* sorted, std::int64_t* places, const Key& key) {
  using K = decltype(key(from));
  std::vector<K> keys(length);
  std::vector<std::int64_t> order(length);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::byte* row = from + r * length * bytes;
    for (std::size_t i = 0; i < length; ++i) keys[i] = key(row + i * bytes);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const K& x = keys[static_cast<std::size_t>(descending ? b : a)];
      const K& y = keys[static_cast<std::size_t>(descending ? a : b)];
      if constexpr (std::is_floating_point_v<K>) {
        if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
      }
      return x < y;
    });
    for (std::size_t i = 0; i < length; ++i) {
      const auto place = static_cast<std::size_t>(order[i]);
      std::memcpy(sorted + (r * length + i) * bytes, row + place * bytes, bytes);
      places[r * length + i] = order[i];
    }
  }
}

void run_sort(const Node& node, const runtime::HostCall& call) {
  const DType dtype = node.outputs[0].dtype;
  const auto dims = node.outputs[0].shape.eval(call.dims);
  const auto length = static_cast<std::size_t>(dims.back());
  const std::size_t bytes = byte_size(dtype);
  const std::size_t rows = length == 0 ? 0 : call.inputs[0].size() / bytes / length;
  const bool descending = node.get<attribute::Sort>().descending;
  const auto go = [&](const auto& key) {
    sort_rows(rows, length, descending, bytes, call.inputs[0].data(), call.outputs[0].data(),
              reinterpret_cast<std::int64_t*>(call.outputs[1].data()), key);
  };
  if (is_floating(dtype))
    go([&](const std::byte* at) { return to_double(load(dtype, at)); });
  else if (row(dtype).kind == DTypeKind::signed_integer)
    go([&](const std::byte* at) { return to_number(load(dtype, at)).integer(); });
  else
    go([&](const std::byte* at) { return to_number(load(dtype, at)).natural(); });
}

}  // namespace

std::function<void(const runtime::HostCall&)> host_step(const Dag& dag, NodeId id, const Sink& sink) {
  const Node& node = dag.node(id);  // the steps keep copies
  std::vector<TensorType> types;
  for (const auto& input : node.inputs) types.push_back(dag.type(input));
  switch (node.op) {
    case Op::custom:
      return [node, types](const runtime::HostCall& call) { run_custom_step(node, types, call); };
    case Op::sort:
      return [node](const runtime::HostCall& call) { run_sort(node, call); };
    case Op::print:
    case Op::diff:
      return [node, types, sink](const runtime::HostCall& call) {
        run_effect(node, array_of(call.inputs[0], types[0], call.dims), sink);
      };
    default:
      throw InternalError(cat(node.op, " is no step for the host"));
  }
}

}  // namespace luminal

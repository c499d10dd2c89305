#include "luminal/autograd/gradients.h"
#include "luminal/compile/compile.h"
#include "suite.h"
#include "tests/guarded.h"

namespace luminal::ops {
namespace {

/// The oracle.
class Interpreter : public Backend {
 public:
  std::string_view name() const override { return "interpreter"; }
  std::vector<Array> run(Graph& graph, const std::vector<Tensor>& outputs) override {
    for (const auto& output : outputs) output.retrieve();
    graph.execute();
    std::vector<Array> results;
    for (const auto& output : outputs) results.push_back(output.array());
    return results;
  }
};

/// Compiled for this machine's processor.
class Cpu : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  double slack() const override { return 2; }
  std::vector<Array> run(Graph& graph, const std::vector<Tensor>& outputs) override {
    for (const auto& output : outputs) output.retrieve();
    Executable exe = compile(graph, device_, {.verify = true});
    exe.run();
    std::vector<Array> results;
    for (const auto& output : outputs) results.push_back(exe.array(output));
    return results;
  }

 private:
  std::shared_ptr<runtime::Device> device_ = test::guarded_cpu();
};

}  // namespace

std::vector<std::unique_ptr<Backend>> backends() {
  std::vector<std::unique_ptr<Backend>> all;
  all.push_back(std::make_unique<Interpreter>());
  all.push_back(std::make_unique<Cpu>());
  return all;
}

Gradients gradients() {
  return [](const Tensor& loss, const std::vector<Tensor>& inputs) {
    return luminal::gradients(loss, inputs, {.seed = {}, .allow_unused = true});
  };
}

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      arithmetic_family(), math_family(),   compare_family(),  activation_family(),  reduce_family(),
      normalise_family(),  matmul_family(), movement_family(), convolution_family(), pooling_family(),
      index_family(),      scan_family(),   create_family(),   random_family(),
  };
  return all;
}

}  // namespace luminal::ops

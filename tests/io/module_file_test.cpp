#include <gtest/gtest.h>

#include "files.h"
#include "luminal/luminal.h"

namespace luminal::io {
namespace {

using test::TemporaryFolder;

/// Trained states, running statistics and a transformer block, some of them in a container.
struct Network {
  explicit Network(const nn::Scope& scope)
      : embed(scope / "embed", 6, 8),
        norm(scope / "norm", 8),
        blocks{nn::LlamaBlock(scope / "block0", 8, options()),
               nn::LlamaBlock(scope / "block1", 8, options())} {}

  static nn::LlamaOptions options() {
    nn::LlamaOptions options;
    options.heads = 2;
    options.hidden = 12;
    return options;
  }
  Tensor operator()(const Tensor& x) const {
    Tensor y = norm(embed(x).reshape({-1, 8})).reshape({2, 3, 8});
    for (const nn::LlamaBlock& block : blocks) y = block(y);
    return y;
  }
  void visit(nn::Visitor& v) {
    v.module("embed", embed);
    v.module("norm", norm);
    v.module("layers", blocks);
  }

  nn::Linear embed;
  nn::BatchNorm norm;
  std::vector<nn::LlamaBlock> blocks;
};

std::vector<float> output(Network& network, Graph& g) {
  nn::set_mode(network, nn::Mode::eval);
  std::vector<float> values;
  for (int i = 0; i < 36; ++i) values.push_back(static_cast<float>(i % 7) - 3);
  const Tensor y = network(g.tensor({2, 3, 6}).set(values));
  g.evaluate({y});
  return y.data<float>();
}

/// A network whose running statistics are no longer what they were at first.
struct Trained {
  Trained() : network(nn::Scope(g, 1)) {
    network(g.tensor({2, 3, 6}).set(std::vector<float>(36, 0.5F))).retrieve();
    g.execute();
  }
  Graph g;
  Network network;
};

TEST(ModuleFiles, AModuleComesBackFromBothFormats) {
  const TemporaryFolder folder;
  Trained trained;
  const std::vector<float> expected = output(trained.network, trained.g);
  for (const char* file : {"model.safetensors", "model.gguf"}) {
    save(folder / file, nn::state_dict(trained.network));
    const ModelFile stored = open_model(folder / file);
    EXPECT_NE(stored.find("layers.1.attention.query.weight"), nullptr)
        << "states are named by their path, with dots";
    Graph g;
    Network fresh(nn::Scope(g, 2));
    ASSERT_NE(output(fresh, g), expected);
    load_into(nn::state_dict(fresh), stored);
    EXPECT_EQ(output(fresh, g), expected) << file;
  }
}

TEST(ModuleFiles, ForeignNamesBothWays) {
  const TemporaryFolder folder;
  Trained trained;
  const NameMap names = renamed(
      {{"layers.*.attention.*.weight", "blk.*.attn_*.weight"}, {"embed.weight", "token_embd.weight"}});
  save(folder / "m.gguf", nn::state_dict(trained.network),
       {.names = names, .metadata = {{"general.architecture", "test"}}});
  const ModelFile stored = open_model(folder / "m.gguf");
  EXPECT_NE(stored.find("blk.0.attn_key.weight"), nullptr);
  EXPECT_NE(stored.find("token_embd.weight"), nullptr);
  Graph g;
  Network fresh(nn::Scope(g, 2));
  load_into(nn::state_dict(fresh), stored, {.names = names});
  EXPECT_EQ(output(fresh, g), output(trained.network, trained.g));
}

TEST(ModuleFiles, AllThatDoesNotFitIsInOneError) {
  const TemporaryFolder folder;
  Trained trained;
  auto states = nn::state_dict(trained.network);
  states.erase("embed/bias");
  states.erase("layers/1/attention/query/weight");
  save(folder / "m.safetensors", states, {.names = renamed({{"norm.weight", "norm.gamma"}}), .metadata = {}});
  Graph g;
  struct Wider {
    explicit Wider(Graph& g) : network(nn::Scope(g, 2)), extra(nn::Scope(g, 2) / "extra", 2, 2) {}
    void visit(nn::Visitor& v) {
      network.visit(v);
      v.module("extra", extra);
    }
    Network network;
    nn::Linear extra;
  } wider(g);
  wider.network.embed = nn::Linear(nn::Scope(g, 2) / "wide", 7, 8);
  const std::vector<float> before = wider.extra.weight.data<float>();
  try {
    load_into(nn::state_dict(wider), open_model(folder / "m.safetensors"));
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const char* expected : {"missing from the file (5)", "embed.bias", "layers.1.attention.query.weight",
                                 "norm.weight", "extra.weight", "asked for by nothing (1)", "norm.gamma",
                                 "of another type (1)", "embed.weight has shape"})
      EXPECT_NE(text.find(expected), std::string::npos) << expected << " in " << text;
  }
  EXPECT_EQ(wider.extra.weight.data<float>(), before) << "nothing is set when something does not fit";
  EXPECT_THROW(save(folder / "m.gguf", nn::state_dict(wider),
                    {.names = [](const std::string&) { return "one"; }, .metadata = {}}),
               Error);
}

}  // namespace
}  // namespace luminal::io

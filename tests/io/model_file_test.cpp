#include "luminal/io/model_file.h"

#include <gtest/gtest.h>

#include "files.h"
#include "luminal/io/gguf.h"
#include "luminal/io/parameters.h"
#include "luminal/io/quantise.h"
#include "luminal/io/safetensors.h"
#include "luminal/luminal.h"

namespace luminal::io {
namespace {

using test::TemporaryFolder;

Array counting(DType dtype, std::vector<std::int64_t> dims) {
  Array result(dtype, std::move(dims));
  for (std::int64_t i = 0; i < result.size(); ++i) result.set(i, make_scalar(dtype, Number(i % 2)));
  return result;
}

std::map<std::string, Array> one_of_each() {
  std::map<std::string, Array> tensors;
  for (const DType dtype : all_dtypes)
    tensors.emplace(std::string("of.") + std::string(name(dtype)), counting(dtype, {3, 2}));
  tensors.emplace("scalar", Array(2.5F));
  tensors.emplace("empty", Array(DType::f32, {0, 7}));
  tensors.emplace("schräg", Array({1, 2, 3}));
  return tensors;
}

TEST(Safetensors, WritesAndReadsEveryDtype) {
  const TemporaryFolder folder;
  const auto tensors = one_of_each();
  save(folder / "a.safetensors", tensors, {{"format", "pt"}});
  const ModelFile file = open_model(folder / "a.safetensors");
  EXPECT_EQ(file.metadata.at("format"), "pt");
  const auto back = load(folder / "a.safetensors");
  ASSERT_EQ(back.size(), tensors.size());
  for (const auto& [name, array] : tensors) EXPECT_TRUE(same_values(back.at(name), array)) << name;
}

TEST(Safetensors, StridedArraysAreWrittenInOrder) {
  const TemporaryFolder folder;
  const std::vector<float> data = {1, 2, 3, 4, 5, 6};
  save(folder / "a.safetensors", {{"t", Array::borrow(DType::f32, {3, 2}, {1, 3}, data.data())}});
  EXPECT_EQ(load(folder / "a.safetensors").at("t").values<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST(Safetensors, ReadsShardsThroughTheirIndex) {
  const TemporaryFolder folder;
  save(folder / "one.safetensors", {{"a", Array({1, 2})}});
  save(folder / "elsewhere.bin", {{"b", Array({3})}});
  std::filesystem::create_symlink(folder / "elsewhere.bin", folder / "two.safetensors");
  test::write_file(folder / "model.safetensors.index.json",
                   R"({"metadata": {}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  const ModelFile model = open_model(folder.path().string());
  EXPECT_EQ(model.files.size(), 2U);
  EXPECT_EQ(model.find("b")->array().values<std::int64_t>(), std::vector<std::int64_t>{3});
  EXPECT_EQ(model.find("c"), nullptr);
}

TEST(Gguf, WritesAndReadsBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.gguf";
  std::vector<float> values(512);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 512;
  const Array matrix(values, {2, 256});
  std::vector<GgufNewTensor> tensors;
  for (const Format format :
       {Format::f64, Format::f32, Format::f16, Format::bf16, Format::i8, Format::i16, Format::i32,
        Format::i64, Format::q8_0, Format::q4_0, Format::q4_k, Format::q6_k})
    tensors.push_back({"t." + std::string(name(format)), format, {2, 256}, [&matrix, format] {
                         return encode_tensor(format, matrix);
                       }});
  const std::vector<std::pair<std::string, GgufNewValue>> metadata = {
      {"general.architecture", GgufNewValue::of(std::string("test"))},
      {"answer", GgufNewValue::of(42U)},
      {"minus", {GgufType::i8, std::int64_t{-5}}},
      {"half", {GgufType::f64, 0.5}},
      {"yes", {GgufType::boolean, true}},
      {"words", GgufNewValue::of(GgufList(std::vector<std::string>{"a", "", "ß"}))},
      {"numbers", GgufNewValue::of(GgufList(std::vector<std::int32_t>{-1, 2}))}};
  write_gguf(path, metadata, tensors);
  const Gguf gguf = open_gguf(MappedFile(path));
  EXPECT_EQ(gguf.text("general.architecture"), "test");
  EXPECT_EQ(gguf.integer("answer"), 42);
  EXPECT_EQ(gguf.integer("minus"), -5);
  EXPECT_EQ(gguf.boolean("yes"), true);
  EXPECT_EQ(gguf.integer("absent"), std::nullopt);
  EXPECT_THROW((void)gguf.integer("half"), Error);
  EXPECT_EQ(gguf.array("words", GgufType::text)->texts(), (std::vector<std::string_view>{"a", "", "ß"}));
  EXPECT_EQ(gguf.array("numbers", GgufType::i32)->integers(), (std::vector<std::int64_t>{-1, 2}));
  EXPECT_EQ(gguf.tensors.size(), tensors.size());
  const auto back = load(path);
  EXPECT_TRUE(same_values(back.at("t.f32"), matrix));
  EXPECT_NEAR(back.at("t.q6_k").values<float>()[100], values[100], 0.01);
  EXPECT_EQ(back.at("t.f32").dims(), (std::vector<std::int64_t>{2, 256}));
}

TEST(Parameters, LoadIntoGivesValuesByName) {
  const TemporaryFolder folder;
  save(folder / "m.safetensors", {{"blk.0.w", Array({{1, 2}, {3, 4}})}, {"out", Array({0.5F, 1.5F})}});
  Graph g;
  const Tensor w = g.tensor({2, 2});
  const State out = g.state("out", {2});
  load_into({{"layers.0.weight", w}, {"out", out}}, open_model(folder / "m.safetensors"),
            {.names = renamed({{"layers.*.weight", "blk.*.w"}})});
  EXPECT_EQ(w.data<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(out.data<float>(), (std::vector<float>{0.5, 1.5}));
}

TEST(Parameters, LoadIntoListsEveryMismatchTogether) {
  const TemporaryFolder folder;
  save(folder / "m.safetensors",
       {{"a", Array({1.0F, 2.0F})}, {"b", Array({1.0F})}, {"c", Array({1.0F})}, {"d", Array({1.0F})}});
  Graph g;
  const Tensor a = g.tensor({3}), d = g.tensor({1});
  const std::map<std::string, Tensor> parameters = {{"a", a},
                                                    {"b", g.tensor({1}, DType::i32)},
                                                    {"d", d},
                                                    {"missing.one", g.tensor({1})},
                                                    {"missing.two", g.tensor({1})}};
  try {
    load_into(parameters, open_model(folder / "m.safetensors"));
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const char* expected :
         {"missing.one", "missing.two", "a has shape", "b is i32", "asked for by nothing (1)", "c"})
      EXPECT_NE(text.find(expected), std::string::npos) << expected << " in " << text;
  }
  EXPECT_FALSE(d.has_data()) << "nothing is set when something does not fit";
  const LoadOptions lenient{.names = {}, .allow_missing = true, .allow_extra = true};
  load_into({{"d", d}, {"e", g.tensor({1})}}, open_model(folder / "m.safetensors"), lenient);
  EXPECT_TRUE(d.has_data());
  EXPECT_THROW(renamed({{"a.*", "b"}}), Error);
}

/// What the packages read in tests/io/peers.py.
TEST(PeerFiles, AreWrittenWhenAFolderIsGiven) {
  const char* folder = std::getenv("LUMINAL_PEER_DIR");
  if (folder == nullptr) GTEST_SKIP() << "run by './luminal test -L peers'";
  save(std::string(folder) + "/ours.safetensors", one_of_each(), {{"made by", "luminal"}});
  std::map<std::string, Array> plain;
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i8, DType::i16, DType::i32, DType::i64})
    plain.emplace(std::string(name(dtype)), counting(dtype, {3, 2}));
  save(std::string(folder) + "/ours.gguf", plain, {{"general.architecture", "test"}});
}

}  // namespace
}  // namespace luminal::io

#include "hostile.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "luminal/io/gguf.h"
#include "luminal/io/model_file.h"
#include "luminal/io/safetensors.h"
#include "luminal/io/tokenizer.h"
#include "luminal/support/error.h"

namespace luminal::io {
namespace {

using namespace test;

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"x":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

std::vector<Hostile> safetensors_files() {
  const auto of = [](const std::string& header, std::size_t data = 8) {
    return safetensors_of(header, data);
  };
  const std::string two = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)";
  return {
      {"empty", "", "expected at least 8"},
      {"seven bytes", "1234567", "expected at least 8"},
      {"no header", raw<std::uint64_t>(2), "does not fit"},
      {"header beyond the file", raw<std::uint64_t>(100) + "{}", "does not fit"},
      {"header of 2^64 - 1", raw<std::uint64_t>(~0ULL) + "{}", "does not fit"},
      {"header of 2^63", raw<std::uint64_t>(1ULL << 63U) + "{}", "does not fit"},
      {"header of length 0", raw<std::uint64_t>(0), "does not begin with '{'"},
      {"not JSON", of("hello"), "does not begin with '{'"},
      {"spaces first", of(" {}", 0), "does not begin with '{'"},
      {"list", of("[]"), "does not begin with '{'"},
      {"cut JSON", of(R"({"x":)"), "bad JSON"},
      {"trailing comma", of("{,}"), "bad JSON"},
      {"bad UTF-8", of("{\"\xFF\":1}"), "bad JSON"},
      {"lone surrogate", of(R"({"\ud800":{}})"), "bad JSON"},
      {"NUL after the header", of(std::string("{}\0", 3), 0), "bad JSON"},
      {"text after the object", of("{} x", 0), "bad JSON"},
      {"deep lists", of("{\"x\":" + std::string(100000, '[')), "none was expected"},
      {"deep objects", of(R"({"x":{"shape":{"a":{}}}})"), "object"},
      {"tensor is a number", of(R"({"x":1})"), "not expected"},
      {"tensor is text", of(R"({"x":"y"})"), "not expected"},
      {"tensor is null", of(R"({"x":null})"), "null"},
      {"tensor is a list", of(R"({"x":[1]})"), "none was expected"},
      {"tensor is true", of(R"({"x":true})"), "bool"},
      {"empty tensor entry", of(R"({"x":{}})"), "\"dtype\" is missing"},
      {"no shape", of(R"({"x":{"dtype":"F32","data_offsets":[0,8]}})"), "\"shape\" is missing"},
      {"no offsets", of(R"({"x":{"dtype":"F32","shape":[2]}})"), "data_offsets"},
      {"one offset", of(entry("F32", "[2]", "[0]")), "1 numbers, not 2"},
      {"three offsets", of(entry("F32", "[2]", "[0,4,8]")), "3 numbers, not 2"},
      {"unknown key", of(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"y":1}})"), "unknown"},
      {"unknown dtype", of(entry("F31", "[2]", "[0,8]")), "\"F31\" is not supported"},
      {"empty dtype", of(entry("", "[2]", "[0,8]")), "not supported"},
      {"lower case dtype", of(entry("f32", "[2]", "[0,8]")), "not supported"},
      {"dtype twice", of(R"({"x":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})"), "twice"},
      {"shape twice", of(R"({"x":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}})"), "twice"},
      {"offsets twice", of(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"data_offsets":[0,8]}})"),
       "twice"},
      {"dtype is a number", of(R"({"x":{"dtype":1,"shape":[2],"data_offsets":[0,8]}})"), "not expected"},
      {"negative dim", of(entry("F32", "[-2]", "[0,8]")), "negative"},
      {"real dim", of(entry("F32", "[2.0]", "[0,8]")), "whole number"},
      {"dim of 1e30", of(entry("F32", "[1e30]", "[0,8]")), "whole number"},
      {"dim of 2^64", of(entry("F32", "[18446744073709551616]", "[0,8]")), "whole number"},
      {"dim of 2^63", of(entry("F32", "[9223372036854775808]", "[0,8]")), "2^63"},
      {"elements overflow", of(entry("F32", "[4294967296,4294967296]", "[0,8]")), "exceeds 2^63 - 1"},
      {"strides overflow", of(entry("F32", "[0,4294967296,4294967296]", "[0,0]"), 0), "exceeds 2^63 - 1"},
      {"bytes overflow", of(entry("F64", "[4611686018427387904]", "[0,8]")), "63 bits"},
      {"text in the shape", of(entry("F32", "[\"2\"]", "[0,8]")), "not expected"},
      {"list in the shape", of(entry("F32", "[[2]]", "[0,8]")), "none was expected"},
      {"shape is a number", of(entry("F32", "2", "[0,8]")), "not expected"},
      {"size too small", of(entry("F32", "[2]", "[0,4]"), 4), "needs 8 bytes"},
      {"size too large", of(entry("F32", "[1]", "[0,8]")), "needs 4 bytes"},
      {"offsets reversed", of(entry("F32", "[2]", "[8,0]")), "outside"},
      {"end beyond the file", of(entry("F32", "[4]", "[0,16]")), "outside"},
      {"offsets at 2^63", of(entry("F32", "[2]", "[9223372036854775800,9223372036854775807]")), "outside"},
      {"negative offset", of(entry("F32", "[2]", "[-8,0]")), "negative"},
      {"hole at the start", of(entry("F32", "[1]", "[4,8]")), "after a hole"},
      {"bytes at the end", of(entry("F32", "[1]", "[0,4]")), "belong to no tensor"},
      {"data without tensors", of("{}"), "belong to no tensor"},
      {"overlap", of(two + R"([0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})", 6),
       "inside the tensor before"},
      {"same place twice", of(two + R"([0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
       "inside the tensor before"},
      {"hole between", of(two + R"([0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[6,10]}})", 10),
       "after a hole"},
      {"name twice", of(two + R"([0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})"), "twice"},
      {"metadata is a number", of(R"({"__metadata__":1})"), "not expected"},
      {"metadata holds a number", of(R"({"__metadata__":{"a":1}})"), "not expected"},
      {"metadata holds an object", of(R"({"__metadata__":{"a":{}}})"), "object"},
      {"metadata key twice", of(R"({"__metadata__":{"a":"1","a":"2"}})"), "twice"},
      {"zip file", "PK\3\4" + std::string(100, '\0'), "does not fit"},
  };
}

std::string gguf_key(std::string_view key, std::uint32_t type, const std::string& value) {
  return gguf_text(key) + raw(type) + value;
}
std::string gguf_of_value(std::uint32_t type, const std::string& value) {
  return gguf_head(0, 1) + gguf_key("k", type, value);
}
std::string gguf_of_tensor(const std::string& info, std::size_t data) {
  return padded(gguf_head(1, 0) + info) + std::string(data, '\1');
}
std::string gguf_aligned(std::uint32_t type, const std::string& value) {
  return gguf_head(0, 1) + gguf_key("general.alignment", type, value);
}

std::vector<Hostile> gguf_files() {
  const std::string one = raw<std::uint64_t>(1), eight = raw<std::uint64_t>(8);
  const auto nested = [](int depth) {
    std::string value = raw<std::uint32_t>(0) + raw<std::uint64_t>(0);
    for (int i = 0; i < depth; ++i) value = raw<std::uint32_t>(9) + raw<std::uint64_t>(1) + value;
    return gguf_of_value(9, value);
  };
  const std::string a = gguf_tensor("a", eight, 1, 0, 0);
  return {
      {"magic only", "GGUF", "the version"},
      {"no counts", "GGUF" + raw<std::uint32_t>(3), "number of tensors"},
      {"version 0", gguf_head(0, 0, 0), "version 0"},
      {"version 1", gguf_head(0, 0, 1), "version 1"},
      {"version 4", gguf_head(0, 0, 4), "version 4"},
      {"big-endian", gguf_head(0, 0, 0x03000000U), "big-endian"},
      {"2^64 - 1 tensors", gguf_head(~0ULL, 0), "do not fit"},
      {"2^64 - 1 values", gguf_head(0, ~0ULL), "do not fit"},
      {"a negative count", gguf_head(static_cast<std::uint64_t>(-1LL), 0), "do not fit"},
      {"a value too many", gguf_head(0, 1), "do not fit"},
      {"a tensor too many", gguf_head(2, 0) + a + std::string(24, '\0'), "0 bytes"},
      {"key beyond the file", gguf_head(0, 1) + raw<std::uint64_t>(1000) + std::string(20, 'k'),
       "1000 bytes are needed"},
      {"key of 2^64 - 1 bytes", gguf_head(0, 1) + raw(~0ULL) + std::string(20, 'k'), "bytes are needed"},
      {"empty key", gguf_head(0, 1) + raw<std::uint64_t>(0) + raw<std::uint32_t>(0) + std::string(9, 'x'),
       "0 bytes"},
      {"key is not UTF-8", gguf_head(0, 1) + gguf_key("\xFF\xFE", 0, "x"), "not UTF-8"},
      {"key of 70000 bytes", gguf_head(0, 1) + gguf_key(std::string(70000, 'k'), 0, "x"), "70000 bytes"},
      {"key twice", gguf_head(0, 2) + gguf_key("kkkkkkkkkkkkkk", 0, "x") + gguf_key("kkkkkkkkkkkkkk", 0, "y"),
       "stands twice"},
      {"type 13", gguf_of_value(13, "x"), "type 13 is unknown"},
      {"type 2^32 - 1", gguf_of_value(~0U, "x"), "is unknown"},
      {"bool of 2", gguf_of_value(7, "\2"), "expected 0 or 1"},
      {"u64 cut", gguf_of_value(10, "1234"), "8 bytes are needed"},
      {"text beyond the file", gguf_of_value(8, raw<std::uint64_t>(99) + "x"), "99 bytes are needed"},
      {"text of 2^63 bytes", gguf_of_value(8, raw<std::uint64_t>(1ULL << 63U) + "x"), "bytes are needed"},
      {"array of an unknown type", gguf_of_value(9, raw<std::uint32_t>(50) + one), "is unknown"},
      {"array beyond the file", gguf_of_value(9, raw<std::uint32_t>(4) + raw<std::uint64_t>(1000) + "abcd"),
       "does not fit"},
      {"array of 2^61 u64", gguf_of_value(9, raw<std::uint32_t>(10) + raw<std::uint64_t>(1ULL << 61U)),
       "does not fit"},
      {"array of 2^64 - 1 texts", gguf_of_value(9, raw<std::uint32_t>(8) + raw(~0ULL)), "does not fit"},
      {"text in an array beyond the file",
       gguf_of_value(9, raw<std::uint32_t>(8) + one + raw<std::uint64_t>(50)), "50 bytes are needed"},
      {"array of bools with a 2", gguf_of_value(9, raw<std::uint32_t>(7) + one + "\2"), "neither 0 nor 1"},
      {"arrays nested 5 deep", nested(4), "nested deeper"},
      {"arrays nested 1000 deep", nested(1000), "nested deeper"},
      {"alignment 0", gguf_aligned(4, raw<std::uint32_t>(0)), "power of two"},
      {"alignment 24", gguf_aligned(4, raw<std::uint32_t>(24)), "power of two"},
      {"alignment 2^31", gguf_aligned(4, raw<std::uint32_t>(1U << 31U)), "power of two"},
      {"alignment is text", gguf_aligned(8, gguf_text("32")), "expected u32"},
      {"alignment is u64", gguf_aligned(10, raw<std::uint64_t>(32)), "expected u32"},
      {"alignment is negative", gguf_aligned(5, raw<std::int32_t>(-32)), "expected u32"},
      {"tensor without data", gguf_head(1, 0) + a, "needs 32 bytes"},
      {"tensor beyond the file", gguf_of_tensor(a, 31), "needs 32 bytes"},
      {"tensor of rank 5", gguf_of_tensor(gguf_tensor("a", std::string(40, '\1'), 5, 0, 0), 32), "5 dims"},
      {"tensor of rank 2^32 - 1", gguf_of_tensor(gguf_tensor("a", eight, ~0U, 0, 0), 32), "dims"},
      {"dim of 2^64 - 1", gguf_of_tensor(gguf_tensor("a", raw(~0ULL), 1, 0, 0), 32), "exceeds 2^63 - 1"},
      {"elements overflow",
       gguf_of_tensor(
           gguf_tensor("a", raw<std::uint64_t>(1ULL << 40U) + raw<std::uint64_t>(1ULL << 40U), 2, 0, 0), 32),
       "2^63 - 1"},
      {"bytes overflow", gguf_of_tensor(gguf_tensor("a", raw<std::uint64_t>(1ULL << 62U), 1, 0, 0), 32),
       "63 bits"},
      {"type 999", gguf_of_tensor(gguf_tensor("a", eight, 1, 999, 0), 32), "type 999"},
      {"a removed type", gguf_of_tensor(gguf_tensor("a", eight, 1, 4, 0), 32), "type 4"},
      {"rows that are not whole blocks",
       gguf_of_tensor(gguf_tensor("a", raw<std::uint64_t>(33), 1, 8, 0), 64), "multiple of 32"},
      {"a scalar in blocks", gguf_of_tensor(gguf_tensor("a", "", 0, 8, 0), 64), "multiple of 32"},
      {"offset not aligned", gguf_of_tensor(gguf_tensor("a", eight, 1, 0, 1), 64), "expected 0"},
      {"offset leaves a hole", gguf_of_tensor(gguf_tensor("a", eight, 1, 0, 32), 64), "expected 0"},
      {"offset of 2^64 - 32", gguf_of_tensor(gguf_tensor("a", eight, 1, 0, ~0ULL - 31), 64), "expected 0"},
      {"overlap", padded(gguf_head(2, 0) + a + gguf_tensor("b", eight, 1, 0, 0)) + std::string(64, '\1'),
       "expected 32"},
      {"hole between",
       padded(gguf_head(2, 0) + a + gguf_tensor("b", eight, 1, 0, 64)) + std::string(96, '\1'),
       "expected 32"},
      {"tensor twice",
       padded(gguf_head(2, 0) + a + gguf_tensor("a", eight, 1, 0, 32)) + std::string(64, '\1'),
       "stands twice"},
      {"tensor name empty", gguf_of_tensor(gguf_tensor("", eight, 1, 0, 0), 32), "0 bytes"},
      {"tensor name not UTF-8", gguf_of_tensor(gguf_tensor("\x80", eight, 1, 0, 0), 32), "not UTF-8"},
      {"bytes at the end", gguf_of_tensor(a, 100), "belong to no tensor"},
  };
}

std::string tokenizer_with(const std::string& model, const std::string& rest = "") {
  return R"({"model":)" + model + rest + "}";
}

std::vector<Hostile> tokenizer_files() {
  const std::string fine = R"({"type":"WordLevel","unk_token":"u","vocab":{"u":0}})";
  const auto step = [&](const char* key, const std::string& value) {
    return tokenizer_with(fine, ",\"" + std::string(key) + "\":" + value);
  };
  const auto bpe = [](const std::string& vocab, const std::string& merges, const std::string& more = "") {
    return tokenizer_with(R"({"type":"BPE","vocab":)" + vocab + R"(,"merges":)" + merges + more + "}");
  };
  return {
      {"empty", "", "bad JSON"},
      {"null", "null", "expected an object"},
      {"list", "[]", "expected an object"},
      {"no model", "{}", "\"model\" is missing"},
      {"model is text", R"({"model":"BPE"})", "expected an object"},
      {"cut", R"({"model":{"vocab":{"a":)", "bad JSON"},
      {"deep JSON", std::string(100000, '['), "nested deeper"},
      {"deep in a field", R"({"x":)" + std::string(1000, '['), "nested deeper"},
      {"key twice", R"({"model":1,"model":2})", "stands twice"},
      {"unknown model", tokenizer_with(R"({"type":"Magic","vocab":{}})"), "\"Magic\" is not supported"},
      {"vocab holds a list", bpe("{\"a\":[]}", "[]"), "vocab"},
      {"vocab holds text", bpe("{\"a\":\"b\"}", "[]"), "not expected"},
      {"vocab holds null", bpe("{\"a\":null}", "[]"), "null"},
      {"negative id", bpe("{\"a\":-1}", "[]"), "expected 0 or more"},
      {"real id", bpe("{\"a\":1.5}", "[]"), "not expected"},
      {"id of 2^31", bpe("{\"a\":2147483648}", "[]"), "less than 2^31"},
      {"id twice", bpe("{\"a\":1,\"b\":1}", "[]"), "stands twice"},
      {"token twice", bpe("{\"a\":1,\"a\":2}", "[]"), "stands twice"},
      {"merge of unknown tokens", bpe("{\"a\":0}", "[\"a b\"]"), "\"b\" is not in the vocabulary"},
      {"merge to an unknown token", bpe("{\"a\":0,\"b\":1}", "[\"a b\"]"), "\"ab\" is not in the vocabulary"},
      {"merge without a space", bpe("{\"a\":0}", "[\"ab\"]"), "two tokens"},
      {"merge of three", bpe("{\"a\":0}", "[\"a b c\"]"), "two tokens"},
      {"merge row of one", bpe("{\"a\":0}", "[[\"a\"]]"), "two elements"},
      {"merge is a number", bpe("{\"a\":0}", "[1]"), "not expected"},
      {"merges is an object", bpe("{\"a\":0}", "{\"a\":1}"), "merges"},
      {"BPE without a vocabulary", tokenizer_with(R"({"type":"BPE","merges":[]})"), "is missing"},
      {"BPE without merges", tokenizer_with(R"({"type":"BPE","vocab":{"a":0}})"), "is missing"},
      {"truncation strategy", step("truncation", R"({"max_length":1,"stride":0,"strategy":"Best"})"),
       "\"Best\""},
      {"negative truncation", step("truncation", R"({"max_length":-1,"stride":0,"strategy":"OnlyFirst"})"),
       "-1"},
      {"truncation direction",
       step("truncation", R"({"max_length":1,"stride":0,"strategy":"OnlyFirst","direction":"Up"})"),
       "\"Up\""},
      {"padding strategy", step("padding", R"({"strategy":"Fixed","direction":"Left","pad_id":0})"), "Fixed"},
      {"padding of 2^40",
       step("padding", R"({"strategy":{"Fixed":1099511627776},"direction":"Left","pad_id":0})"), "Fixed"},
      {"padding id", step("padding", R"({"strategy":"BatchLongest","direction":"Left","pad_id":-1})"),
       "pad_id"},
      {"second text of one",
       step("post_processor", R"({"type":"TemplateProcessing","single":[{"Sequence":{"id":"B"}}]})"),
       "\"B\""},
      {"byte token <0x-1>", bpe(R"({"<0x-1>":0})", "[]", R"(,"byte_fallback":true)"), "not a byte"},
      {"byte token <0xGG>", bpe(R"({"<0xGG>":0})", "[]", R"(,"byte_fallback":true)"), "not a byte"},
      {"flag is text", bpe("{\"a\":0}", "[]", R"(,"byte_fallback":"yes")"), "true or false"},
      {"unigram without a list", tokenizer_with(R"({"type":"Unigram","vocab":{"a":0}})"),
       "list of [token, score]"},
      {"unigram row of one", tokenizer_with(R"({"type":"Unigram","vocab":[["a"]]})"), "two elements"},
      {"unigram row of three", tokenizer_with(R"({"type":"Unigram","vocab":[["a",1,2]]})"), "not expected"},
      {"unigram score is text", tokenizer_with(R"({"type":"Unigram","vocab":[["a","b"]]})"),
       "list of [token, score]"},
      {"unigram unk_id beyond", tokenizer_with(R"({"type":"Unigram","unk_id":9,"vocab":[["a",-1.0]]})"),
       "\"unk_id\" is 9"},
      {"unigram unk_id negative", tokenizer_with(R"({"type":"Unigram","unk_id":-1,"vocab":[["a",-1.0]]})"),
       "\"unk_id\" is -1"},
      {"BPE with a list", tokenizer_with(R"({"type":"BPE","vocab":[["a",1.0]],"merges":[]})"),
       "object from tokens"},
      {"negative word length",
       tokenizer_with(R"({"type":"WordPiece","max_input_chars_per_word":-5,"vocab":{}})"), "is -5"},
      {"unknown normalizer", step("normalizer", R"({"type":"Fancy"})"), "\"Fancy\" is not supported"},
      {"normalizer without type", step("normalizer", "{}"), "\"type\" is missing"},
      {"sequence without a list", step("normalizer", R"({"type":"Sequence","normalizers":1})"),
       "expected a list"},
      {"bad regex",
       step("pre_tokenizer", R"({"type":"Split","pattern":{"Regex":"("},"behavior":"Isolated"})"),
       "does not compile"},
      {"bad behavior", step("pre_tokenizer", R"({"type":"Split","pattern":{"String":"x"},"behavior":"Odd"})"),
       "\"Odd\" is unknown"},
      {"no pattern", step("pre_tokenizer", R"({"type":"Split","pattern":{},"behavior":"Isolated"})"),
       "expected {\"String\""},
      {"unknown pre-tokenizer", step("pre_tokenizer", R"({"type":"Odd"})"), "not supported"},
      {"bad prepend scheme", step("pre_tokenizer", R"({"type":"Metaspace","prepend_scheme":"odd"})"),
       "unknown"},
      {"unknown post-processor", step("post_processor", R"({"type":"Odd"})"), "not supported"},
      {"template without tokens",
       step("post_processor",
            R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}}],"special_tokens":{}})"),
       "missing"},
      {"template with a negative id",
       step(
           "post_processor",
           R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}}],"special_tokens":{"x":{"ids":[-1]}}})"),
       "whole number"},
      {"Bert with a bad pair",
       step("post_processor", R"({"type":"BertProcessing","sep":["x"],"cls":["y",1]})"), "not [token, id]"},
      {"unknown decoder", step("decoder", R"({"type":"Odd"})"), "not supported"},
      {"negative strip", step("decoder", R"({"type":"Strip","content":" ","start":-1,"stop":0})"),
       "\"start\" is -1"},
      {"bad character map", step("normalizer", R"({"type":"Precompiled","precompiled_charsmap":"////"})"),
       "character map"},
      {"character map beyond",
       step("normalizer", R"({"type":"Precompiled","precompiled_charsmap":"/////wAAAAA="})"), "does not fit"},
      {"bad base64", step("normalizer", R"({"type":"Precompiled","precompiled_charsmap":"a*b="})"), "base64"},
      {"added token without content", step("added_tokens", R"([{"id":1}])"), "\"content\" is missing"},
      {"added token with a negative id", step("added_tokens", R"([{"id":-1,"content":"x"}])"), "outside"},
      {"added tokens are an object", step("added_tokens", "{}"), "expected a list"},
      {"bad UTF-8", tokenizer_with(fine, ",\"x\":\"\xFF\""), "bad JSON"},
  };
}

std::vector<Hostile> tiktoken_files() {
  return {
      {"empty", "\n", "no token"},
      {"no rank", "YQ==\n", "its rank"},
      {"rank is text", "YQ== x\n", "rank"},
      {"rank is negative", "YQ== -1\n", "rank"},
      {"rank of 2^64", "YQ== 18446744073709551616\n", "rank"},
      {"rank far away", "YQ== 16000000\n", "far beyond"},
      {"rank with a tail", "YQ== 1x\n", "rank"},
      {"token twice", "YQ== 0\nYQ== 1\n", "twice"},
      {"rank twice", "YQ== 0\nYg== 0\n", "twice"},
      {"bad base64", "Y*== 0\n", "base64"},
      {"cut base64", "YQ= 0\n", "base64"},
      {"empty token", " 0\n", "empty"},
  };
}

TEST(Hostile, MalformedFilesAreRefusedWithAClearMessage) {
  const Reader model = [](const std::string& path) { (void)open_model(path); };
  const Reader tokenizer = [](const std::string& path) { (void)open_tokenizer(path); };
  int count = check(safetensors_files(), "x.safetensors", model);
  count += check(gguf_files(), "x.gguf", model);
  count += check(tokenizer_files(), "tokenizer.json", tokenizer);
  count += check(tiktoken_files(), "x.tiktoken", tokenizer);
  EXPECT_GE(count, 140);
}

TEST(Hostile, NormalizersCannotFillTheMemory) {
  std::string steps;
  for (int i = 0; i < 12; ++i)
    steps += std::string(i == 0 ? "" : ",") +
             R"({"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"})";
  const Tokenizer tokenizer = read_tokenizer_json(
      tokenizer_with(R"({"type":"WordLevel","unk_token":"u","vocab":{"u":0}})",
                     R"(,"normalizer":{"type":"Sequence","normalizers":[)" + steps + "]}"),
      "bomb");
  EXPECT_NE(refusal([&] { (void)tokenizer.encode("a"); }).find("grows beyond 64 MiB"), std::string::npos);
}

TEST(Hostile, WhatIsNoTokenizerIsToldWhatIsOne) {
  const TemporaryFolder folder;
  for (const char* name : {"x.txt", "x.json", "x"}) {
    write_file(folder / name, std::string(name).ends_with("json") ? "{}" : "hello world\n");
    const std::string told = refusal([&] { (void)open_tokenizer(folder / name); });
    for (const char* kind : {"tokenizer.json", "GGUF", ".model", ".tiktoken"})
      EXPECT_NE(told.find(kind), std::string::npos) << told;
  }
}

TEST(Hostile, IndexesCannotLeaveTheirFolderOrGoInCircles) {
  const TemporaryFolder folder;
  write_file(folder / "a.safetensors", safetensors_of("{}", 0));
  const std::string index = folder / "model.safetensors.index.json";
  const auto told = [&](const std::string& text) {
    write_file(index, text);
    return refusal([&] { (void)open_model(index); });
  };
  const auto shard = [&](const std::string& name) { return told(R"({"weight_map":{"w":")" + name + "\"}}"); };
  for (const char* name :
       {"../a.safetensors", "/etc/a.safetensors", "sub/a.safetensors", "..", "", ".", "..\\\\a.safetensors",
        "model.safetensors.index.json", "a\\u0000.safetensors", "a.bin"})
    EXPECT_NE(shard(name).find("is refused"), std::string::npos) << name;
  EXPECT_NE(shard("missing.safetensors").find("cannot be read"), std::string::npos);
  EXPECT_NE(shard("a.safetensors").find("it is not in"), std::string::npos);
  EXPECT_NE(told("[]").find("weight_map"), std::string::npos);
  EXPECT_NE(told(R"({"weight_map":[]})").find("weight_map"), std::string::npos);
  EXPECT_NE(told(R"({"weight_map":{"w":1}})").find("not a text"), std::string::npos);
  EXPECT_NE(told(R"({"weight_map":{"w":"a.safetensors","w":"b.safetensors"}})").find("twice"),
            std::string::npos);
  std::filesystem::create_symlink("loop.safetensors", folder / "loop.safetensors");
  EXPECT_NE(shard("loop.safetensors").find("cannot be read"), std::string::npos);
}

TEST(Hostile, FoldersAndPipesAreNotFiles) {
  const TemporaryFolder folder;
  EXPECT_NE(refusal([&] { (void)open_model(folder / "none"); }).find("cannot be read"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)open_model(folder.path().string()); }).find("no model file"),
            std::string::npos);
  ASSERT_EQ(::mkfifo((folder / "pipe.gguf").c_str(), 0600), 0);
  EXPECT_NE(refusal([&] { (void)open_model(folder / "pipe.gguf"); }).find("not a regular file"),
            std::string::npos);
}

std::string gguf_tokenizer(const std::string& model, const std::vector<std::string>& tokens,
                           const std::string& more, std::uint64_t values) {
  std::string list = raw<std::uint32_t>(8) + raw<std::uint64_t>(tokens.size());
  for (const std::string& token : tokens) list += gguf_text(token);
  return gguf_head(0, 2 + values) + gguf_key("tokenizer.ggml.model", 8, gguf_text(model)) +
         gguf_key("tokenizer.ggml.tokens", 9, list) + more;
}

TEST(Hostile, GgufVocabulariesAreChecked) {
  const auto floats = [](std::size_t count) {
    return raw<std::uint32_t>(6) + raw<std::uint64_t>(count) + std::string(4 * count, '\0');
  };
  const auto types = [](std::int32_t type) {
    return raw<std::uint32_t>(5) + raw<std::uint64_t>(1) + raw(type);
  };
  const std::vector<Hostile> files = {
      {"no tokenizer", gguf_head(0, 0), "no tokenizer"},
      {"unknown model", gguf_tokenizer("odd", {"a"}, "", 0), "not supported"},
      {"no tokens", gguf_tokenizer("llama", {}, "", 0), "missing or empty"},
      {"no scores", gguf_tokenizer("llama", {"a"}, "", 0), "scores is missing"},
      {"too few scores",
       gguf_tokenizer("llama", {"a", "b"}, gguf_key("tokenizer.ggml.scores", 9, floats(1)), 1),
       "1 entries for 2"},
      {"token type 9", gguf_tokenizer("llama", {"a"}, gguf_key("tokenizer.ggml.token_type", 9, types(9)), 1),
       "type 9"},
      {"token type -1",
       gguf_tokenizer("llama", {"a"}, gguf_key("tokenizer.ggml.token_type", 9, types(-1)), 1), "type -1"},
      {"byte <0x-1>",
       gguf_tokenizer("llama", {"<0x-1>"}, gguf_key("tokenizer.ggml.token_type", 9, types(6)), 1),
       "not a byte"},
      {"byte <0x100>",
       gguf_tokenizer("llama", {"<0x100>"}, gguf_key("tokenizer.ggml.token_type", 9, types(6)), 1),
       "not a byte"},
      {"scores are texts",
       gguf_tokenizer("llama", {"a"},
                      gguf_key("tokenizer.ggml.scores", 9, raw<std::uint32_t>(8) + raw<std::uint64_t>(0)), 1),
       "array of f32"},
      {"bos beyond",
       gguf_tokenizer("llama", {"a"},
                      gguf_key("tokenizer.ggml.scores", 9, floats(1)) +
                          gguf_key("tokenizer.ggml.bos_token_id", 4, raw<std::uint32_t>(7)),
                      2),
       "is 7"},
      {"bos is text",
       gguf_tokenizer("llama", {"a"},
                      gguf_key("tokenizer.ggml.scores", 9, floats(1)) +
                          gguf_key("tokenizer.ggml.bos_token_id", 8, gguf_text("a")),
                      2),
       "whole number"},
      {"no merges", gguf_tokenizer("gpt2", {"a"}, "", 0), "merges is missing"},
      {"merge without a space",
       gguf_tokenizer("gpt2", {"a"},
                      gguf_key("tokenizer.ggml.merges", 9,
                               raw<std::uint32_t>(8) + raw<std::uint64_t>(1) + gguf_text("ab")),
                      1),
       "two tokens"},
      {"unknown pre-tokenizer",
       gguf_tokenizer("gpt2", {"a"},
                      gguf_key("tokenizer.ggml.merges", 9, raw<std::uint32_t>(8) + raw<std::uint64_t>(0)) +
                          gguf_key("tokenizer.ggml.pre", 8, gguf_text("odd")),
                      2),
       "\"odd\""},
  };
  EXPECT_EQ(check(files, "v.gguf", [](const std::string& path) { (void)open_tokenizer(path); }), 15);
}

/// Refusing a large file takes little memory beside its mapping: the child may use twice the file and no
/// more.
// AddressSanitizer keeps what is freed for a while, and ThreadSanitizer has shadows of what is touched.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t most_memory = 16;
#else
constexpr std::size_t most_memory = 2;
#endif

TEST(Hostile, LargeMalformedFilesTakeLittleMemory) {
  const TemporaryFolder folder;
  constexpr std::size_t size = 64U << 20U;
  constexpr std::size_t allowed = most_memory * size;
  const std::vector<std::pair<std::string, std::string>> files = {
      {"deep.safetensors", raw<std::uint64_t>(size) + "{\"x\":" + std::string(size - 5, '[')},
      {"count.gguf",
       gguf_of_value(9, raw<std::uint32_t>(8) + raw<std::uint64_t>(size / 8) + std::string(size, '\xFF'))},
      {"tokenizer.json", "{\"a\":[" + std::string(size, '0')},
      {"numbers/tokenizer.json",
       [&] {
         std::string text = "{\"a\":[0";
         while (text.size() < size) text += ",0";
         return text;
       }()},
  };
  std::filesystem::create_directory(folder / "numbers");
  for (const auto& [name, content] : files) {
    write_file(folder / name, content);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      struct rusage before{}, after{};
      ::getrusage(RUSAGE_SELF, &before);
      bool refused = false;
      try {
        if (name.ends_with(".json"))
          (void)open_tokenizer(folder / name);
        else
          (void)open_model(folder / name);
      } catch (const Error&) {
        refused = true;
      }
      ::getrusage(RUSAGE_SELF, &after);
      const auto grown = static_cast<std::size_t>(after.ru_maxrss - before.ru_maxrss) * 1024;
      ::_exit(!refused ? 1 : grown > allowed ? 2 : 0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << name << ": " << WEXITSTATUS(status);
  }
}

}  // namespace
}  // namespace luminal::io

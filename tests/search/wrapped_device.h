#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "luminal/luminal.h"

namespace luminal::test {

/// A search within these limits, without the cache.
inline CompileOptions searching(std::chrono::duration<double> budget, std::size_t candidates = 0) {
  CompileOptions options;
  options.mode = Mode::search;
  options.budget = budget;
  options.candidates = candidates;
  options.cache = false;
  return options;
}

/// The CPU, with the text of programs changed on their way to the compiler.
class WrappedDevice : public runtime::Device {
 public:
  using Change = std::function<std::string(const codegen::Source&)>;
  /// `own_processors`: it says that it is no part of the host, like a GPU.
  explicit WrappedDevice(Change change, bool own_processors = false)
      : inner_(device("cpu")), change_(std::move(change)), own_processors_(own_processors) {}

  std::string name() const override { return inner_->name(); }
  std::string fingerprint() const override { return inner_->fingerprint(); }
  const codegen::Dialect& dialect() const override { return inner_->dialect(); }
  codegen::Machine machine() const override { return inner_->machine(); }
  std::size_t memory_limit() const override { return inner_->memory_limit(); }
  std::unique_ptr<runtime::Memory> allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
  bool shares_host_memory() const override { return inner_->shares_host_memory(); }
  bool shares_host_processors() const override { return !own_processors_; }
  void upload(runtime::Memory& to, std::size_t offset, std::span<const std::byte> from) override {
    inner_->upload(to, offset, from);
  }
  void download(std::span<std::byte> to, const runtime::Memory& from, std::size_t offset) override {
    inner_->download(to, from, offset);
  }
  void copy(void* to, const void* from, std::size_t bytes) override { inner_->copy(to, from, bytes); }
  std::vector<std::unique_ptr<runtime::Program>> compile(std::span<const codegen::Source> sources,
                                                         runtime::BinaryStore* store) override {
    std::vector<codegen::Source> changed(sources.begin(), sources.end());
    {
      const std::lock_guard lock(mutex_);  // programs are compiled by several threads
      for (auto& source : changed)
        if (source.entry == "luminal_kernel") source.text = change_(source);  // not what measures the machine
    }
    return inner_->compile(changed, store);
  }
  bool restart_in_child() override { return inner_->restart_in_child(); }
  void settle() override { inner_->settle(); }
  void run(const runtime::Launch& launch) override { inner_->run(launch); }
  void reserve(std::size_t scratch_bytes) override { inner_->reserve(scratch_bytes); }

 private:
  std::shared_ptr<runtime::Device> inner_;
  Change change_;
  bool own_processors_;
  std::mutex mutex_;
};

/// The program with other words at the beginning of its entry.
inline std::string with_statement(const codegen::Source& source, const std::string& statement) {
  std::string text = source.text;
  const auto entry = text.rfind(" " + source.entry + "(");
  const auto brace = text.find("{\n", entry);
  return text.insert(brace + 2, statement);
}

/// The program with other words after all that its entry does.
inline std::string with_end(const codegen::Source& source, const std::string& statement) {
  std::string text = source.text;
  const std::string parameters =
      "(i64 task, void* const* buffers, const i64* dims, void* scratch, i64* status) {\n";
  const auto entry = text.rfind("void " + source.entry + parameters);
  if (entry == std::string::npos) throw std::runtime_error("a program without its entry");
  text.replace(entry, 5 + source.entry.size(), "static void usual_kernel");
  return text + "\nvoid " + source.entry + parameters +
         "  usual_kernel(task, buffers, dims, scratch, status);\n" + statement + "}\n";
}

}  // namespace luminal::test

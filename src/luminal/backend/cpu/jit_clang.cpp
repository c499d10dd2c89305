// Kernels compiled in this process: C through Clang to an LLVM module, light passes, machine code through
// ORC.
#include "luminal/backend/cpu/loaders.h"

#ifdef LUMINAL_HAS_CLANG
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "luminal/backend/cpu/blas.h"
#include "luminal/support/error.h"
#include "luminal/support/sha256.h"
#include "luminal/support/text.h"

namespace luminal::cpu {
namespace {

/// The text has explicit vectors, so loops need unrolling and cleaning, not a vectoriser.
constexpr const char* passes =
    "always-inline,function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),simplifycfg,instcombine<no-verify-fixpoint>,loop(loop-unroll-full),"
    "sroa<modify-cfg>,"
    "early-cse<memssa>,instcombine<no-verify-fixpoint>,gvn,loop-mssa(licm),dse,vector-combine,"
    "instcombine<no-verify-fixpoint>,simplifycfg)";

template <typename T>
T take(llvm::Expected<T> value, const char* what) {
  if (!value) throw Error(cat("cpu: ", what, ": ", llvm::toString(value.takeError())));
  return std::move(*value);
}

void check(llvm::Error error, const char* what) {
  if (error) throw Error(cat("cpu: ", what, ": ", llvm::toString(std::move(error))));
}

/// Objects as one binary: the length of each before it.
std::string joined(const std::vector<std::string>& objects) {
  std::string binary;
  for (const auto& object : objects) {
    const std::uint64_t size = object.size();
    binary.append(reinterpret_cast<const char*>(&size), sizeof(size));
    binary += object;
  }
  return binary;
}

/// `Error` if it is none.
std::vector<std::string_view> separated(std::string_view binary) {
  std::vector<std::string_view> objects;
  while (!binary.empty()) {
    std::uint64_t size = 0;
    if (binary.size() < sizeof(size)) throw Error("cpu: a kernel's binary is cut off");
    std::memcpy(&size, binary.data(), sizeof(size));
    binary.remove_prefix(sizeof(size));
    if (size > binary.size()) throw Error("cpu: a kernel's binary is cut off");
    objects.push_back(binary.substr(0, size));
    binary.remove_prefix(size);
  }
  return objects;
}

/// Objects that were compiled lately, by the hash of their text: candidates of a search differ in few of
/// them. Safe to use from several threads.
class Objects {
 public:
  std::optional<std::string> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? std::nullopt : std::optional(found->second);
  }
  void add(const std::string& key, const std::string& object) {
    constexpr std::size_t most = 32 << 20;  // bytes; then all are forgotten
    const std::lock_guard lock(mutex_);
    if (bytes_ > most) {
      objects_.clear();
      bytes_ = 0;
    }
    if (objects_.emplace(key, object).second) bytes_ += object.size();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::string> objects_;
  std::size_t bytes_ = 0;
};

class ClangLoader final : public Jit::Loader {
 public:
  ClangLoader() {
    static std::once_flag once;
    std::call_once(once, [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
    });
    auto builder = take(llvm::orc::JITTargetMachineBuilder::detectHost(), "the host's machine");
    builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    builder_ = std::make_unique<llvm::orc::JITTargetMachineBuilder>(std::move(builder));
    triple_ = builder_->getTargetTriple().str();
    cpu_ = builder_->getCPU();
    for (const auto& feature : builder_->getFeatures().getFeatures()) features_.push_back(feature);
    jit_ = take(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*builder_).create(), "the JIT");
  }

  std::string description() const override {
    std::string text = cat("clang ", LLVM_VERSION_STRING, " ", triple_, " ", cpu_);
    for (const auto& feature : features_) text += cat(" ", feature);
    return cat(text, " ", passes);
  }

  std::string binary(const std::string& text, std::span<const std::string> units,
                     const std::string& entry) override {
    if (units.empty()) return joined({object(text, entry)});
    std::vector<std::string> objects;
    for (const auto& unit : units) {
      const std::string key = sha256(unit);
      auto known = objects_.find(key);
      if (!known) {
        known = object(unit, entry);
        objects_.add(key, *known);
      }
      objects.push_back(std::move(*known));
    }
    return joined(objects);
  }

  Loaded load(const std::string& binary, const std::string& entry) override {
    const std::shared_ptr<llvm::orc::JITDylib> library = library_for(entry);
    for (const auto object : separated(binary))
      check(jit_->addObjectFile(*library, llvm::MemoryBuffer::getMemBufferCopy(
                                              llvm::StringRef(object.data(), object.size()), entry)),
            "adding a kernel");
    const auto function = take(jit_->lookup(*library, entry), "the kernel's function").toPtr<Function>();
    connect_blas(entry, [&](const char* name) { return variable(*library, name); });
    return {function, library};
  }

 private:
  std::unique_ptr<llvm::orc::JITTargetMachineBuilder> builder_;
  std::shared_ptr<llvm::orc::LLJIT> jit_;
  std::string triple_;
  std::string cpu_;
  std::vector<std::string> features_;
  std::atomic<unsigned> number_{0};
  Objects objects_;

  std::string object(const std::string& text, const std::string& entry) const {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module = front_end(text, entry, context);
    std::unique_ptr<llvm::TargetMachine> machine = take(builder_->createTargetMachine(), "the target");
    module->setDataLayout(machine->createDataLayout());
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    if (llvm::verifyModule(*module, &stream))
      throw Error(cat("cpu: Clang made an invalid module of kernel ", entry, ": ", problem));
    optimise(*module, *machine);
    llvm::orc::SimpleCompiler compiler(*machine);
    const auto object = take(compiler(*module), "machine code");
    return object->getBuffer().str();
  }

  /// Removed from the JIT with its last owner.
  std::shared_ptr<llvm::orc::JITDylib> library_for(const std::string& entry) {
    auto library = jit_->createJITDylib(cat(entry, ".", number_++));
    if (!library) throw Error(cat("cpu: a library for a kernel: ", llvm::toString(library.takeError())));
    std::shared_ptr<llvm::orc::JITDylib> owned(&*library, [jit = jit_](llvm::orc::JITDylib* removed) {
      llvm::consumeError(jit->getExecutionSession().removeJITDylib(*removed));
    });
    const char prefix = jit_->getDataLayout().getGlobalPrefix();
    owned->addGenerator(
        take(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix), "the process' symbols"));
    return owned;
  }

  void* variable(llvm::orc::JITDylib& library, const char* name) {
    const auto symbol = jit_->mangleAndIntern(name);
    const auto found = take(
        jit_->getExecutionSession().lookup(
            llvm::orc::makeJITDylibSearchOrder(&library, llvm::orc::JITDylibLookupFlags::MatchAllSymbols),
            llvm::orc::SymbolLookupSet(symbol, llvm::orc::SymbolLookupFlags::WeaklyReferencedSymbol)),
        "a kernel's variables");
    const auto place = found.find(symbol);
    return place == found.end() ? nullptr : place->second.getAddress().toPtr<void*>();
  }

  std::unique_ptr<llvm::Module> front_end(const std::string& text, const std::string& entry,
                                          llvm::LLVMContext& context) const {
    std::string words;
    llvm::raw_string_ostream stream(words);
    auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
    auto printer = std::make_unique<clang::TextDiagnosticPrinter>(stream, options.get());
    auto diagnostics = clang::CompilerInstance::createDiagnostics(options.get(), printer.get(), false);

    std::vector<const char*> arguments = {"-triple",
                                          triple_.c_str(),
                                          "-target-cpu",
                                          cpu_.c_str(),
                                          "-O2",
                                          "-discard-value-names",
                                          "-disable-llvm-passes",
                                          "-ffp-contract=off",
                                          "-mprefer-vector-width=512",
                                          "-fno-signed-char",
                                          "-w",
                                          "-x",
                                          "c",
                                          "-std=gnu11",
                                          "kernel.c"};
    for (const auto& feature : features_) {
      arguments.push_back("-target-feature");
      arguments.push_back(feature.c_str());
    }
    auto invocation = std::make_shared<clang::CompilerInvocation>();
    if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *diagnostics))
      throw Error(cat("cpu: Clang refuses its options: ", words));
    invocation->getDiagnosticOpts().ShowCarets = 0;  // Clang would count its errors on stderr
    invocation->getPreprocessorOpts().addRemappedFile(
        "kernel.c", llvm::MemoryBuffer::getMemBufferCopy(text, "kernel.c").release());
    clang::CompilerInstance compiler;
    compiler.setInvocation(std::move(invocation));
    compiler.createDiagnostics(printer.get(), false);
    clang::EmitLLVMOnlyAction action(&context);
    if (!compiler.ExecuteAction(action))
      throw Error(cat("cpu: Clang cannot compile kernel ", entry, ": ", words));
    return action.takeModule();
  }

  static void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(&machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    llvm::ModulePassManager manager;
    check(builder.parsePassPipeline(manager, passes), "the passes");
    manager.run(module, modules);
  }
};

}  // namespace

bool has_clang() {
  return true;
}

std::unique_ptr<Jit::Loader> make_clang_loader() {
  return std::make_unique<ClangLoader>();
}

}  // namespace luminal::cpu

#else

namespace luminal::cpu {

bool has_clang() {
  return false;
}

std::unique_ptr<Jit::Loader> make_clang_loader() {
  return nullptr;
}

}  // namespace luminal::cpu
#endif

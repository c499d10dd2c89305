#include "luminal/backend/cpu/device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

#include "luminal/backend/cpu/blas.h"
#include "luminal/backend/cpu/gathering.h"
#include "luminal/backend/cpu/pool.h"
#include "luminal/support/error.h"
#include "luminal/support/large_memory.h"
#include "luminal/support/text.h"

namespace luminal::cpu {
namespace {

constexpr std::size_t alignment = 64;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

[[noreturn]] void no_memory_for(std::size_t bytes) {
  throw Error(cat("the machine has no ", bytes, " bytes of memory left"));
}

class HostMemory : public runtime::Memory {
 public:
  explicit HostMemory(std::size_t bytes) : bytes_(bytes) {
    data_ = allocate_elements(bytes);
    if (data_ == nullptr) no_memory_for(bytes);
  }
  ~HostMemory() override { std::free(data_); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  void* address() const override { return data_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  void* data_;
  std::size_t bytes_;
};

/// Between two pages that cannot be touched, at the end or at the beginning of what lies between them.
class GuardedMemory : public runtime::Memory {
 public:
  GuardedMemory(std::size_t bytes, bool at_end) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t usable = rounded_up(bytes, page);
    mapped_ = usable + 2 * page;
    void* const base = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) no_memory_for(bytes);
    base_ = static_cast<std::byte*>(base);
    if (usable != 0 && mprotect(base_ + page, usable, PROT_READ | PROT_WRITE) != 0) {
      munmap(base_, mapped_);
      no_memory_for(bytes);
    }
    address_ = base_ + page + (at_end ? usable - rounded_up(bytes, alignment) : 0);
  }
  ~GuardedMemory() override { munmap(base_, mapped_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  void* address() const override { return address_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  std::size_t bytes_;
  std::size_t mapped_ = 0;
  std::byte* base_ = nullptr;
  std::byte* address_ = nullptr;
};

class CpuProgram : public runtime::Program {
 public:
  explicit CpuProgram(Loaded compiled) : compiled_(std::move(compiled)) {}
  Function function() const { return compiled_.function(); }

 private:
  Loaded compiled_;
};

/// One launch on its way through the pool.
struct Running {
  Function function;
  void* const* buffers;
  const std::int64_t* dims;
  std::byte* scratch;
  std::size_t scratch_bytes;
  std::int64_t* status;
};

void work(void* context, std::int64_t task, int worker) {
  const auto& running = *static_cast<const Running*>(context);
  std::byte* scratch = running.scratch + static_cast<std::size_t>(worker) * running.scratch_bytes;
  running.function(task, running.buffers, running.dims, scratch, running.status);
}

class CpuDevice : public runtime::Device {
 public:
  explicit CpuDevice(const CpuOptions& options)
      : jit_(options.compiler),
        blas_(options.blas ? blas() : nullptr),
        guarded_(options.guarded),
        threads_(std::make_unique<Threads>(options.workers)) {
    limit_ = options.memory_limit != 0 ? options.memory_limit
                                       : static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                             static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }

  std::string name() const override { return "cpu"; }
  std::string fingerprint() const override {
    return cat("cpu, ", threads_->pool.workers(), " workers, ",
               blas_ == nullptr ? "no OpenBLAS" : blas_->description, ", ", jit_.description());
  }
  const codegen::Dialect& dialect() const override { return codegen::c_dialect(); }
  codegen::Machine machine() const override {
    codegen::Machine result = cpu::machine();
    result.workers = threads_->pool.workers();
    result.blas = blas_ != nullptr;
    return result;
  }
  std::size_t memory_limit() const override { return limit_; }
  std::unique_ptr<runtime::Memory> allocate(std::size_t bytes) override {
    if (guarded_) return std::make_unique<GuardedMemory>(bytes, allocated_++ % 2 == 0);
    return std::make_unique<HostMemory>(bytes);
  }
  bool shares_host_memory() const override { return true; }
  bool shares_host_processors() const override { return true; }
  bool guards_buffers() const override { return guarded_; }
  void upload(runtime::Memory& to, std::size_t offset, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(static_cast<std::byte*>(to.address()) + offset, from.data(), from.size());
  }
  void download(std::span<std::byte> to, const runtime::Memory& from, std::size_t offset) override {
    if (!to.empty())
      std::memcpy(to.data(), static_cast<const std::byte*>(from.address()) + offset, to.size());
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(to, from, bytes);
  }

  std::vector<std::unique_ptr<runtime::Program>> compile(std::span<const codegen::Source> sources,
                                                         runtime::BinaryStore* store) override {
    if (sources.size() == 1) {  // leaves the pool to those that run
      std::vector<std::unique_ptr<runtime::Program>> programs;
      programs.push_back(std::make_unique<CpuProgram>(compiled(sources[0], store)));
      return programs;
    }
    struct Job {
      CpuDevice* device;
      runtime::BinaryStore* store;
      std::span<const codegen::Source> sources;
      std::vector<Loaded> compiled;
      std::vector<std::exception_ptr> failures;
    };
    Job job{this, store, sources, std::vector<Loaded>(sources.size()),
            std::vector<std::exception_ptr>(sources.size())};
    threads_->pool.run(
        static_cast<std::int64_t>(sources.size()),
        [](void* context, std::int64_t task, int) {
          auto& mine = *static_cast<Job*>(context);
          const auto k = static_cast<std::size_t>(task);
          try {
            mine.compiled[k] = mine.device->compiled(mine.sources[k], mine.store);
          } catch (...) {
            mine.failures[k] = std::current_exception();
          }
        },
        &job);
    std::vector<std::unique_ptr<runtime::Program>> programs;
    for (std::size_t k = 0; k < sources.size(); ++k) {
      if (job.failures[k]) std::rethrow_exception(job.failures[k]);
      programs.push_back(std::make_unique<CpuProgram>(std::move(job.compiled[k])));
    }
    return programs;
  }

  void reserve(std::size_t scratch_bytes) override {
    Threads& threads = *threads_;
    const std::lock_guard lock(threads.mutex);
    const std::size_t each = rounded_up(scratch_bytes, alignment);
    if (each <= threads.scratch_each) return;
    threads.scratch = allocate(each * static_cast<std::size_t>(threads.pool.workers()));
    threads.scratch_each = each;
  }

  void run(const runtime::Launch& launch) override {
    Threads& threads = *threads_;
    const std::lock_guard lock(threads.mutex);  // the scratch is one
    Running running{static_cast<const CpuProgram*>(launch.program)->function(),
                    launch.buffers.data(),
                    launch.dims.data(),
                    threads.scratch ? static_cast<std::byte*>(threads.scratch->address()) : nullptr,
                    threads.scratch_each,
                    launch.status};
    if (launch.tasks == 1) {
      work(&running, 0, 0);
      return;
    }
    threads.pool.run(launch.tasks, work, &running);
  }

  void settle() override {
    const std::lock_guard lock(threads_->mutex);
    gathering_.gather(threads_->pool);
  }

  bool restart_in_child() override {
    const int workers = threads_->pool.workers();
    // The old threads are not here, and whoever held the lock is not either: neither can be waited for.
    [[maybe_unused]] const Threads* const lost = threads_.release();
    threads_ = std::make_unique<Threads>(workers);
    return true;
  }

 private:
  /// Who runs tasks, and where.
  struct Threads {
    explicit Threads(int workers) : pool(workers) {}
    Pool pool;
    std::mutex mutex;
    std::unique_ptr<runtime::Memory> scratch;
    std::size_t scratch_each = 0;
  };

  Loaded compiled(const codegen::Source& source, runtime::BinaryStore* store) {
    return jit_.compile(source.text, source.entry, store, source.units.of(source.text));
  }

  Jit jit_;
  const Blas* blas_;
  bool guarded_;
  Gathering gathering_;
  std::atomic<std::uint64_t> allocated_ = 0;
  std::unique_ptr<Threads> threads_;
  std::size_t limit_ = 0;
};

}  // namespace

std::shared_ptr<runtime::Device> make_device(const CpuOptions& options) {
  return std::make_shared<CpuDevice>(options);
}

}  // namespace luminal::cpu

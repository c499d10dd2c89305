#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "luminal/compile/options.h"
#include "luminal/compile/search_report.h"
#include "luminal/frontend/graph.h"
#include "luminal/runtime/device.h"
#include "luminal/runtime/plan.h"

namespace luminal {

struct ExecutableData;

/// A compiled graph with its data: set inputs, run, get results. A handle. Not for use from several threads
/// at once, but several executables are.
class Executable {
 public:
  /// Gives an input or a state its value, as `Tensor::set` does; `dims` are values of named dims that it does
  /// not show. An `Error` leaves everything as it was.
  Executable& set(const Tensor& tensor, const Array& values, const DimMap& dims = {},
                  Location where = Location::current());
  /// Flat values, and the dims of a tensor with named ones.
  Executable& set_dyn(const Tensor& tensor, const Array& values, const std::vector<std::int64_t>& dims,
                      Location where = Location::current());
  Executable& set_dim(std::string_view name, std::int64_t value, Location where = Location::current());

  /// New elements, row-major and of the tensor's dtype, for an input or a state whose dims are known:
  /// allocates nothing once it was called. `Error` if their number is not what the dims ask for.
  template <Element T>
  void write(const Tensor& tensor, std::span<const T> elements, Location where = Location::current()) {
    write_bytes(tensor, dtype_of<T>(), std::as_bytes(elements), where);
  }
  void write_bytes(const Tensor& tensor, DType dtype, std::span<const std::byte> elements,
                   Location where = Location::current());

  /// Computes everything that was marked with `retrieve` or `keep`, runs print and diff, then states have
  /// their new values. `Error` for an input without value, and the like; the executable stays usable. What
  /// goes wrong within a run, as an index outside of its axis, leaves the states that it assigns unspecified.
  void run(Location where = Location::current());

  /// Of an output after a run; of an input or a state at any time.
  Array array(const Tensor& tensor, Location where = Location::current()) const;
  template <Element T>
  std::vector<T> get(const Tensor& tensor, Location where = Location::current()) const {
    return array(tensor, where).values<T>(where);
  }

  /// The first element of an output after a run: allocates nothing. `Error` if it is no float of 32 bits.
  float first(const Tensor& tensor, Location where = Location::current()) const;

  /// What runs with the last dims; before a run, with those that the graph has. Buckets have a plan each.
  const runtime::Plan& plan() const;
  /// Kernels that a run launches.
  std::size_t kernel_count() const;
  /// Steps of a run that the host does: custom ops, sorts, prints.
  std::size_t host_step_count() const;
  /// Copies that a run makes: new values of states that could not be written in place.
  std::size_t copy_count() const;
  /// Bytes that a run takes with the current dims, all in all; and what of it is scratch between kernels.
  std::size_t peak_bytes(Location where = Location::current());
  std::size_t arena_bytes(Location where = Location::current());
  /// How compiling went, stage by stage.
  const std::vector<StageReport>& stages() const;
  /// What the search for its plan did; null if there was none, or its result was in the cache.
  const SearchReport* search_report() const;
  /// Seconds of each step of the last run, in the plan's order; from the run after `set_timing(true)` on.
  void set_timing(bool on);
  const std::vector<double>& step_seconds() const;

 private:
  friend Executable compile(const Graph&, std::shared_ptr<runtime::Device>, const CompileOptions&, Location);
  explicit Executable(std::shared_ptr<ExecutableData> data) : data_(std::move(data)) {}
  std::shared_ptr<ExecutableData> data_;
};

}  // namespace luminal

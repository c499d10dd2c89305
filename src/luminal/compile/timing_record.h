#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "luminal/compile/measure.h"
#include "luminal/search/cost.h"

namespace luminal {

/// All timings that a search took, by what was timed. A search that takes its timings from a record comes to
/// the same plan on any machine of the kind.
class TimingRecord {
 public:
  std::optional<Timing> find(const std::string& key) const;
  void add(const std::string& key, const Timing& timing) { timings_.insert_or_assign(key, timing); }
  /// All that another has, too.
  void add(const TimingRecord& other);
  std::size_t size() const { return timings_.size(); }

  /// The machine's ceilings, which the search starts from.
  const std::optional<search::MachineModel>& ceilings() const { return ceilings_; }
  void set_ceilings(const search::MachineModel& model) { ceilings_ = model; }

  /// Text that `parse` reads back exactly: a line a timing, in order of their keys, and their number.
  std::string text() const;
  /// `Error` naming the line that is no timing, or if it is not whole.
  static TimingRecord parse(std::string_view text);

 private:
  std::map<std::string, Timing> timings_;
  std::optional<search::MachineModel> ceilings_;
};

}  // namespace luminal

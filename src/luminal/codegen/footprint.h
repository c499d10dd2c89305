#pragma once
#include <optional>
#include <string>
#include <vector>

#include "luminal/codegen/schedule.h"

/// What each task of a printed kernel reads and writes, so that tasks of one kernel can start before all
/// tasks of another have ended.
namespace luminal::codegen {

/// In the expressions below, the task's number within its group: the coordinate of this axis.
inline constexpr std::size_t task_axis = 2'000'000;

/// The elements first … last of a row-major array, counted flat; none where last < first. Both of the dims
/// and of the task.
struct Touched {
  Expr first;
  Expr last;
};

/// Tasks of one kind: those of one nest. A kernel's tasks are the groups' one after the other; in each the
/// number counts from 0.
struct TaskGroup {
  Expr tasks;
  /// Of the inputs, then of the outputs. All that a task touches lies inside, and maybe more; nullopt:
  /// nothing.
  std::vector<std::optional<Touched>> buffers;
};

/// The tasks of one nest.
Expr task_count(const kernel::Kernel& kernel, const Nest& nest, const NestSchedule& schedule);

/// Of the program that `print_kernel` makes for this kernel and schedule.
std::vector<TaskGroup> footprint(const kernel::Kernel& kernel, const Schedule& schedule);

/// One line a group: the tasks, and by buffer the elements that task t touches.
std::string print(const std::vector<TaskGroup>& groups, std::size_t inputs);

}  // namespace luminal::codegen

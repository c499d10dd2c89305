#include "luminal/train/checkpoint.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "luminal/io/atomic_file.h"
#include "luminal/io/json_object.h"
#include "luminal/io/mapped_file.h"
#include "luminal/io/parameters.h"
#include "luminal/io/safetensors.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* prefix = "step-";
constexpr const char* unfinished = ".unfinished-";

std::string folder_name(std::int64_t step) {
  std::string digits = std::to_string(step);
  return prefix + std::string(8 - std::min<std::size_t>(8, digits.size()), '0') + digits;
}

std::string json_of(const Progress& progress) {
  io::Json json;
  json["step"] = progress.step;
  json["schedule"] = {{"rate", progress.rate}};
  json["rng"] = {{"seed", progress.seed}};
  json["loader"] = {{"epoch", progress.loader.epoch}, {"batch", progress.loader.batch}};
  json["loss_scale"] = progress.loss_scale ? io::Json(*progress.loss_scale) : io::Json();
  json["best"] = {{"value", progress.best ? io::Json(*progress.best) : io::Json()},
                  {"step", progress.best_step},
                  {"evaluations_since", progress.since_best}};
  return json.dump(2) + "\n";
}

double number(const io::JsonObject& object, const char* key) {
  if (!object.at(key).is_number()) object.refuse(cat(in_quotes(key), " is no number"));
  return object.at(key).get<double>();
}

Progress progress_from(const std::string& path) {
  const io::MappedFile file(path);
  const io::Json json = io::parse_json(file.text(), path);
  const io::JsonObject root(json, path);
  Progress progress;
  progress.step = root.integer("step");
  progress.rate = number(root.object("schedule"), "rate");
  const io::Json& seed = root.object("rng").at("seed");
  if (!seed.is_number_unsigned()) root.refuse("the seed is no whole number");
  progress.seed = seed.get<std::uint64_t>();
  const io::JsonObject loader = root.object("loader");
  progress.loader = {loader.integer("epoch"), loader.integer("batch")};
  const io::JsonObject best = root.object("best");
  if (best.find("value") != nullptr) progress.best = number(best, "value");
  progress.best_step = best.integer("step");
  progress.since_best = best.integer("evaluations_since");
  if (root.find("loss_scale") != nullptr) progress.loss_scale = number(root, "loss_scale");
  return progress;
}

void sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw Error(cat("the folder ", in_quotes(folder), ": ", std::strerror(errno)));
  const int status = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  if (status != 0 && error != EINVAL)
    throw Error(cat("the folder ", in_quotes(folder), " cannot be synced: ", std::strerror(error)));
}

/// Removes what it holds unless it was renamed away.
struct Unfinished {
  explicit Unfinished(std::string path_) : path(std::move(path_)) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string path;
};

}  // namespace

CheckpointFolder::CheckpointFolder(std::string path, int keep_last)
    : path_(std::move(path)), keep_last_(std::max(1, keep_last)) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error)
    throw Error(cat("the folder ", in_quotes(path_), " for checkpoints cannot be made: ", error.message()));
  const std::string probe = path_ + "/" + unfinished + "probe";
  const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    throw Error(cat("the folder ", in_quotes(path_),
                    " for checkpoints cannot be written to: ", std::strerror(errno)));
  ::close(descriptor);
  remove_unfinished();
}

void CheckpointFolder::remove_unfinished() const {
  std::error_code ignored;
  std::vector<fs::path> doomed;
  for (const auto& entry : fs::directory_iterator(path_, ignored))
    if (entry.path().filename().string().starts_with(unfinished)) doomed.push_back(entry.path());
  for (const auto& entry : doomed) fs::remove_all(entry, ignored);
}

std::string CheckpointFolder::path_of(std::int64_t step) const {
  return path_ + "/" + folder_name(step);
}

std::vector<std::int64_t> CheckpointFolder::steps() const {
  std::vector<std::int64_t> result;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    const std::size_t start = std::strlen(prefix);
    if (!name.starts_with(prefix) || name.size() < start + 8 || name.size() > start + 18 ||
        !std::all_of(name.begin() + static_cast<std::ptrdiff_t>(start), name.end(),
                     [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    result.push_back(std::stoll(name.substr(start)));
  }
  std::sort(result.begin(), result.end());
  return result;
}

void CheckpointFolder::save(const Checkpoint& checkpoint) {
  const std::int64_t step = checkpoint.progress.step;
  try {
    Unfinished place(path_ + "/" + unfinished + std::to_string(step));
    std::error_code error;
    fs::remove_all(place.path, error);
    if (!fs::create_directory(place.path, error))
      throw Error(cat("the folder ", in_quotes(place.path), " cannot be made: ", error.message()));
    io::write_safetensors(place.path + "/state.safetensors", checkpoint.states);
    io::write_atomically(place.path + "/state.json",
                         [&](io::FileWriter& writer) { writer.write(json_of(checkpoint.progress)); });
    sync_folder(place.path);
    const std::string target = path_of(step);
    // One that is there already changes places with the new one: at no time is there none.
    const unsigned flags = fs::exists(target) ? RENAME_EXCHANGE : 0U;
    if (::renameat2(AT_FDCWD, place.path.c_str(), AT_FDCWD, target.c_str(), flags) != 0)
      throw Error(cat("the folder ", in_quotes(target), " cannot be put in place: ", std::strerror(errno)));
    sync_folder(path_);
  } catch (const Error& error) {
    const auto there = steps();
    throw Error(cat("checkpoint: step ", step, " was not saved: ", error.problem(),
                    there.empty()
                        ? "; there is no earlier checkpoint"
                        : cat("; the last complete checkpoint is ", in_quotes(path_of(there.back())))));
  }
  prune(checkpoint.progress);
}

void CheckpointFolder::prune(const Progress& progress) const {
  const auto there = steps();
  for (std::size_t k = 0; k < there.size(); ++k) {
    const bool is_last = there.size() - k <= static_cast<std::size_t>(keep_last_);
    if (is_last || (progress.best && there[k] == progress.best_step)) continue;
    // First out of sight, so that a half-removed one is never taken for whole.
    const std::string doomed = path_ + "/" + unfinished + "old-" + std::to_string(there[k]);
    std::error_code ignored;
    fs::rename(path_of(there[k]), doomed, ignored);
    fs::remove_all(doomed, ignored);
  }
}

Checkpoint CheckpointFolder::load(std::int64_t step) const {
  const std::string folder = path_of(step);
  Checkpoint result;
  result.progress = progress_from(folder + "/state.json");
  if (result.progress.step != step)
    throw Error(cat(folder, "/state.json: the step is ", result.progress.step, ", expected ", step));
  result.states = io::load(folder + "/state.safetensors");
  return result;
}

std::optional<Checkpoint> CheckpointFolder::load_last() const {
  const auto there = steps();
  if (there.empty()) return std::nullopt;
  return load(there.back());
}

}  // namespace luminal::train

#pragma once
#include <mutex>
#include <string>
#include <unordered_map>

#include "luminal/compile/cache.h"

namespace luminal {

/// The binaries of one call of `compile`: in memory, before them those of the cache. Candidates stay in
/// memory; what is asked for while `keeping` goes to the cache too.
class SessionStore : public runtime::BinaryStore {
 public:
  explicit SessionStore(Cache* disk) : disk_(disk) {}

  std::optional<std::string> get(const std::string& key) override {
    std::optional<std::string> found;
    {
      const std::lock_guard lock(mutex_);
      if (const auto it = binaries_.find(key); it != binaries_.end()) found = it->second;
    }
    if (found && keeping_ && disk_ != nullptr) disk_->put(key, *found);
    if (!found && disk_ != nullptr) found = disk_->get(key);
    return found;
  }
  void put(const std::string& key, const std::string& content) override {
    if (keeping_ && disk_ != nullptr) return disk_->put(key, content);
    const std::lock_guard lock(mutex_);
    binaries_.insert_or_assign(key, content);
  }
  void set_keeping(bool on) { keeping_ = on; }

 private:
  Cache* disk_;
  bool keeping_ = false;
  std::mutex mutex_;
  std::unordered_map<std::string, std::string> binaries_;
};

}  // namespace luminal

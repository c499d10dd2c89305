#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "files.h"
#include "luminal/support/error.h"

namespace luminal::test {

struct Hostile {
  std::string what;
  std::string content;
  std::string says;  // a part of the message
};

/// What an attempt is refused with.
inline std::string refusal(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const Error& error) {
    return error.what();
  }
  return "it was accepted";
}

using Reader = std::function<void(const std::string& path)>;

/// Each file, under this name, is refused with its words and its name; how many there were.
inline int check(const std::vector<Hostile>& files, const std::string& name, const Reader& read) {
  const TemporaryFolder folder;
  for (const Hostile& file : files) {
    write_file(folder / name, file.content);
    const std::string told = refusal([&] { read(folder / name); });
    EXPECT_NE(told.find(file.says), std::string::npos) << name << ": " << file.what << ": " << told;
    EXPECT_NE(told.find(name), std::string::npos)
        << name << ": " << file.what << ": the file is not named: " << told;
  }
  return static_cast<int>(files.size());
}

}  // namespace luminal::test

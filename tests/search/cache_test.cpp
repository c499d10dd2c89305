// The cache: whatever happens to it, results are right and nobody crashes.
#include "luminal/compile/cache.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "luminal/compile/fingerprint.h"
#include "luminal/luminal.h"
#include "luminal/support/sha256.h"
#include "luminal/support/text.h"
#include "src/luminal/cli/models.h"

namespace luminal {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
 protected:
  CacheTest() {
    std::string pattern = (fs::temp_directory_path() / "luminal-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~CacheTest() override {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }
  fs::path directory() const { return folder_ / "luminal"; }

  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  fs::path only_entry(const Cache& cache) const {
    const auto entries = cache.entries();
    EXPECT_EQ(entries.size(), 1U);
    return cache.directory() / entries.at(0).name;
  }

  /// Compiles with the cache and checks the result.
  Executable compiled(std::int64_t size = 12,
                      const std::shared_ptr<runtime::Device>& target = device("cpu")) const {
    Graph g;
    const Tensor x = g.named_tensor("x", {size, 8});
    const Tensor w = g.named_tensor("w", {8, 6});
    const Tensor y = matmul(x, w).tanh().retrieve();
    cli::fill(g);
    CompileOptions options;
    options.verify = false;
    options.cache_directory = directory().string();
    Executable exe = compile(g, target, options);
    exe.run();
    g.execute();
    const auto got = exe.get<float>(y);
    const auto expected = y.array().values<float>();
    EXPECT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5);
    return exe;
  }
  static bool has_stage(const Executable& exe, std::string_view name) {
    for (const auto& stage : exe.stages())
      if (stage.name == name) return true;
    return false;
  }

  fs::path folder_;
};

TEST(Sha256, KnownValues) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_F(CacheTest, KeepsWhatWasPut) {
  Cache cache(directory());
  EXPECT_EQ(cache.problem(), "");
  EXPECT_EQ(cache.get("key"), std::nullopt);
  const std::string content("a\0b\nc", 5);
  cache.put("key", content);
  cache.put("other", "");
  EXPECT_EQ(Cache(directory()).get("key"), content);
  EXPECT_EQ(cache.get("other"), "");
  EXPECT_EQ(cache.get("key "), std::nullopt);
  cache.put("key", "new");
  EXPECT_EQ(cache.get("key"), "new");
  EXPECT_EQ(cache.entries().size(), 2U);
  struct stat status{};
  ASSERT_EQ(::stat(directory().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  write(directory() / "new-1-2", "left behind");
  write(directory() / "notes", "not ours");
  EXPECT_EQ(cache.clear().removed, 2U);
  EXPECT_EQ(cache.clear().kept, 0U);
  EXPECT_EQ(cache.get("key"), std::nullopt);
  EXPECT_FALSE(fs::exists(directory() / "new-1-2"));
  EXPECT_TRUE(fs::exists(directory() / "notes"));
}

TEST_F(CacheTest, TheModeOfADirectoryThatWasThereIsItsOwners) {
  const auto mode = [&] {
    struct stat status{};
    EXPECT_EQ(::stat(directory().c_str(), &status), 0);
    return status.st_mode & 0777U;
  };
  fs::create_directory(directory());
  for (const unsigned kept : {0755U, 0750U, 0700U}) {
    ASSERT_EQ(::chmod(directory().c_str(), kept), 0);
    Cache cache(directory());
    EXPECT_EQ(cache.problem(), "");
    cache.put("key", "content");
    EXPECT_EQ(cache.get("key"), "content");
    EXPECT_EQ(mode(), kept);
  }
  for (const unsigned open : {0777U, 0775U, 0702U, 01777U}) {
    ASSERT_EQ(::chmod(directory().c_str(), open), 0);
    Cache cache(directory());
    EXPECT_NE(cache.problem().find("can be written to by others"), std::string::npos) << cache.problem();
    EXPECT_EQ(cache.get("key"), std::nullopt) << "others may have written it";
    cache.put("other", "content");
    EXPECT_EQ(mode(), open & 0777U);
    compiled();
  }
  ASSERT_EQ(::chmod(directory().c_str(), 0700), 0);
  EXPECT_EQ(Cache(directory()).entries().size(), 1U);
}

TEST_F(CacheTest, EveryFlippedByteIsAMiss) {
  Cache cache(directory());
  cache.put("a key", "some content that matters");
  const fs::path entry = only_entry(cache);
  const std::string whole = read(entry);
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      write(entry, damaged);
      EXPECT_EQ(cache.get("a key"), std::nullopt) << "byte " << at;
    }
  write(entry, whole);
  EXPECT_EQ(cache.get("a key"), "some content that matters");
}

TEST_F(CacheTest, EveryTruncationAndExtensionIsAMiss) {
  Cache cache(directory());
  cache.put("a key", "some content that matters");
  const fs::path entry = only_entry(cache);
  const std::string whole = read(entry);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(entry, whole.substr(0, size));
    EXPECT_EQ(cache.get("a key"), std::nullopt) << "size " << size;
  }
  write(entry, whole + "x");
  EXPECT_EQ(cache.get("a key"), std::nullopt);
  fs::remove(entry);
  fs::create_directory(entry);  // not a file at all
  EXPECT_EQ(cache.get("a key"), std::nullopt);
  cache.put("a key", "again");
}

TEST_F(CacheTest, ForeignVersionsAndKeysAreMisses) {
  Cache cache(directory());
  cache.put("a key", "content");
  const fs::path entry = only_entry(cache);
  std::string other = read(entry);
  other = other.substr(0, other.size() - 64);
  const auto at = other.find(build_fingerprint());
  ASSERT_NE(at, std::string::npos);
  other[at] = other[at] == '0' ? '1' : '0';
  write(entry, other + sha256(other));  // right in itself, of another build
  EXPECT_EQ(cache.get("a key"), std::nullopt);
  cache.put("a key", "content");
  fs::copy_file(entry, directory() / sha256("another key"));  // an entry under a wrong name
  EXPECT_EQ(cache.get("another key"), std::nullopt);
}

TEST_F(CacheTest, DirectoriesThatAreNotOursAreNotUsed) {
  const fs::path file = folder_ / "file";
  write(file, "");
  Cache blocked(file / "luminal");
  EXPECT_NE(blocked.problem(), "");
  blocked.put("key", "content");
  EXPECT_EQ(blocked.get("key"), std::nullopt);
  EXPECT_NE(Cache(fs::path()).problem(), "");
  fs::create_directory_symlink(folder_, folder_ / "link");
  EXPECT_NE(Cache(folder_ / "link").problem(), "") << "a link may lead anywhere";
  const bool root = ::geteuid() == 0;
  fs::path foreign = "/";
  if (root) {
    foreign = folder_ / "foreign";
    fs::create_directory(foreign);
    ASSERT_EQ(::chown(foreign.c_str(), 12345, 12345), 0);
  }
  EXPECT_NE(Cache(foreign).problem().find("another user"), std::string::npos);
}

TEST_F(CacheTest, CompilingSurvivesADirectoryItCannotUse) {
  write(directory(), "in the way");
  compiled();
}

TEST_F(CacheTest, FullDisk) {
  // A limit on the size of files fails writes just as a full disk does.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  for (const rlim_t most : {0U, 10U, 100U, 1000U}) {
    const rlimit small{most, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    compiled();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    for (const auto& file : fs::directory_iterator(directory()))
      EXPECT_FALSE(file.path().filename().string().starts_with("new-")) << "left behind";
  }
  compiled();
  EXPECT_FALSE(has_stage(compiled(), "saturate"));
}

/// In a process of its own, for whom permissions hold: nobody's, if this one is root's.
TEST_F(CacheTest, ReadOnlyDirectory) {
  constexpr uid_t nobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::chown(folder_.c_str(), nobody, nobody), 0);
  }
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (root && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) ::_exit(2);
    const auto cpu = cpu::make_device({.workers = 1});
    compiled(12, cpu);
    const auto before = Cache(directory()).entries();
    EXPECT_FALSE(before.empty());
    fs::permissions(directory(), fs::perms::owner_read | fs::perms::owner_exec);
    write(directory() / "file", "");
    EXPECT_FALSE(fs::exists(directory() / "file")) << "it is not read-only";
    EXPECT_FALSE(has_stage(compiled(12, cpu), "saturate"));
    EXPECT_TRUE(has_stage(compiled(13, cpu), "saturate"));
    const Cache::Cleared cleared = Cache(directory()).clear();
    EXPECT_EQ(cleared.removed, 0U);
    EXPECT_EQ(cleared.kept, before.size());
    EXPECT_NE(cleared.problem, "");
    EXPECT_EQ(Cache(directory()).entries().size(), before.size());
    ::_exit(HasFailure() ? 3 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  fs::permissions(directory(), fs::perms::owner_all);
}

TEST_F(CacheTest, TheSecondTimeNothingIsDecidedOrCompiled) {
  EXPECT_TRUE(has_stage(compiled(), "saturate"));
  const auto before = Cache(directory()).entries();
  const Executable warm = compiled();
  EXPECT_FALSE(has_stage(warm, "saturate"));
  EXPECT_EQ(Cache(directory()).entries().size(), before.size());
}

TEST_F(CacheTest, DamagedEntriesAreMadeAgain) {
  compiled();
  Cache cache(directory());
  for (const auto& entry : cache.entries()) {
    const fs::path path = directory() / entry.name;
    const std::string whole = read(path);
    for (std::size_t at = 0; at < whole.size(); at += whole.size() / 12 + 1) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      write(path, damaged);
      compiled();
      EXPECT_EQ(read(path).size(), whole.size()) << "was not made again";
    }
  }
}

TEST_F(CacheTest, ASearchIsNotRepeated) {
  Graph g;
  const Tensor y = g.named_tensor("x", {64, 64}).softmax(-1).retrieve();
  cli::fill(g);
  CompileOptions options;
  options.mode = Mode::search;
  options.verify = false;
  options.budget = std::chrono::seconds(2);
  options.cache_directory = directory().string();
  const Executable first = compile(g, device("cpu"), options);
  EXPECT_NE(first.search_report(), nullptr);
  const Executable second = compile(g, device("cpu"), options);
  EXPECT_EQ(second.search_report(), nullptr) << "it was searched for again";
  EXPECT_EQ(runtime::print(second.plan()), runtime::print(first.plan()));
}

TEST_F(CacheTest, BoundsOfDimsAreNotMixedUp) {
  // Equal but for what is known of a dim: kernels made for the one must not run the other.
  for (const std::int64_t low : {16, 0}) {
    Graph g;
    const Expr n = Expr::variable("n", low, 64);
    const Tensor x = g.named_tensor("x", {n, 16});
    const Tensor y = (x * 2.0).sum(0).retrieve();
    CompileOptions options;
    options.verify = false;
    options.cache_directory = directory().string();
    Executable exe = compile(g, device("cpu"), options);
    exe.set_dyn(x, Array(std::vector<float>(static_cast<std::size_t>(16 * (low + 1)), 1.0F)), {low + 1, 16});
    exe.run();
    EXPECT_EQ(exe.get<float>(y)[0], 2.0F * static_cast<float>(low + 1));
  }
}

/// Sixteen processes compile the same graphs while some clear the cache.
TEST_F(CacheTest, ManyProcessesAtOnce) {
  std::vector<pid_t> children;
  for (int number = 0; number < 16; ++number) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto cpu = cpu::make_device({.workers = 1});
      for (int round = 0; round < 6; ++round) {
        if (number % 5 == 0) Cache(directory()).clear();
        Graph g;
        const Tensor x = g.named_tensor("x", {4 + round % 2, 8});
        const Tensor y = (x * 3.0).sum(-1).retrieve();
        x.set(Array(std::vector<float>(static_cast<std::size_t>(8 * (4 + round % 2)), 1.0F))
                  .reshaped({4 + round % 2, 8}));
        CompileOptions options;
        options.cache_directory = directory().string();
        options.verify = false;
        Executable exe = compile(g, cpu, options);
        exe.run();
        for (const float v : exe.get<float>(y))
          if (v != 24.0F) ::_exit(3);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const auto child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
}

}  // namespace
}  // namespace luminal

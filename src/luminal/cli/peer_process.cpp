#include "luminal/cli/peer_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "luminal/luminal.h"
#include "luminal/support/text.h"

namespace luminal::cli {

namespace fs = std::filesystem;
using nlohmann::json;

PeerProcess::PeerProcess() {
  const char* given = std::getenv("LUMINAL_PEER_PYTHON");
  const std::string python = given != nullptr ? given : LUMINAL_SOURCE_DIR "/.venv/bin/python";
  const std::string script = LUMINAL_SOURCE_DIR "/benches/peers/server.py";
  if (::access(python.c_str(), X_OK) != 0)
    throw Error(
        cat("bench: no peers: ", python,
            " cannot be run. './luminal setup --references' makes it, or LUMINAL_PEER_PYTHON names another"));
  std::string pattern = (fs::temp_directory_path() / "luminal-peers-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error("bench: cannot make a temporary directory");
  folder_ = pattern;
  int in[2] = {-1, -1};
  int out[2] = {-1, -1};
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) throw Error("bench: cannot make a pipe");
  std::signal(SIGPIPE, SIG_IGN);
  child_ = ::fork();
  if (child_ < 0) throw Error("bench: cannot start the peers");
  if (child_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::execl(python.c_str(), python.c_str(), script.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = ::fdopen(out[0], "r");
}

PeerProcess::~PeerProcess() {
  ::close(to_);
  if (from_ != nullptr) std::fclose(from_);
  int status = 0;
  ::waitpid(child_, &status, 0);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

json PeerProcess::ask(const json& request) {
  const std::string line = request.dump() + "\n";
  std::size_t at = 0;
  while (at < line.size()) {
    const ssize_t done = ::write(to_, line.data() + at, line.size() - at);
    if (done <= 0) throw Error("bench: the peers' process has ended");
    at += static_cast<std::size_t>(done);
  }
  char* text = nullptr;
  std::size_t size = 0;
  const ssize_t got = ::getline(&text, &size, from_);
  const std::string answer = got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "";
  std::free(text);
  if (answer.empty()) throw Error("bench: the peers' process has ended");
  const json parsed = json::parse(answer);
  if (parsed.contains("error"))
    throw BenchFailure(cat("a peer failed: ", parsed["error"].get<std::string>()));
  return parsed;
}

std::vector<BenchPeer> PeerProcess::peers(const std::string& kind, const Graph& graph, int threads) {
  json arrays = json::object();
  std::size_t number = 0;
  for (const auto id : graph.dag().nodes()) {
    const Node& node = graph.dag().node(id);
    if ((node.op != Op::input && node.op != Op::state) || !graph.at(id).has_data()) continue;
    const Array array = graph.at(id).array().contiguous();
    const fs::path file = folder_ / cat(number++, ".bin");
    std::ofstream(file, std::ios::binary)
        .write(
            reinterpret_cast<const char*>(array.bytes()),
            static_cast<std::streamsize>(static_cast<std::size_t>(array.size()) * byte_size(array.dtype())));
    arrays[node.name] = {{"file", file.string()}, {"shape", array.dims()}, {"dtype", cat(array.dtype())}};
  }
  const json answer = ask({{"load", kind}, {"arrays", arrays}, {"threads", threads}});
  std::vector<BenchPeer> result;
  for (const auto& item : answer["peers"]) {
    const auto name = item.get<std::string>();
    result.push_back({name, [this, name] { return ask({{"run", name}})["seconds"].get<double>(); },
                      [this, name] {
                        const fs::path file = folder_ / "output.bin";
                        ask({{"output", name}, {"file", file.string()}});
                        std::ifstream in(file, std::ios::binary);
                        std::vector<float> values(fs::file_size(file) / sizeof(float));
                        in.read(reinterpret_cast<char*>(values.data()),
                                static_cast<std::streamsize>(values.size() * sizeof(float)));
                        return values;
                      },
                      [this, name] { ask({{"restore", name}}); }});
  }
  return result;
}

}  // namespace luminal::cli

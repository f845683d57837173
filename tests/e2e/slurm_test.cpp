// A sweep as job arrays of a real Slurm on this host: workers and a node are killed, and every point is
// there once, the same bytes as a local sweep leaves.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kPoints = 45;

struct HostProcess {
  pid_t id = 0, parent = 0;
  std::string words, environment;  // each ended by a zero byte
};

std::vector<HostProcess> processes() {
  std::vector<HostProcess> out;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = read_text(entry.path().string() + "/stat");
    const size_t after = stat.rfind(')');
    if (after == std::string::npos) continue;  // it has ended meanwhile
    HostProcess p{.id = std::stoi(name)};
    char state = 0;
    std::istringstream(stat.substr(after + 1)) >> state >> p.parent;
    p.words = read_text(entry.path().string() + "/cmdline");
    p.environment = read_text(entry.path().string() + "/environ");
    out.push_back(std::move(p));
  }
  return out;
}

class Cluster : public ::testing::Test {
 protected:
  void SetUp() override {
    const bool there =
        geteuid() == 0 &&
        std::system("command -v munged slurmctld slurmd sbatch >/dev/null 2>&1") == 0;
    if (!there && std::getenv("DAYBREAK_REQUIRE_SLURM"))
      FAIL() << "Slurm, munge or root's rights are missing";
    if (!there)
      GTEST_SKIP() << "Slurm and munge are not installed, or this is not root: not tested";
    ASSERT_EQ(std::system((tool("start") + " >/dev/null").c_str()), 0);
    started_ = true;
    setenv("SLURM_CONF", (host() + "/slurm.conf").c_str(), 1);
  }
  void TearDown() override {
    if (!started_) return;
    EXPECT_EQ(std::system(tool("stop").c_str()), 0);
  }

  std::string host() const { return folder_.path(); }
  // Waits for a process of a task that fits; null when there was none for a minute.
  template <class Fits> HostProcess await(const Fits& fits) const {
    for (const auto end = Clock::now() + std::chrono::minutes(1); Clock::now() < end;) {
      for (const auto& p : processes())
        if (p.words.find(folder_.path()) != std::string::npos && fits(p)) return p;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return {};
  }
  // All that lives of a node: its daemon, the one that minds a task, the task.
  void lose(const std::string& node) const {
    const std::string daemon = host() + "/slurmd." + node + ".pid";
    kill(std::stoi(read_text(daemon)), SIGKILL);
    fs::remove(daemon);
    std::set<pid_t> doomed;
    const auto all = processes();
    for (const auto& p : all) {
      const bool ours = p.environment.find("SLURM_CONF=" + host()) != std::string::npos &&
                        p.environment.find("SLURMD_NODENAME=" + node) != std::string::npos;
      if (!ours) continue;
      doomed.insert(p.id);
      for (const auto& minder : all)
        if (minder.id == p.parent && minder.words.starts_with("slurmstepd"))
          doomed.insert(p.parent);
    }
    EXPECT_FALSE(doomed.empty());
    for (const pid_t id : doomed) kill(id, SIGKILL);
  }
  std::string tool(const std::string& action) const {
    return std::string(DAYBREAK_SOURCE) + "/tests/tools/slurm_host.sh " + action + " " + host();
  }

  const Folder folder_;

 private:
  bool started_ = false;
};

std::string sweep_file(const Folder& folder) {
  return folder.file("s.yaml",
                     "title: t\nchip: mx-dma\naxes:\n"
                     "  - {name: head, knob: core.sort.head, range: {from: 1, to: " +
                         std::to_string(kPoints) +
                         ", step: 1}}\nworkloads:\n"
                         "  - {name: w, words: [run, topk, --values, steering]}\n");
}

pid_t start_sweep(const std::string& file, const std::string& out) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (!freopen("/dev/null", "w", stdout) || !freopen((out + ".said").c_str(), "w", stderr))
    _exit(127);
  execl(DAYBREAK_PROGRAM, "daybreak", "sweep", file.c_str(), "--slurm", "--partition", "sweeps",
        "--points-per-task", "9", "--resume", "--out", out.c_str(), nullptr);
  _exit(127);
}

bool is_worker(const HostProcess& p) {
  const std::string flag = std::string("--task") + '\0';
  return p.words.starts_with(DAYBREAK_PROGRAM) && p.words.find(flag) != std::string::npos;
}

TEST_F(Cluster, ASweepOutlivesWorkerNodeAndCoordinator) {
  const Folder results;
  const auto file = sweep_file(folder_);
  const auto local = results.path() + "/local", array = results.path() + "/array";
  ASSERT_EQ(run_program({"sweep", file, "--jobs", "2", "--out", local}).code, 0);

  pid_t coordinator = start_sweep(file, array);
  const auto worker = await(is_worker);
  ASSERT_GT(worker.id, 0) << read_text(array + ".said");
  kill(worker.id, SIGKILL);
  const auto on_node = [&](const HostProcess& p) {
    return is_worker(p) && p.id != worker.id &&
           p.environment.find("SLURMD_NODENAME=n2") != std::string::npos;
  };
  ASSERT_GT(await(on_node).id, 0) << read_text(array + ".said");
  lose("n2");
  kill(coordinator, SIGKILL);
  waitpid(coordinator, nullptr, 0);

  coordinator = start_sweep(file, array);  // finds its array again
  int status = 0;
  waitpid(coordinator, &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << read_text(array + ".said");
  EXPECT_EQ(files_of(array), files_of(local));
  std::set<std::string> hashes;
  std::istringstream lines(read_text(array + "/results.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto run = nlohmann::json::parse(line);
    EXPECT_EQ(run["status"], "done") << line;
    EXPECT_TRUE(hashes.insert(run["hash"]).second) << line;
  }
  EXPECT_EQ(hashes.size(), size_t(kPoints));
}

TEST_F(Cluster, AnArrayThatCannotRunIsSubmittedThreeTimesAndThenNamed) {
  // Nodes run what the coordinator runs; a file that is gone when a task starts is no fault of a point.
  const Folder results;
  const auto file = sweep_file(folder_);
  const auto refused = run_program(
      {"sweep", file, "--slurm", "--partition", "none", "--out", results.path() + "/refused"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.error.find("partition"), std::string::npos) << refused.error;

  const auto torn = results.path() + "/torn";
  const pid_t coordinator = start_sweep(file, torn);
  while (!fs::exists(torn + "/slurm/array")) usleep(1000);
  fs::remove(file);
  int status = 0;
  waitpid(coordinator, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
  EXPECT_NE(read_text(torn + ".said").find("3 arrays in a row gave no result"), std::string::npos)
      << read_text(torn + ".said");
  EXPECT_TRUE(fs::is_empty(torn + "/points"));
}

}  // namespace
}  // namespace daybreak::tests

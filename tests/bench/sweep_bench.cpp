// Sweeps as processes: what a second job gains, what a process costs, and what is left of a sweep that is killed
// again and again. Wall times mean something only beside the load of the machine, which is a counter.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "daybreak-bench-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

pid_t start(std::vector<std::string> words) {
  words.insert(words.begin(), "daybreak");
  std::vector<char*> arguments;
  for (auto& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(127);
  execv(DAYBREAK_PROGRAM, arguments.data());
  _exit(127);
}

// Of a process and all that it waited for.
struct Spent {
  double wall = 0, cpu = 0;  // s
  Spent& operator+=(const Spent& other) {
    wall += other.wall;
    cpu += other.cpu;
    return *this;
  }
};

Spent spent(std::vector<std::string> words) {
  const auto begin = Clock::now();
  int status = 0;
  rusage usage{};
  wait4(start(std::move(words)), &status, 0, &usage);
  if (status != 0) std::abort();
  const auto of = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return {.wall = std::chrono::duration<double>(Clock::now() - begin).count(),
          .cpu = of(usage.ru_utime) + of(usage.ru_stime)};
}

double seconds(std::vector<std::string> words) { return spent(std::move(words)).wall; }

std::string sweep_file(const Folder& folder, const std::string& name, int from, int to,
                       const std::string& words) {
  std::ofstream(folder / name) << "title: t\nchip: mx-dma\naxes:\n  - {name: head, knob: "
                                  "core.sort.head, range: {from: "
                               << from << ", to: " << to
                               << ", step: 1}}\nworkloads:\n  - {name: w, words: [" << words
                               << "]}\n";
  return folder / name;
}

std::string text_of(const std::string& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

void put_load(benchmark::State& state) {
  double load = 0;
  getloadavg(&load, 1);
  state.counters["load"] = load;
}

// 60 points of a second or more in six turns of ten, jobs 1 and 2 one after the other in each.
void second_job(benchmark::State& state) {
  for (auto _ : state) {
    const Folder folder;
    double one = 0, two = 0;
    for (int turn = 0; turn < 6; ++turn) {
      const auto file = sweep_file(folder, "s" + std::to_string(turn) + ".yaml", 10 * turn + 1,
                                   10 * turn + 10, "run, topk, rows=2048, --values, steering");
      const auto out = folder / ("o" + std::to_string(turn));
      one += seconds({"sweep", file, "--jobs", "1", "--out", out + "-1"});
      two += seconds({"sweep", file, "--jobs", "2", "--out", out + "-2"});
    }
    state.counters["seconds_a_point"] = one / 60;
    state.counters["speed_up"] = one / two;
  }
  put_load(state);
}

// The same runs by hand and in a sweep, in turns: the difference is what the sweep adds to a process.
void process_overhead(benchmark::State& state) {
  for (auto _ : state) {
    const Folder folder;
    Spent alone, swept;
    for (int turn = 0; turn < 2; ++turn) {
      const int from = 20 * turn + 1;
      const auto file = sweep_file(folder, "s" + std::to_string(turn) + ".yaml", from, from + 19,
                                   "run, topk, n=4096, --values, steering");
      swept += spent({"sweep", file, "--out", folder / ("o" + std::to_string(turn))});
      for (int head = from; head < from + 20; ++head)
        alone += spent({"run", "topk", "n=4096", "--values", "steering", "--trace", "off", "--set",
                        "core.sort.head=" + std::to_string(head), "--out",
                        folder / ("a" + std::to_string(head))});
    }
    state.counters["ms_alone"] = 1e3 * alone.wall / 40;
    state.counters["ms_overhead"] = 1e3 * (swept.wall - alone.wall) / 40;
    state.counters["cpu_ms_overhead"] = 1e3 * (swept.cpu - alone.cpu) / 40;
  }
  put_load(state);
}

// 500 points, killed 20 times at random moments and resumed: the tables are those of a sweep left alone.
void killed_and_resumed(benchmark::State& state) {
  for (auto _ : state) {
    const Folder folder;
    const auto file = sweep_file(folder, "s.yaml", 1, 500, "run, topk, n=4096, --values, steering");
    const auto whole = folder / "whole", torn = folder / "torn";
    const double left_alone = seconds({"sweep", file, "--jobs", "2", "--out", whole});
    std::mt19937 random(5);
    int reached = 0;
    for (int i = 0; i < 20; ++i) {
      const pid_t child = start({"sweep", file, "--jobs", "2", "--resume", "--out", torn});
      const double share = double(random() % 1000) / 1000;
      std::this_thread::sleep_for(std::chrono::duration<double>(left_alone * share / 12));
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      reached = int(std::distance(fs::directory_iterator(torn + "/points"), {}));
    }
    seconds({"sweep", file, "--jobs", "2", "--resume", "--out", torn});
    const auto records = [](const std::string& out) {
      return std::distance(fs::directory_iterator(out + "/records"), {});
    };
    if (text_of(whole + "/results.jsonl") != text_of(torn + "/results.jsonl") ||
        records(torn) != 500 || records(whole) != 500)
      state.SkipWithError("a killed sweep left other results");
    state.counters["points_before_the_last"] = reached;
    state.counters["seconds_left_alone"] = left_alone;
  }
  put_load(state);
}

BENCHMARK(second_job)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();
BENCHMARK(process_overhead)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();
BENCHMARK(killed_and_resumed)->Iterations(1)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();

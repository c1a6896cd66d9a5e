// Runs the command line as its user would, inside limits that no input may make it reach.
#pragma once

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace slmsim {

// A new, empty folder that is removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = testing::TempDir() + "slmsim-cli-XXXXXX";
    if (mkdtemp(pattern.data())) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  std::size_t count() const {
    const std::filesystem::directory_iterator entries(path_);
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// Texts that a table wraps, each on one line.
inline std::string unwrapped(const std::string& table) {
  return std::regex_replace(table, std::regex("\n +"), " ");
}

// Open MPI refuses root and more ranks than cores unless configured otherwise, and leaks memory of its own.
inline void allow_mpi() {
  for (const char* setting :
       {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"})
    setenv(setting, "1", 1);
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
}

struct RunOutcome {
  int status = -1;  // exit status, or 128 + the signal that ended it
  std::string out, err;
  long memory_kib = 0;  // largest resident set
};

// Address space is what the sanitizers take terabytes of; elsewhere 1 GiB must do.
inline void limit_this_process() {
  const auto limit = [](auto resource, rlim_t value) {
    const rlimit both{value, value};
    setrlimit(resource, &both);
  };
#if !defined(__SANITIZE_ADDRESS__)
  limit(RLIMIT_AS, rlim_t{1} << 30);
  limit(RLIMIT_CPU, 10);
#else
  limit(RLIMIT_CPU, 100);
#endif
  limit(RLIMIT_FSIZE, rlim_t{128} << 20);
  limit(RLIMIT_CORE, 0);
  alarm(200);  // ends a wait that takes no processor time, as for a pipe that nobody writes to
}

// In `folder`, with nothing on standard input.
inline RunOutcome run_program(const std::vector<std::string>& words, const std::string& folder = SLMSIM_SOURCE_DIR) {
  const TemporaryFolder streams;
  const std::string out = streams.file("out"), err = streams.file("err");
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    if (chdir(folder.c_str()) != 0) _exit(126);
    limit_this_process();
    execv(argv.front(), argv.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  RunOutcome finished;
  if (child < 0 || wait4(child, &status, 0, &used) != child) return finished;
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = contents(out);
  finished.err = contents(err);
  finished.memory_kib = used.ru_maxrss;
  return finished;
}

inline RunOutcome slmsim_run(std::vector<std::string> arguments, const std::string& folder = SLMSIM_SOURCE_DIR) {
  arguments.insert(arguments.begin(), SLMSIM_BINARY);
  return run_program(arguments, folder);
}

}  // namespace slmsim

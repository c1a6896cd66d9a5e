// Long jobs, one thread each, that run while the page polls their progress.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sim/serve/helper.h"

namespace slmsim::web {

class JobList {
 public:
  explicit JobList(Answerer answerer) : answerer_(std::move(answerer)) {}
  JobList(const JobList&) = delete;
  JobList& operator=(const JobList&) = delete;
  ~JobList();  // cancels and waits

  // {"job": number}. Where the limit of its pace is reached: 503, or {"job": null} for a job that follows an edit, which the
  // page requests again. Of each pace the last kMostKept finished jobs are kept.
  Response start(const Verb& verb, const std::string& body);
  // {"state": "running", "progress": text, "share": 0 to 1 or less}, or {"state": "done" | "failed" | "cancelled", "status",
  // "answer"}.
  Response state(std::uint64_t number);
  Response cancel(std::uint64_t number);

  static constexpr std::size_t kMostLong = 2, kMostFollowing = 1, kMostRunning = kMostLong + kMostFollowing,
                               kMostKept = 8;
  static constexpr double kMostSecondsLong = 1800, kMostSecondsFollowing = 120;

 private:
  struct Job {
    std::uint64_t number = 0;
    Pace pace = Pace::kLong;
    std::atomic<bool> cancelled = false;
    std::mutex mutex;  // of jobs that follow an edit
    std::string progress;
    double share = -1;
    bool over = false;
    Response response;
    std::thread thread;
  };

  std::shared_ptr<Job> find(std::uint64_t number);

  Answerer answerer_;
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::vector<std::shared_ptr<Job>> jobs_;
};

}  // namespace slmsim::web

#include "sim/serve/job_list.h"

#include <algorithm>

namespace slmsim::web {

JobList::~JobList() {
  for (auto& job : jobs_) job->cancelled = true;
  for (auto& job : jobs_) job->thread.join();
}

Response JobList::start(const Verb& verb, const std::string& body) {
  const std::scoped_lock lock(mutex_);
  const auto is_over = [](const std::shared_ptr<Job>& job) {
    const std::scoped_lock inner(job->mutex);
    return job->over;
  };
  const auto is_old = [&](const std::shared_ptr<Job>& job) { return job->pace == verb.pace && is_over(job); };
  const auto old = static_cast<std::size_t>(std::ranges::count_if(jobs_, is_old));
  const auto alike =
      static_cast<std::size_t>(std::ranges::count_if(jobs_, [&](const auto& job) { return job->pace == verb.pace; }));
  const bool follows = verb.pace == Pace::kFollowing;
  if (alike - old >= (follows ? kMostFollowing : kMostLong))
    return follows ? json_response({{"job", nullptr}})
                   : refusal(503, "two searches are running already; wait, or cancel one");
  if (old >= kMostKept) {
    const auto oldest = std::ranges::find_if(jobs_, is_old);
    (*oldest)->thread.join();
    jobs_.erase(oldest);
  }
  auto job = std::make_shared<Job>();
  job->number = ++last_;
  job->pace = verb.pace;
  // The list outlives its threads, and each thread holds its job.
  job->thread = std::thread([this, job = job.get(), name = verb.name, follows, body] {
    HelperRequest asking{.verb = name, .body = body, .seconds = follows ? kMostSecondsFollowing : kMostSecondsLong};
    asking.yields = true;
    asking.cancelled = [job] { return job->cancelled.load(); };
    asking.progress = [job](const std::string& text, double share) {
      const std::scoped_lock inner(job->mutex);
      job->progress = text;
      job->share = share;
    };
    Response response = answerer_(asking);
    const std::scoped_lock inner(job->mutex);
    job->response = std::move(response);
    job->over = true;
  });
  jobs_.push_back(job);
  return json_response({{"job", job->number}});
}

std::shared_ptr<JobList::Job> JobList::find(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  const auto at = std::ranges::find_if(jobs_, [&](const auto& job) { return job->number == number; });
  return at == jobs_.end() ? nullptr : *at;
}

Response JobList::state(std::uint64_t number) {
  const auto job = find(number);
  if (!job) return refusal(404, "there is no such job, or it ended long ago");
  const std::scoped_lock lock(job->mutex);
  if (!job->over) return json_response({{"state", "running"}, {"progress", job->progress}, {"share", job->share}});
  const Response& response = job->response;
  const char* state = response.status == 200 ? "done" : response.status == 499 ? "cancelled" : "failed";
  return json_response(
      {{"state", state}, {"status", response.status}, {"answer", Json::parse(response.body, nullptr, false)}});
}

Response JobList::cancel(std::uint64_t number) {
  const auto job = find(number);
  if (!job) return refusal(404, "there is no such job, or it ended long ago");
  job->cancelled = true;
  return json_response({{"state", "cancelling"}});
}

}  // namespace slmsim::web

#include "sim/serve/app.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <mutex>

#include <gmock/gmock.h>

#include "tests/serve/world.h"

namespace slmsim::web::app_test {
namespace {

using testing::HasSubstr;

class Pages : public PageFolder {
 protected:
  Pages()
      : app_({.guard = own_guard(), .folder = root_, .open = "two.yaml", .version = "1.2.3"},
             [this](const HelperRequest& asking) {
               {
                 const std::scoped_lock lock(mutex_);
                 asked_.push_back(asking.verb);
               }
               return answerer_(asking);
             }) {}

  Json told(const std::string& path, const Json& body) {
    const Response response = app_.handle(post(path, body));
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }

  bool is_wrong(const std::string& path, const Json& body) { return told(path, body).contains("errors"); }

  std::mutex mutex_;  // jobs are asked of in threads of their own
  std::vector<std::string> asked_;
  Answerer answerer_ = [](const HelperRequest&) { return Response{.body = "{}"}; };
  App app_;
};

std::string header_of(const Response& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST_F(Pages, AreServedWithAPolicyThatForbidsTheRest) {
  for (const auto& asset : assets()) {
    const Response response = app_.handle(get(std::string("/") + asset.name));
    EXPECT_EQ(response.status, 200) << asset.name;
    EXPECT_THAT(header_of(response, "Content-Security-Policy"), HasSubstr("default-src 'none'; script-src 'self';"));
    EXPECT_EQ(header_of(response, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header_of(response, "Cache-Control"), "no-store");
    EXPECT_THAT(response.type, testing::EndsWith("; charset=utf-8"));
  }
  EXPECT_EQ(app_.handle(get("/")).type, "text/html; charset=utf-8");
  EXPECT_THAT(app_.handle(get("/")).body, HasSubstr("<pattern id="));
  EXPECT_THAT(app_.handle(get("/report.css")).body, HasSubstr(".tile"));
}

// No word of another machine: nothing is fetched, and no style or script stands inside the page.
TEST_F(Pages, HoldNothingOfElsewhere) {
  for (const auto& asset : assets()) {
    const std::string text(asset.text);
    EXPECT_THAT(text, testing::Not(HasSubstr("https://"))) << asset.name;
    EXPECT_THAT(text, testing::Not(HasSubstr("innerHTML"))) << asset.name;
    EXPECT_THAT(text, testing::Not(HasSubstr("eval("))) << asset.name;
  }
  const std::string page(find_asset("index.html")->text);
  for (const char* word : {"<style", "style=", "onclick", "<script>"}) EXPECT_THAT(page, testing::Not(HasSubstr(word)));
}

TEST_F(Pages, AreNoFilesOfTheMachine) {
  for (const char* path :
       {"/../two.yaml", "/two.yaml", "/etc/passwd", "/%2e%2e/two.yaml", "//etc/passwd", "/api/view", "/x"})
    EXPECT_EQ(app_.handle(get(path)).status, 404) << path;
}

TEST_F(Pages, RefuseBeforeTheyAsk) {
  Request strange = post("/api/view", {});
  strange.headers["host"] = "evil.example";
  EXPECT_EQ(app_.handle(strange).status, 403);
  strange = post("/api/view", {});
  strange.headers.erase("cookie");
  EXPECT_EQ(app_.handle(strange).status, 401);
  EXPECT_TRUE(asked_.empty());
  EXPECT_EQ(app_.handle(post("/api/view", {})).status, 200);
  EXPECT_EQ(asked_, std::vector<std::string>{"view"});
}

TEST_F(Pages, TellWhatThereIs) {
  const Json catalog = told("/api/catalog", Json::object());
  EXPECT_EQ(catalog["version"], "1.2.3");
  EXPECT_EQ(catalog["open"], "two.yaml");
  const auto names = [&](const char* key) {
    std::vector<std::string> out;
    for (const Json& one : catalog[key]) out.push_back(one["name"]);
    return out;
  };
  EXPECT_THAT(names("models"), testing::Contains("gpt2m"));
  EXPECT_THAT(names("gpus"), testing::Contains("rtx3090"));
  EXPECT_THAT(names("vms"), testing::Contains("workstation"));
  EXPECT_THAT(names("techniques"), testing::Contains("LocalSGD"));
}

// A scenario of the user's that has the name of a shipped one stands in its place.
TEST_F(Pages, NameEachScenarioOnce) {
  std::filesystem::create_directory(root_ / "models");
  std::filesystem::create_directory(root_ / "scenarios");
  write("folder/scenarios/gat-amst.yaml", kTwoSites);
  const Json scenarios = told("/api/catalog", Json::object())["scenarios"];
  EXPECT_EQ(std::ranges::count(scenarios, "gat-amst"), 1);
  EXPECT_THAT(scenarios, testing::Contains("tacc-tacc"));
}

TEST_F(Pages, OpenAndSaveFiles) {
  EXPECT_EQ(told("/api/files/list", Json::object())["files"], (Json{"below/deep.yaml", "two.yaml"}));
  EXPECT_EQ(told("/api/files/read", {{"path", "two.yaml"}})["text"], kTwoSites);
  told("/api/files/write", {{"path", "saved.yaml"}, {"text", "a: 1\n"}});
  EXPECT_TRUE(is_wrong("/api/files/write", {{"path", "saved.yaml"}, {"text", "a: 2\n"}}));
  EXPECT_EQ(told("/api/files/read", {{"path", "saved.yaml"}})["text"], "a: 1\n");
  EXPECT_TRUE(is_wrong("/api/files/read", {{"path", "../outside.yaml"}}));
  EXPECT_TRUE(is_wrong("/api/files/read", {{"path", 1}}));
  EXPECT_EQ(told("/api/files/shipped", {{"name", "gat-amst"}})["whole"]["k"], "map");
  EXPECT_TRUE(is_wrong("/api/files/shipped", {{"name", "../gat-amst"}}));
}

TEST_F(Pages, RefuseQuestionsThatThereAreNot) {
  EXPECT_EQ(app_.handle(post("/api/none", Json::object())).status, 404);
  EXPECT_EQ(app_.handle(post("/none", Json::object())).status, 404);
  Request broken = post("/api/catalog", {});
  broken.body = "{";
  EXPECT_EQ(app_.handle(broken).status, 400);
}

// Polls as the page does, but without a pause.
Json ended(App& app, std::uint64_t job) {
  for (;;) {
    const Json state = Json::parse(app.handle(post("/api/job", {{"job", job}})).body);
    if (state["state"] != "running") return state;
    std::this_thread::yield();
  }
}

TEST_F(Pages, RunLongWorkAsJobsThatTellProgressAndEnd) {
  std::promise<void> told_progress, go_on;
  answerer_ = [&](const HelperRequest& asking) {
    asking.progress("3 of 4", 0.75);
    told_progress.set_value();
    go_on.get_future().wait();
    return Response{.body = "{\"plans\": 1}"};
  };
  const std::uint64_t job = told("/api/plan", Json::object())["job"];
  told_progress.get_future().wait();
  EXPECT_EQ(told("/api/job", {{"job", job}}), (Json{{"state", "running"}, {"progress", "3 of 4"}, {"share", 0.75}}));
  EXPECT_EQ(app_.handle(get("/")).status, 200);  // others are answered meanwhile
  go_on.set_value();
  EXPECT_EQ(ended(app_, job), (Json{{"state", "done"}, {"status", 200}, {"answer", {{"plans", 1}}}}));
  EXPECT_EQ(app_.handle(post("/api/job", {{"job", 99}})).status, 404);
}

TEST_F(Pages, CancelJobsAndBoundHowManyRun) {
  answerer_ = [](const HelperRequest& asking) {
    while (!asking.cancelled()) std::this_thread::yield();
    return refusal(499, "cancelled");
  };
  std::vector<std::uint64_t> jobs;
  for (std::size_t i = 0; i < JobList::kMostLong; ++i) jobs.push_back(told("/api/sweep", Json::object())["job"]);
  EXPECT_EQ(app_.handle(post("/api/sweep", Json::object())).status, 503);
  for (const auto job : jobs) told("/api/job/cancel", {{"job", job}});
  for (const auto job : jobs) EXPECT_EQ(ended(app_, job)["state"], "cancelled");
}

// One interactive update runs at a time, beside any other work; a page whose turn it is not asks again.
TEST_F(Pages, FollowTheHandOneAtATime) {
  answerer_ = [](const HelperRequest& asking) {
    EXPECT_TRUE(asking.yields);
    EXPECT_LE(asking.seconds, asking.verb == "plan" ? 1800 : 120);
    while (!asking.cancelled()) std::this_thread::yield();
    return refusal(499, "cancelled");
  };
  for (std::size_t i = 0; i < JobList::kMostLong; ++i) told("/api/plan", Json::object());
  const Json first = told("/api/intervals", Json::object());
  EXPECT_TRUE(first["job"].is_number());
  for (const char* other : {"/api/intervals", "/api/timeline", "/api/curve"})
    EXPECT_EQ(told(other, Json::object()), (Json{{"job", nullptr}})) << other;
  told("/api/job/cancel", first);
  EXPECT_EQ(ended(app_, first["job"])["state"], "cancelled");
  EXPECT_TRUE(told("/api/curve", Json::object())["job"].is_number());
}

TEST_F(Pages, ForgetOldJobs) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < JobList::kMostKept + 3; ++i) {
    last = told("/api/plan", Json::object())["job"];
    ended(app_, last);
  }
  EXPECT_EQ(app_.handle(post("/api/job", {{"job", 1}})).status, 404);
  EXPECT_EQ(app_.handle(post("/api/job", {{"job", last}})).status, 200);
}

}  // namespace
}  // namespace slmsim::web::app_test

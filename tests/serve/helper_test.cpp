#include "sim/serve/helper.h"

#include <algorithm>
#include <sys/resource.h>

#include <gmock/gmock.h>

#include "tests/serve/world.h"

namespace slmsim::web::helper_test {
namespace {

class HelperProcesses : public PageFolder {
 protected:
  Helpers helpers_{{SLMSIM_BINARY, "serve", "--helper", "--folder", root_.string()}, 2};
  std::string body_ = Json{{"scenario", kTwoSites}}.dump();
};

TEST_F(HelperProcesses, AnswerAsTheFunctionDoes) {
  Memory memory;
  const Response expected = answer("run", body_, workplace(), memory);
  for (int i = 0; i < 2; ++i) {
    const Response response = helpers_.ask({.verb = "run", .body = body_, .seconds = 100});
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, expected.body);
  }
  const std::string wrong = Json{{"scenario", "models: [nothing]\n"}}.dump();
  EXPECT_EQ(helpers_.ask({.verb = "view", .body = wrong, .seconds = 100}).body,
            answer("view", wrong, workplace(), memory).body);
}

TEST_F(HelperProcesses, EndWhenTheirTimeIsOver) {
  EXPECT_EQ(helpers_.ask({.verb = "plan", .body = body_, .seconds = 0}).status, 504);
  EXPECT_EQ(helpers_.ask({.verb = "view", .body = body_, .seconds = 100}).status, 200);  // another one
}

TEST_F(HelperProcesses, EndWhenNobodyWaits) {
  EXPECT_EQ(helpers_.ask({.verb = "plan", .body = body_, .seconds = 100, .cancelled = [] { return true; }}).status,
            499);
}

TEST_F(HelperProcesses, TellThatTheyCannotBeStarted) {
  Helpers none({"/nowhere/slmsim"}, 1);
  EXPECT_EQ(none.ask({.verb = "view", .body = body_, .seconds = 100}).status, 500);
}

// Each answers by its niceness.
TEST_F(HelperProcesses, YieldToWhatAHandWaitsFor) {
  Helpers nice({"/bin/sh", "-c", R"sh(while read line; do printf '{"status":200,"body":"%s"}\n' "$(nice)"; done)sh"},
               2);
  const int own = getpriority(PRIO_PROCESS, 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(nice.ask({.verb = "view", .body = "", .seconds = 100}).body, std::to_string(own));
    EXPECT_EQ(nice.ask({.verb = "plan", .body = "", .seconds = 100, .yields = true}).body,
              std::to_string(std::max(own, 10)));
  }
}

TEST_F(HelperProcesses, TellProgressOfLongWork) {
  std::vector<std::string> told;
  HelperRequest asking{.verb = "sweep", .body = {}, .seconds = 100};
  asking.body = Json{{"scenario", kTwoSites}, {"key", "training.batch"}, {"from", "8"},
                     {"to", "2000"},          {"points", 100},           {"log", true},
                     {"whole", true}}
                    .dump();
  asking.progress = [&](const std::string& text, double share) {
    told.push_back(text);
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  };
  EXPECT_EQ(helpers_.ask(asking).status, 200);
  for (const auto& text : told) EXPECT_THAT(text, testing::HasSubstr(" points"));
}

}  // namespace
}  // namespace slmsim::web::helper_test

#include "sim/serve/answer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/cli/process.h"
#include "tests/serve/world.h"

namespace slmsim::web::answer_test {
namespace {

using testing::HasSubstr;

class Answers : public PageFolder {
 protected:
  Response asked(const std::string& verb, Json body) {
    if (!body.contains("scenario")) body["scenario"] = kTwoSites;
    return answer(verb, body.dump(), workplace(), memory_);
  }
  Json told(const std::string& verb, const Json& body = Json::object()) {
    const Response response = asked(verb, body);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }
  Json program(std::vector<std::string> words) {
    const RunOutcome done = slmsim_run(std::move(words), root_.string());
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out);
  }

  Memory memory_;
};

TEST_F(Answers, AreTheProgramsOwn) {
  EXPECT_EQ(told("run", {{"name", "two.yaml"}}), program({"run", "two.yaml", "--format", "json"}));
  EXPECT_EQ(told("run", {{"name", "two.yaml"}, {"set", {"training.batch=16", "platform.links.wan.rtt=70ms"}}}),
            program({"run", "two.yaml", "--format", "json", "--set", "training.batch=16", "--set",
                     "platform.links.wan.rtt=70ms"}));
  EXPECT_EQ(told("explain", {{"name", "two.yaml"}}), program({"explain", "two.yaml", "--format", "json"}));
}

TEST_F(Answers, OfASweepAreTheProgramsOwn) {
  const Json sweep = told("sweep", {{"name", "two.yaml"},
                                    {"key", "training.batch"},
                                    {"from", "8"},
                                    {"to", "32"},
                                    {"points", 3},
                                    {"log", true},
                                    {"whole", true}});
  write("folder/sweep.yaml",
        "scenario: two.yaml\naxes:\n- {key: training.batch, from: 8, to: 32, points: 3, scale: log, whole: yes}\n");
  ASSERT_EQ(slmsim_run({"sweep", "sweep.yaml", "-o", "out"}, root_.string()).status, 0);
  EXPECT_EQ(sweep["csv"], contents(root_ / "out.csv"));
  EXPECT_EQ(sweep["jsonl"], contents(root_ / "out.jsonl"));
}

// The state left by earlier questions changes no digit.
TEST_F(Answers, OfTheViewAreThoseOfTheRun) {
  for (const char* rtt : {"5ms", "50ms", "5ms", "120ms"}) {
    const Json body = {{"set", {std::string("platform.links.wan.rtt=") + rtt}}};
    const Json run = told("run", body), view = told("view", body);
    ASSERT_EQ(view["models"].size(), 1);
    const Json& cells = view["models"][0]["cells"];
    ASSERT_EQ(cells.size(), run["predictions"].size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      for (const char* key :
           {"technique", "group", "status", "minutes", "iteration_s", "gpu_hours", "tokens_per_second"})
        EXPECT_EQ(cells[i][key], run["predictions"][i][key]) << rtt << " " << key;
    }
  }
}

TEST_F(Answers, HoldTheSectionsOfTheReport) {
  const Json model = told("view")["models"][0];
  EXPECT_THAT(model["verdict"].get<std::string>(), testing::StartsWith("Train gpt2m with "));
  std::vector<std::string> names;
  for (const Json& section : model["sections"]) names.push_back(section["name"]);
  EXPECT_THAT(names, testing::ElementsAre("comparison", "facts", "figures", "memory", "iteration"));
  EXPECT_THAT(model["tiles"].get<std::string>(), testing::AllOf(HasSubstr("Time of the best choice"),
                                                                HasSubstr("being computed"), HasSubstr("GPU-hours")));
  EXPECT_THAT(told("timeline")["sections"][0]["html"].get<std::string>(), HasSubstr("what each GPU does"));
  EXPECT_THAT(told("curve")["sections"][0]["html"].get<std::string>(),
              HasSubstr("time of the job against round-trip time"));
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST_F(Answers, HoldTheIntervalsOfTheRun) {
  const Json model = told("intervals", {{"name", "two.yaml"}, {"set", {"training.batch=16"}}})["models"][0];
  const Json run = program({"run", "two.yaml", "--format", "json", "--intervals", "--set", "training.batch=16"});
  EXPECT_EQ(model["probability"], run["uncertainty"]["picks"][0]["probability"]);
  const Json& selection = run["selections"][0];
  std::size_t timed = 0;
  for (const Json& cell : run["predictions"]) {
    timed += cell.contains("minutes_interval") ? 1 : 0;
    if (cell["technique"] != selection["technique"] || cell["group"] != selection["group"]) continue;
    EXPECT_EQ(model["fits"], cell["probability_fits"]);
  }
  EXPECT_GT(timed, 0);
  const std::string html = model["sections"][0]["html"], sure = model["sure"];
  // A line and its ends, in words too; equal choices have one bar, and far longer ones none.
  const std::size_t lines = count_of(html, ", with a probability of 80 % from ");
  EXPECT_GT(lines, 0);
  EXPECT_LE(lines, timed);
  EXPECT_GE(count_of(html, "class=\"whisker\""), 2 * lines);
  EXPECT_LE(count_of(html, "class=\"whisker\""), 3 * lines);
  EXPECT_THAT(model["tiles"].get<std::string>(), HasSubstr("80 % interval: "));
  EXPECT_THAT(sure, testing::StartsWith("With a probability of 80 % it takes "));
  EXPECT_THAT(sure,
              HasSubstr(fmt::format("right with a probability of {:.0f} %", 100 * model["probability"].get<double>())));
}

TEST_F(Answers, OfIntervalsTellWhatIsWrong) {
  EXPECT_EQ(asked("intervals", {{"set", {"training.batch=none"}}}).status, 422);
}

TEST_F(Answers, TellTheTreeWithPlaces) {
  const Json tree = told("view", {{"scenario", "# gr\u00f6\u00dfe\n" + kTwoSites}})["tree"];
  // The second line is `platform:`, the third `  name: two`.
  EXPECT_EQ(tree["e"][0][0], "platform");
  EXPECT_EQ(tree["e"][0][1], 2);
  const Json& name = tree["e"][0][3]["e"][0];
  EXPECT_EQ(name[0], "name");
  EXPECT_EQ(name[3], (Json{{"k", "text"}, {"l", 3}, {"c", 9}, {"v", "two"}}));
}

TEST_F(Answers, TellErrorsAtTheirPlacesAsTheProgramDoes) {
  std::string wrong = kTwoSites;
  wrong.replace(wrong.find("rtx3090"), 7, "rtx3091");
  write("folder/wrong.yaml", wrong);
  const Response response = asked("view", {{"scenario", wrong}, {"name", "wrong.yaml"}});
  EXPECT_EQ(response.status, 422);
  const Json told = Json::parse(response.body);
  ASSERT_EQ(told["errors"].size(), 1);
  const Json& error = told["errors"][0];
  EXPECT_EQ(error["line"], 5);
  EXPECT_EQ(error["column"],
            47);  // 4 + "a: {" 4 + "site: near, " 12 + "type: workstation, " 19 + "gpus: [" 7, and the next
  EXPECT_EQ(error["own"], true);
  EXPECT_TRUE(told.contains("tree"));  // it is drawn all the same
  const std::string file = (Folder(root_).root() / "wrong.yaml").string();
  const RunOutcome program = slmsim_run({"run", file}, root_.string());
  EXPECT_EQ(program.err, error["message"].get<std::string>() + "\n");
}

TEST_F(Answers, LeadToNoFileOutsideTheFolder) {
  for (const std::string& path : {std::string("../secret-platform.yaml"), (outer_ / "secret-platform.yaml").string(),
                                  std::string("./up/secret-platform.yaml"), std::string("/etc/passwd")}) {
    const Response response =
        asked("view", {{"scenario", "platform: " + path +
                                        "\nmodels: gpt2m\ntraining: {batch: 8, epochs: 1, blocks_per_epoch: 80}\n"}});
    EXPECT_EQ(response.status, 422) << path;
    EXPECT_THAT(response.body, HasSubstr("a path may lead only to files below")) << path;
    EXPECT_THAT(response.body, testing::Not(HasSubstr("root:")));
    EXPECT_EQ(asked("view", {{"scenario", "extends: " + path + "\n"}}).status, 422) << path;
  }
  EXPECT_THAT(asked("view", {{"scenario", "extends: ../outside.yaml\n"}}).body, HasSubstr("a path may lead only"));
  EXPECT_EQ(asked("view", {{"scenario", "extends: below/deep.yaml\n"}}).status, 200);
}

TEST_F(Answers, GiveWhatATextBuildsOnInOnePiece) {
  const Json view = told("view", {{"scenario", "extends: below/deep.yaml\ntraining: {batch: 16}\n"}});
  std::vector<std::string> keys;
  for (const Json& entry : view["whole"]["e"]) keys.push_back(entry[0]);
  EXPECT_THAT(keys, testing::ElementsAre("platform", "models", "techniques", "training"));
  EXPECT_FALSE(told("view").contains("whole"));
}

TEST_F(Answers, RefuseWhatIsNoQuestion) {
  for (const char* body : {"", "[]", "1", "{\"scenario\": 1}", "{\"set\": {}}", "{\"set\": [1]}",
                           "{\"name\": \"../x\"}", "{\"name\": \"/x\"}", "{\"name\": \"\"}"})
    EXPECT_EQ(answer("view", body, workplace(), memory_).status, 422) << body;
  EXPECT_EQ(answer("none", "{}", workplace(), memory_).status, 404);
  EXPECT_EQ(asked("view", {{"scenario", std::string(kMaxFileBytes + 1, ' ')}}).status, 422);
  EXPECT_EQ(asked("timeline", {{"model", 1}}).status, 422);
  EXPECT_EQ(asked("sweep", {{"key", "training.batch"}, {"from", "8"}, {"to", "16"}, {"points", 1e9}}).status, 422);
  EXPECT_EQ(asked("plan", {{"effort", -1}}).status, 422);
}

}  // namespace
}  // namespace slmsim::web::answer_test

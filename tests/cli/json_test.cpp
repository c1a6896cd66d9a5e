// The JSON of `slmsim run` against ../shared/design/contract.md, for every scenario that ships.
#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "tests/cli/prediction.h"
#include "tests/word_name.h"

namespace slmsim::json_test {
namespace {

using testing::UnorderedElementsAre;

// Numbers are printed with nine digits, so that a sum of five is right to some 1e-8.
constexpr double kRounding = 1e-6;

void expect_near(double value, double expected) {
  EXPECT_NEAR(value, expected, kRounding * std::max(1e-9, std::abs(expected)));
}

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

double sum_of(const Json& object) {
  double sum = 0;
  for (const auto& [key, value] : object.items()) sum += value.get<double>();
  return sum;
}

void expect_numbers(const Json& object, const std::vector<std::string>& keys) {
  for (const auto& key : keys) {
    SCOPED_TRACE(key);
    ASSERT_TRUE(object.contains(key));
    ASSERT_TRUE(object.at(key).is_number());
    EXPECT_TRUE(std::isfinite(object.at(key).get<double>()));
    EXPECT_GE(object.at(key).get<double>(), 0);
  }
}

void expect_memory(const Json& memory) {
  ASSERT_TRUE(memory.is_array());
  for (const auto& gpu : memory) {
    EXPECT_THAT(keys_of(gpu), UnorderedElementsAre("gpu", "bytes", "limit_bytes", "allocated_bytes", "reserved_bytes",
                                                   "at", "parts"));
    EXPECT_THAT(keys_of(gpu.at("parts")),
                UnorderedElementsAre("parameters", "gradients", "optimizer", "activations", "buffers", "framework"));
    EXPECT_TRUE(gpu.at("gpu").is_string());
    EXPECT_TRUE(gpu.at("bytes").is_number_integer());
    EXPECT_TRUE(gpu.at("limit_bytes").is_number_integer());
    for (const auto& [name, part] : gpu.at("parts").items()) {
      EXPECT_TRUE(part.is_number_integer()) << name;
      EXPECT_GE(part.get<std::int64_t>(), 0) << name;
    }
    EXPECT_EQ(sum_of(gpu.at("parts")), gpu.at("bytes").get<double>());
  }
}

void expect_times(const Json& p) {
  expect_near(sum_of(p.at("breakdown_s")), p.at("iteration_s"));
  expect_near(p.at("tflops_total"), p.at("tflops_per_gpu").get<double>() * p.at("gpus").get<double>());
  expect_near(p.at("gpu_hours"), p.at("minutes").get<double>() / 60 * p.at("gpus").get<double>());
  EXPECT_GT(p.at("iteration_s"), 0);
  EXPECT_GE(p.at("minutes").get<double>() * 60 * (1 + kRounding),
            p.at("iteration_s").get<double>() * (p.at("iterations").get<double>() - 1));
  for (const auto& link : p.at("links")) {
    SCOPED_TRACE(link.dump());
    EXPECT_THAT(keys_of(link), UnorderedElementsAre("link", "bytes", "average_Bps", "p90_Bps", "peak_Bps"));
    EXPECT_GT(link.at("bytes"), 0);
    EXPECT_LE(link.at("p90_Bps"), link.at("peak_Bps"));
    EXPECT_LE(link.at("average_Bps").get<double>(), link.at("peak_Bps").get<double>() * (1 + kRounding));
  }
}

void expect_prediction(const Json& p) {
  SCOPED_TRACE(p.at("model").dump() + " " + p.at("technique").dump() + " " + p.at("group").dump());
  for (const char* key : {"model", "technique", "status", "reason"}) EXPECT_TRUE(p.at(key).is_string());
  EXPECT_TRUE(p.at("gpus").is_number_integer());
  EXPECT_TRUE(p.at("iterations").is_number_integer());
  for (const auto& name : p.at("group")) EXPECT_TRUE(name.is_string());
  expect_numbers(p, {"minutes", "iteration_s", "tflops_per_gpu", "tflops_total", "gpu_hours"});
  expect_numbers(p.at("breakdown_s"), {"compute", "exposed_communication", "pipeline_bubble", "optimizer", "overhead"});
  EXPECT_EQ(p.at("breakdown_s").size(), 5);
  expect_memory(p.at("memory"));
  const bool fits = std::all_of(p.at("memory").begin(), p.at("memory").end(),
                                [](const Json& gpu) { return gpu.at("bytes") <= gpu.at("limit_bytes"); });
  const std::string status = p.at("status");
  EXPECT_EQ(status == "ok", p.at("reason") == "");
  if (status == "ok") {
    EXPECT_TRUE(fits);
    EXPECT_EQ(p.at("memory").size(), p.at("gpus"));
    EXPECT_TRUE(p.at("plan").is_object());
    expect_times(p);
  } else if (status == "oom") {
    EXPECT_FALSE(fits);
  } else {
    EXPECT_EQ(status, "unsupported");
  }
}

class RunJson : public testing::TestWithParam<std::string> {};

TEST_P(RunJson, FollowsTheContract) {
  const Json run = run_json({scenario_file(GetParam())});
  ASSERT_TRUE(run.is_object());
  EXPECT_EQ(run.at("schema"), "slmsim/run/1");
  EXPECT_EQ(run.at("scenario"), GetParam());
  // Three models, four techniques, both VMs together and each alone.
  EXPECT_EQ(run.at("predictions").size(), 3 * 4 * 3);
  for (const auto& prediction : run.at("predictions")) expect_prediction(prediction);
  const Json& selection = run.at("selection");
  for (const char* key : {"algorithm", "delta", "epsilon_epochs", "objective", "technique", "group", "steps"})
    EXPECT_TRUE(selection.contains(key)) << key;
  EXPECT_TRUE(selection.at("algorithm") == "paper" || selection.at("algorithm") == "amended");
  EXPECT_TRUE(selection.at("technique").is_string() || selection.at("technique").is_null());
  EXPECT_FALSE(selection.at("steps").empty());
}

TEST_P(RunJson, IsTheSameEveryTime) {
  const std::vector<std::string> words = {"run", scenario_file(GetParam()), "--format", "json"};
  const RunOutcome first = slmsim_run(words), second = slmsim_run(words);
  EXPECT_EQ(first.out, second.out);
}

// SimGrid's clock runs on from one scenario to the next, so that beside others a result may differ in its rounding,
// and in nothing else.
void expect_same_but_for_rounding(const Json& a, const Json& b, const std::string& where) {
  ASSERT_EQ(a.type() == b.type() || (a.is_number() && b.is_number()), true) << where;
  if (a.is_number()) {
    const double x = a.get<double>(), y = b.get<double>();
    EXPECT_NEAR(x, y, 1e-5 * std::max(std::abs(x), std::abs(y)) + 1e-9) << where;
  } else if (a.is_structured()) {
    ASSERT_EQ(a.size(), b.size()) << where;
    for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
      if (a.is_object()) {
        EXPECT_EQ(x.key(), y.key()) << where;
      }
      expect_same_but_for_rounding(*x, *y, where + "/" + (a.is_object() ? x.key() : std::to_string(x - a.begin())));
    }
  } else {
    EXPECT_EQ(a, b) << where;
  }
}

TEST(RunJsonOfSeveral, HoldsEachAsIfAlone) {
  std::map<std::string, Json> alone;
  std::vector<std::string> forwards, backwards;
  for (const auto& name : kShippedScenarios) {
    alone[name] = run_json({scenario_file(name)});
    forwards.push_back(scenario_file(name));
    backwards.insert(backwards.begin(), scenario_file(name));
  }
  for (const auto& files : {forwards, backwards}) {
    const Json all = run_json(files);
    ASSERT_EQ(all.size(), kShippedScenarios.size());
    std::set<std::string> seen;
    for (const Json& run : all) {
      const std::string name = run.at("scenario");
      ASSERT_TRUE(alone.contains(name) && seen.insert(name).second) << name;
      expect_same_but_for_rounding(run, alone[name], name);
    }
  }
}

// On a ring of n GPUs an all-reduce sends 2 (n - 1) / n of the buffer over each edge; of the four edges of
// a ring over two sites with two GPUs each, one leads there and one back. The buffer is the gradients, two
// bytes for each parameter of models/gpt2m.yaml (354 823 168): 2 * 3 / 4 * 709 646 336 B = 1 064 469 504 B.
TEST_P(RunJson, CountsTheBytesOfDataParallelismOnBothDirectionsOfTheWan) {
  if (GetParam() == "tacc-tacc") GTEST_SKIP() << "one site";
  const std::string from = GetParam().substr(0, GetParam().find('-'));
  const std::string to = GetParam().substr(GetParam().find('-') + 1);
  const Json run =
      run_json({scenario_file(GetParam()), "--technique", "Data", "--set", "models=[gpt2m]", "--set", "groups=all"});
  ASSERT_EQ(run.at("predictions").size(), 1);
  std::map<std::string, std::int64_t> bytes;
  for (const auto& link : run.at("predictions")[0].at("links")) {
    const std::string name = link.at("link");
    if (name.starts_with("wan:")) bytes[name] = link.at("bytes");
  }
  const std::map<std::string, std::int64_t> expected = {{"wan:" + from + "->" + to, 1'064'469'504},
                                                        {"wan:" + to + "->" + from, 1'064'469'504}};
  EXPECT_EQ(bytes, expected);
}

INSTANTIATE_TEST_SUITE_P(All, RunJson, testing::ValuesIn(kShippedScenarios),
                         [](const auto& one) { return word_name(one.param); });

}  // namespace
}  // namespace slmsim::json_test

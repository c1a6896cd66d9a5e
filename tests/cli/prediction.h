// Output of `slmsim run --format json`, for tests that check its numbers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace slmsim {

using Json = nlohmann::ordered_json;

inline const std::vector<std::string> kShippedScenarios = {"bris-star", "gat-amst", "tacc-tacc", "utah-gpn",
                                                           "utah-mass"};

inline std::string scenario_file(const std::string& name) { return "scenarios/" + name + ".yaml"; }

// The run's JSON, or null and a failure where the program did not end well.
inline Json run_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "run");
  arguments.insert(arguments.end(), {"--format", "json"});
  const RunOutcome run = slmsim_run(arguments);
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  Json json = Json::parse(run.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded());
  return json.is_discarded() ? Json() : json;
}

}  // namespace slmsim

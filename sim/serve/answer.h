// Answers to questions about a scenario: functions of the question alone, without sockets, written files or processes, so that
// tests and fuzzers can call them. The server runs them in helper processes (helper.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/predict/result.h"
#include "sim/scenario/scenario.h"
#include "sim/serve/message.h"

namespace slmsim::web {

// The folder of the scenarios: their paths start from it and stay within `reach`.
struct Workplace {
  std::filesystem::path folder;
  Reach reach;
  std::size_t jobs = 1;  // processes for a search
};

// A body such as {"scenario": "platform: ...", "name": "mine.yaml", "set": ["training.batch=8"], ...}.
struct Question {  // NOLINT(bugprone-exception-escape): a Json is moved, which throws nothing
  ScenarioText text;
  Overrides set;
  Json body;
};
// Throws InputError where the body is invalid.
Question read_question(const std::string& body, const Workplace& workplace);

// Progress of long work: a sentence, and the finished share, negative where unknown.
using Progress = std::function<void(const std::string& text, double share)>;

// Cache kept between answers: it saves time and never changes a result.
struct Memory {
  PredictionMemo memo;
  std::size_t used = 0;
  std::string key;  // key of `result`
  std::optional<RunResult> result;
};

// The question's scenario with predictions as in `slmsim report`; the last one is kept.
const RunResult& predicted(const Question& question, Memory& memory);

// Questions answered at once; and jobs, which report progress and can be cancelled: those that follow an edit once the user
// pauses, and those that the user starts.
enum class Pace { kQuick, kFollowing, kLong };

// A row of the table of questions: POST /api/NAME.
struct Verb {
  const char* name;
  Pace pace;
  Json (*answer)(const Question&, const Workplace&, Memory&, const Progress&);
};
const std::vector<Verb>& verbs();
const Verb* find_verb(const std::string& name);

// Always returns a response: 200 with the answer, 422 with all errors of the scenario, {"errors": [...], "tree": ...}, or 500.
Response answer(const std::string& verb, const std::string& body, const Workplace& workplace, Memory& memory,
                const Progress& progress = {});

}  // namespace slmsim::web

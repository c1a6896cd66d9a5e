// What is asked of a scenario, answered: a function of the question alone, without sockets, files written or processes, so that
// tests and fuzzers reach it. The server has it answered by helper processes (helper.h).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/run/run.h"
#include "sim/scenario/scenario.h"
#include "sim/serve/message.h"

namespace slmsim::web {

// Where scenarios are answered: their paths count from this folder and lead no farther than `reach`.
struct Workplace {
  std::filesystem::path folder;
  Reach reach;
  std::size_t jobs = 1;  // processes that a search may take
};

// A body such as {"scenario": "platform: ...", "name": "mine.yaml", "set": ["training.batch=8"], ...}.
struct Question {  // NOLINT(bugprone-exception-escape): a Json is moved, which throws nothing
  ScenarioText text;
  Overrides set;
  Json body;
};
// Throws InputError where it is none.
Question read_question(const std::string& body, const Workplace& workplace);

// How far long work is: a sentence, and the share that is done where that is known, else negative.
using Progress = std::function<void(const std::string& text, double share)>;

// What answers keep from one to the next: only time, never another result.
struct Memory {
  PredictionMemo memo;
  std::size_t used = 0;
  std::string key;  // of `result`
  std::optional<RunResult> result;
};

// The question's scenario, predicted as `slmsim report` predicts it; the last one is kept.
const RunResult& predicted(const Question& question, Memory& memory);

// What is answered at once; and jobs, with progress and an end that can be forced: of what follows the hand once it rests, and of
// what somebody started.
enum class Pace { kQuick, kFollowing, kLong };

// A row of the table of questions: POST /api/NAME.
struct Verb {
  const char* name;
  Pace pace;
  Json (*answer)(const Question&, const Workplace&, Memory&, const Progress&);
};
const std::vector<Verb>& verbs();
const Verb* find_verb(const std::string& name);

// Always a response: 200 with the answer, 422 with all that is wrong with the scenario, {"errors": [...], "tree": ...}, or 500.
Response answer(const std::string& verb, const std::string& body, const Workplace& workplace, Memory& memory,
                const Progress& progress = {});

}  // namespace slmsim::web

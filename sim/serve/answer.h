// Answers to questions about a scenario: functions of the question alone, without sockets, written files or processes, so that
// tests and fuzzers can call them. The server runs them in helper processes (helper.h).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/explain/explain.h"
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
  std::string key;  // key of `result`
  std::optional<RunResult> result;
};

// The question's scenario with predictions as in `slmsim report`; the last one is kept.
const RunResult& predicted(const Question& question, Memory& memory);
// Loads its scenario with further overrides. The question must outlive it.
Reload reload_of(const Question& question);

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

// A scenario's text as a tree with positions, from which the page draws it and edits it in place.

// {"text", "message", "file", "line", "column", "own"}: `message` as the program prints it, columns in characters, `own`
// whether it is in the question's own text, which is `file`.
Json error_json(const Error& error, const std::filesystem::path& file);

// Nodes are {"k": "map", "l": line, "c": column, "e": [[key, line, column, node], ...]}, {"k": "list", ..., "i": [node, ...]},
// {"k": "text", ..., "v": value} and {"k": "null", ...}.
Json tree_json(const Node& node);

// "tree": the question's text, if it is valid YAML. "whole": if it builds on other files, the scenario in one piece, without
// positions; absent where it does not, or where files are missing.
void add_trees(const Question& question, Json& out);

// The questions, one function each, of the table verbs(). Each throws InputError where the scenario is invalid.

// The output of `slmsim run --format json`.
Json answer_run(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// The parts of the page that are shown at once:
//   {"scenario": NAME, "tree": ..., "whole": ..., "assumed": [...], "models": [{"name", "verdict", "tiles", "workload", "pick",
//    "cells", "sections": [{"name", "title", "html"}]}]}: "tiles" is HTML
// For `tree` and `whole` see add_trees; `cells` begin as the predictions of `run`.
Json answer_view(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// Slower parts: {"sections": [...]} of model number "model", for the pick's iteration and over the round-trip time.
Json answer_timeline(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);
Json answer_curve(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// Intervals as in `slmsim run --intervals`, and the first facts (sim/search/verdict.h): {"models": [{"name", "sure", "tiles",
// "probability", "fits", "sections"}]}: the verdict's certainty in words, the pick's probabilities of being right and of
// fitting, null where there is no pick, and the tiles and sections of answer_view that change with them.
Json answer_intervals(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// The output of `slmsim explain --format json`.
Json answer_explain(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// The output of `slmsim plan --format json`; "effort" and "seconds" are its --effort and --time-limit.
Json answer_plan(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// One key at several values, {"key": K, "from": A, "to": B, "points": N, "log": true}: {"csv": ..., "jsonl": ..., "sections":
// [...]}, the first two as `slmsim sweep` writes them.
Json answer_sweep(const Question& question, const Workplace& workplace, Memory& memory, const Progress& progress);

// Choices for the user: names that a scenario may contain, with descriptions.

// {"models": [{"name", "parameters"}], "gpus": [{"name", "title", "memory_bytes"}], "vms": [{"name", "about"}], "techniques":
// as `slmsim list techniques --format json`, "scenarios": [NAME]}, from the folders above `folder` and the program's own data.
// Invalid files are left out.
Json catalog_of(const std::filesystem::path& folder);

}  // namespace slmsim::web

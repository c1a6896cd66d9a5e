#include "sim/serve/answer.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/crew/crew.h"

namespace slmsim::web {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOverrides = 100;

std::string text_at(const Json& body, const char* key, const std::string& otherwise) {
  const auto at = body.find(key);
  if (at == body.end()) return otherwise;
  if (!at->is_string()) throw InputError({}, fmt::format("\"{}\" is not a string", key));
  return at->get<std::string>();
}

// The name as a path below the folder: relative paths in the scenario start from its own folder.
fs::path checked_name(const std::string& name) {
  fs::path path(name);
  const bool up = std::ranges::any_of(path, [](const fs::path& part) { return part == ".."; });
  if (name.empty() || name.size() > 400 || path.is_absolute() || up || printable(name) != name)
    throw InputError({}, "\"name\" is not a path below the folder");
  return path;
}

Response wrong(const std::vector<Error>& errors, const Question* question) {
  Json out = {{"errors", Json::array()}};
  for (const auto& one : errors) out["errors"].push_back(error_json(one, question ? question->text.file : fs::path()));
  if (question) add_trees(*question, out);
  return {.status = 422, .body = dumped(out)};
}

}  // namespace

const std::vector<Verb>& verbs() {
  using enum Pace;
  static const std::vector<Verb> kVerbs = {{"run", kQuick, answer_run},
                                           {"view", kQuick, answer_view},
                                           {"timeline", kFollowing, answer_timeline},
                                           {"curve", kFollowing, answer_curve},
                                           {"intervals", kFollowing, answer_intervals},
                                           {"explain", kLong, answer_explain},
                                           {"plan", kLong, answer_plan},
                                           {"sweep", kLong, answer_sweep}};
  return kVerbs;
}

const Verb* find_verb(const std::string& name) {
  const auto& all = verbs();
  const auto at = std::ranges::find_if(all, [&](const Verb& verb) { return verb.name == name; });
  return at == all.end() ? nullptr : &*at;
}

Question read_question(const std::string& body, const Workplace& workplace) {
  Question out;
  out.body = Json::parse(body, nullptr, false);
  if (!out.body.is_object()) throw InputError({}, "a JSON object is expected: {\"scenario\": \"platform: ...\"}");
  out.text.text = text_at(out.body, "scenario", "");
  out.text.file = workplace.folder / checked_name(text_at(out.body, "name", "scenario.yaml"));
  out.text.reach = workplace.reach;
  if (out.text.text.size() > kMaxFileBytes)
    throw InputError(
        {}, fmt::format("the scenario has {} bytes; at most {} are read", out.text.text.size(), kMaxFileBytes));
  if (const auto set = out.body.find("set"); set != out.body.end()) {
    if (!set->is_array() || set->size() > kMostOverrides) throw InputError({}, "\"set\" is not a list of KEY=VALUE");
    for (const auto& one : *set) {
      if (!one.is_string()) throw InputError({}, "\"set\" is not a list of KEY=VALUE");
      out.set.push_back(one.get<std::string>());
    }
  }
  return out;
}

Reload reload_of(const Question& question) {
  return [&question](const Overrides& more) -> std::optional<Scenario> {
    Overrides all = question.set;
    all.insert(all.end(), more.begin(), more.end());
    try {
      return load_scenario(question.text, all);
    } catch (const InputError&) {
      return std::nullopt;
    }
  };
}

const RunResult& predicted(const Question& question, Memory& memory) {
  const std::string key =
      fmt::format("{}\n{}\n{}", question.text.file.string(), fmt::join(question.set, "\n"), question.text.text);
  if (memory.result && memory.key == key) return *memory.result;
  memory.result.reset();
  Scenario scenario = load_scenario(question.text, question.set);
  PredictOptions options;
  options.links = measures_links(scenario, false, false);
  options.threads = available_cores();
  memory.result = run_scenario(std::move(scenario), options);
  memory.key = key;
  return *memory.result;
}

Response answer(const std::string& verb, const std::string& body, const Workplace& workplace, Memory& memory,
                const Progress& progress) {
  std::optional<Question> question;
  try {
    const Verb* found = find_verb(verb);
    if (!found) return refusal(404, "there is no such request");
    question = read_question(body, workplace);
    return {.body = dumped(found->answer(
                *question, workplace, memory, progress ? progress : [](auto&&...) {}))};
  } catch (const InputError& error) {
    return wrong(error.errors(), question ? &*question : nullptr);
  } catch (const std::exception& error) {
    memory = {};
    return refusal(500, fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace slmsim::web

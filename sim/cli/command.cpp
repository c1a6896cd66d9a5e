#include "sim/cli/command.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"
#include "sim/base/work.h"

namespace slmsim {

int usage_error(const std::string& text) {
  fmt::print(stderr, "slmsim: error: {}\n", printable(text));
  return kBadInput;
}

int stopped_too_early() { return usage_error("stopped before anything was found to fit; give a longer --time-limit"); }

std::string plain_words(const std::string& text) {
  static const std::pair<std::regex, const char*> kForms[] = {
      {std::regex("Could not convert: (\\S+) = (.*)"), "$1: \"$2\" is not a number"},
      {std::regex("(\\S+): [0-9]+ required .* missing"), "$1 needs a value"},
      {std::regex("(\\S+): At Most 1 required but received ([0-9]+)"), "$1 is given $2 times; give it once"}};
  for (const auto& [form, words] : kForms) {
    if (std::regex_match(text, form)) return std::regex_replace(text, form, words);
  }
  return text;
}

namespace {

// In few digits, but all of a whole number's.
std::string short_text(double number) {
  const std::string text = fmt::format("{:g}", number);
  return parse_number(text) == number ? text : fmt::format("{:.12g}", number);
}

}  // namespace

CLI::Validator number_within(double low, double high) {
  const auto check = [low, high](const std::string& word) -> std::string {
    const auto number = parse_number(word);
    if (number && *number >= low && *number <= high) return "";
    return fmt::format("\"{}\" is {}; expected one from {} to {}", printable(word).substr(0, 64),
                       number ? "out of range" : "not a number", short_text(low), short_text(high));
  };
  return CLI::Validator(check, fmt::format("in [{} - {}]", short_text(low), short_text(high)));
}

namespace {

// Ends the message on a word of which only one is taken.
std::string meant_by(const std::string& word, const std::vector<std::string>& known) {
  return word.find(',') == std::string::npos ? did_you_mean(word, known) : "name one";
}

}  // namespace

CLI::Option* choose_from(CLI::Option* option, const std::vector<std::string>& words, const std::string& refusal) {
  const std::string refused = refusal.empty() ? option->get_name() + " \"{}\" is unknown" : refusal;
  const auto check = [words, refused](const std::string& word) -> std::string {
    if (std::ranges::find(words, word) != words.end()) return "";
    throw InputError(
        {}, fmt::format("{}; {}", fmt::format(fmt::runtime(refused), word.substr(0, 64)), meant_by(word, words)));
  };
  return option->check(CLI::Validator(check, ""))->type_name(fmt::format("{{{}}}", fmt::join(words, ",")));
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (!type.starts_with('{') || !type.ends_with('}')) return {};
  return CLI::detail::split(type.substr(1, type.size() - 2), ',');
}

void add_format_option(CLI::App& verb, std::string& format, const std::vector<std::string>& words,
                       const std::string& about) {
  choose_from(verb.add_option("--format,-f", format, about), words)->capture_default_str();
  verb.parse_complete_callback([&verb, &format, words] {
    const CLI::Option* output = verb.get_option_no_throw("--output");
    if (output == nullptr || output->count() == 0) return;
    const std::string file = output->as<std::string>();
    for (const auto& [ending, word] : {std::pair{".json", "json"},
                                       {".csv", "csv"},
                                       {".md", "markdown"},
                                       {".html", "a page"},
                                       {".yaml", "yaml"},
                                       {".yml", "yaml"},
                                       {".png", "an image"},
                                       {".svg", "an image"},
                                       {".pdf", "an image"}}) {
      if (!file.ends_with(ending)) continue;
      if (std::ranges::find(words, word) == words.end())
        throw InputError({}, fmt::format("--output {}: slmsim {} writes {}{}", file, verb.get_name(),
                                         fmt::join(words, words.size() == 2 ? " or " : ", "),
                                         word == std::string_view("a page") ? "; slmsim report writes a page" : ""));
      if (verb.count("--format") > 0 && format != word)
        throw InputError({}, fmt::format("--format {} contradicts --output {}; leave out one of them", format, file));
      format = word;
    }
  });
}

CLI::Option* add_output_option(CLI::App& verb, std::string& output, const std::string& about) {
  return verb.add_option("--output,-o", output, about);
}

void add_time_limit(CLI::App& verb, double& limit) {
  verb.add_option("--time-limit", limit,
                  "seconds after which it stops with the results so far, which then depend on the machine")
      ->check(number_within(0.001, 1e7));
}

CLI::Option* add_words(CLI::App& verb, const char* name, std::vector<std::string>& words, const std::string& about) {
  return verb.add_option(name, words, about)->take_all()->allow_extra_args(false);
}

CLI::Option* add_seed(CLI::App& verb, std::uint64_t& seed, const std::string& of) {
  return verb.add_option("--seed", seed, of)->check(number_within(0, 1e18))->capture_default_str();
}

void add_sequence_option(CLI::App& verb, std::int64_t& sequence) {
  verb.add_option("--sequence", sequence, "tokens of a sequence; default the model's, 2048 where longer")
      ->check(number_within(1, 1 << 22));
}

int exit_status_of(const std::function<int()>& program) {
  try {
    const int status = program();
    // Buffered output may not have reached a full disk or a closed pipe.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    throw InputError({}, "standard output cannot be written");
  } catch (const InputError& error) {
    for (const auto& one : error.errors()) fmt::print(stderr, "{}\n", to_string(one));
    return kBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "slmsim: error: out of memory; reduce micro-batches, GPUs, layers or the batch\n");
    return kBadInput;
  } catch (const std::exception& error) {
    fmt::print(stderr, "slmsim: internal error: {}\n", error.what());
    return kInternal;
  }
}

void add_interval_options(CLI::App& verb, IntervalRequest& options) {
  verb.add_option("--fitted", options.fitted, "use the values of this fit (slmsim fit) and report intervals");
  verb.add_flag("--intervals", options.intervals,
                "report an interval for each prediction, from the scenario's unknowns");
  verb.add_option("--level", options.level, "probability that an interval contains the measured value")
      ->capture_default_str()
      ->check(number_within(kLevelRange));
  add_seed(verb, options.seed, "seed of the points that intervals are computed from");
}

Intervals intervals_of(const IntervalRequest& request, const ScenarioOptions& options) {
  const IntervalRequest usual;
  if (!request.asked() && request.level != usual.level)
    throw InputError({}, "--level needs --intervals or --fitted FILE");
  if (!request.asked() && request.seed != usual.seed) throw InputError({}, "--seed needs --intervals");
  if (!request.fitted.empty() && request.seed != usual.seed)
    throw InputError({}, "--seed has no effect with --fitted FILE, which holds its points");
  if (!request.fitted.empty() && options.scenarios.size() != 1)
    throw InputError({}, "--fitted FILE is for one scenario; give only that one");
  Intervals out(request, options.scenarios.front(), options.overrides);
  if (out.is_stale())
    fmt::print(stderr, "slmsim: {} was fitted before the files of {} changed; fit again if the change matters\n",
               request.fitted, options.scenarios.front());
  return out;
}

Shard parse_shard(const std::string& text) {
  if (text.empty()) return {};
  const auto slash = std::min(text.find('/'), text.size());
  const auto index = parse_number(text.substr(0, slash));
  const auto count = slash < text.size() ? parse_number(text.substr(slash + 1)) : std::nullopt;
  const auto is_count = [](std::optional<double> n) { return n && *n >= 1 && *n <= 1e6 && *n == std::floor(*n); };
  if (!is_count(index) || !is_count(count) || *index > *count)
    throw InputError({},
                     fmt::format("--shard \"{}\": i/n with i from 1 to n is expected, e.g. 2/8", text.substr(0, 64)));
  return {static_cast<std::uint64_t>(*index), static_cast<std::uint64_t>(*count)};
}

namespace {

volatile std::sig_atomic_t signal_that_came = 0;

}  // namespace

std::function<bool()> stop_at(double seconds) {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int came) {
      signal_that_came = came;
      std::signal(came, SIG_DFL);
    });
  }
  return [deadline = Deadline::of_limit(seconds)] { return signal_that_came != 0 || deadline.is_over(); };
}

void end_as_asked() {
  if (signal_that_came == 0) return;
  std::signal(signal_that_came, SIG_DFL);
  std::raise(signal_that_came);
}

void add_set_option(CLI::App& verb, Overrides& overrides) {
  add_words(verb, "--set", overrides,
            "override a value by its path, e.g. platform.links.wan.rtt=57.4ms; may be repeated");
}

void add_scenario_options(CLI::App& verb, ScenarioOptions& options) {
  verb.add_option("SCENARIO", options.scenarios, "scenario files, or names as slmsim list scenarios prints them")
      ->required()
      ->transform(scenario_file);
  add_output_option(verb, options.output);
  add_set_option(verb, options.overrides);
}

std::size_t index_of(const std::string& option, const std::string& word, const std::vector<std::string>& known) {
  const auto at = std::ranges::find(known, word);
  if (at == known.end())
    throw InputError({}, fmt::format("{} \"{}\" is unknown; {}", option, word.substr(0, 64), meant_by(word, known)));
  return static_cast<std::size_t>(at - known.begin());
}

void read_each(const std::vector<std::string>& words, const std::function<void(const std::string& word)>& read) {
  std::vector<Error> errors;
  for (const auto& word : words) {
    try {
      read(word);
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.errors().begin(), error.errors().end());
    }
  }
  if (!errors.empty()) throw InputError(std::move(errors));
}

std::vector<Scenario> load_all(const ScenarioOptions& options) {
  refuse_twice_overridden(options.overrides);
  std::vector<Scenario> scenarios;
  read_each(options.scenarios,
            [&](const std::string& file) { scenarios.push_back(load_scenario(file, options.overrides)); });
  // From here on no input can be invalid.
  std::size_t links = 0;
  for (const auto& scenario : scenarios) links = std::max(links, Network(scenario.platform).links().size());
  reserve_network(links);
  return scenarios;
}

void add_model_filter(CLI::App& verb, Filter& filter) {
  add_words(verb, "--model,-m", filter.models, "only these models of the scenario's, with commas")->delimiter(',');
}

void add_filter_options(CLI::App& verb, Filter& filter) {
  add_model_filter(verb, filter);
  add_words(verb, "--group,-g", filter.groups,
            "only these groups of the scenario's, with commas, such as gat+amst or all")
      ->delimiter(',');
  add_words(verb, "--technique,-t", filter.techniques,
            "only these techniques of the scenario's, with commas (slmsim list techniques)")
      ->delimiter(',');
}

std::vector<Scenario> load_filtered(const ScenarioOptions& options, const Filter& filter,
                                    std::vector<std::string>* files) {
  for (const auto& word : filter.techniques) index_of("--technique", word, technique_names());
  std::vector<Scenario> out;
  std::vector<std::string> lacks;
  std::size_t number = 0;
  for (auto& scenario : load_all(options)) {
    const std::string& file = options.scenarios[number++];
    std::string lack = narrow(scenario, filter);
    if (!lack.empty()) {
      lacks.push_back(std::move(lack));
      continue;
    }
    if (files) files->push_back(file);
    out.push_back(std::move(scenario));
  }
  if (out.empty()) throw InputError({}, fmt::format("{}", fmt::join(lacks, "; ")));
  for (const auto& lack : lacks) fmt::print(stderr, "slmsim: left out: {}\n", lack);
  return out;
}

}  // namespace slmsim

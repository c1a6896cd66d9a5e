#include "sim/cli/command.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/error.h"
#include "sim/base/quantity.h"
#include "sim/base/text.h"

namespace slmsim {

int usage_error(const std::string& text) {
  fmt::print(stderr, "slmsim: error: {}\n", printable(text));
  return kBadInput;
}

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

CLI::Validator number_within(double low, double high) {
  const auto check = [low, high](const std::string& word) -> std::string {
    const auto number = parse_number(word);
    if (number && *number >= low && *number <= high) return "";
    return fmt::format("\"{}\" is {}; expected one from {:g} to {:g}", printable(word).substr(0, 64),
                       number ? "out of range" : "not a number", low, high);
  };
  return CLI::Validator(check, fmt::format("in [{:g} - {:g}]", low, high));
}

CLI::Option* choose_from(CLI::Option* option, const std::vector<std::string>& words, const std::string& refusal) {
  const std::string refused = refusal.empty() ? option->get_name() + " \"{}\" is unknown" : refusal;
  const auto check = [words, refused](const std::string& word) -> std::string {
    if (std::ranges::find(words, word) != words.end()) return "";
    throw InputError(
        {}, fmt::format("{}; {}", fmt::format(fmt::runtime(refused), word.substr(0, 64)), did_you_mean(word, words)));
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

CLI::Option* add_seed(CLI::App& verb, std::uint64_t& seed, const std::string& of) {
  return verb.add_option("--seed", seed, of)->check(number_within(0, 1e18))->capture_default_str();
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

}  // namespace slmsim

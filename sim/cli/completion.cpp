// slmsim completion: completions for shells and the man page, from the same tables as --help.
#include <algorithm>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cli/command.h"
#include "sim/cli/output.h"
#include "sim/cli/scenarios.h"

namespace slmsim {
namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Long and short names with their dashes; none of what is given by its place.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() != 0; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Which of `slmsim list` tells an option's words, by its name; empty where files or anything may stand.
std::string list_of(const std::string& option) {
  static const std::pair<const char*, const char*> kLists[] = {
      {"--technique", "techniques"}, {"-t", "techniques"}, {"--model", "models"}, {"-m", "models"}, {"--gpu", "gpus"}};
  const auto* at =
      std::find_if(std::begin(kLists), std::end(kLists), [&](const auto& one) { return option == one.first; });
  return at == std::end(kLists) ? "" : at->second;
}

// Whether a verb is given scenarios, whose names may stand for files.
bool takes_scenarios(const CLI::App& verb) {
  const auto options = verb.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* option) { return option->get_name(true).starts_with("SCENARIO"); });
}

std::string to_bash(const CLI::App& app) {
  std::vector<std::string> verbs;
  std::string cases, lists;
  for (const CLI::App* verb : verbs_of(app)) {
    verbs.push_back(verb->get_name());
    std::vector<std::string> options;
    for (const CLI::Option* option : verb->get_options()) {
      for (const auto& name : names_of(*option)) {
        options.push_back(name);
        if (const std::string list = list_of(name);
            !list.empty() && lists.find("    " + name + ")") == std::string::npos)
          lists += fmt::format(
              "    {}) COMPREPLY=($(compgen -W \"$(slmsim list {} 2>/dev/null | cut -d ' ' -f 1)\" -- "
              "\"$cur\")); return ;;\n",
              name, list);
      }
    }
    cases += fmt::format("    {}) words=\"{}\"{} ;;\n", verb->get_name(), fmt::join(options, " "),
                         takes_scenarios(*verb) ? "; names=scenarios" : "");
  }
  return fmt::format(R"sh(# Completions of slmsim for bash, by `slmsim completion bash`.
_slmsim() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words= names=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$cur"))
    return
  fi
  case $prev in
{}  esac
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  [[ -z $names ]] || COMPREPLY=($(compgen -W "$(slmsim list $names 2>/dev/null | cut -d ' ' -f 1)" -- "$cur"))
  COMPREPLY+=($(compgen -f -- "$cur"))
}}
complete -o filenames -F _slmsim slmsim
)sh",
                     fmt::join(verbs, " "), lists, cases);
}

// Within single quotes of zsh's _arguments or of fish.
std::string quoted(const std::string& text, const std::string& escaped) {
  std::string out;
  for (const char c : first_line(text)) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (escaped.find(c) != std::string::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string to_zsh(const CLI::App& app) {
  std::string verbs, cases;
  for (const CLI::App* verb : verbs_of(app)) {
    verbs += fmt::format("    '{}:{}'\n", verb->get_name(), quoted(verb->get_description(), ":"));
    std::string arguments;
    for (const CLI::Option* option : verb->get_options()) {
      for (const auto& name : names_of(*option)) {
        const std::string list = list_of(name);
        const std::string action = !takes_value(*option) ? ""
                                   : !list.empty()
                                       ? fmt::format(":{0}:($(slmsim list {0} 2>/dev/null | cut -d \" \" -f 1))", list)
                                       : ":value:_files";
        arguments += fmt::format("        '*{}[{}]{}' \\\n", name, quoted(option->get_description(), "[]:"), action);
      }
    }
    const char* rest = takes_scenarios(*verb)
                           ? "_alternative \"names:scenario:($(slmsim list scenarios 2>/dev/null | cut "
                             "-d \\\" \\\" -f 1))\" \"files:file:_files\""
                           : "_files";
    cases += fmt::format("      {})\n      _arguments \\\n{}        '*:file:{}'\n      ;;\n", verb->get_name(),
                         arguments, rest);
  }
  return fmt::format(R"sh(#compdef slmsim
# Completions of slmsim for zsh, by `slmsim completion zsh`.
_slmsim() {{
  local -a verbs
  verbs=(
{}  )
  if ((CURRENT == 2)); then
    _describe command verbs
    return
  fi
  local verb=$words[2]
  shift words
  ((CURRENT--))
  case $verb in
{}  esac
}}
_slmsim "$@"
)sh",
                     verbs, cases);
}

std::string to_fish(const CLI::App& app) {
  std::string out = "# Completions of slmsim for fish, by `slmsim completion fish`.\n";
  for (const CLI::App* verb : verbs_of(app)) {
    out += fmt::format("complete -c slmsim -n __fish_use_subcommand -a {} -d '{}'\n", verb->get_name(),
                       quoted(verb->get_description(), ""));
  }
  for (const CLI::App* verb : verbs_of(app)) {
    const std::string when = fmt::format("complete -c slmsim -n '__fish_seen_subcommand_from {}'", verb->get_name());
    if (takes_scenarios(*verb)) out += when + " -a '(slmsim list scenarios 2>/dev/null | string split -f 1 \" \")'\n";
    for (const CLI::Option* option : verb->get_options()) {
      std::string names, list;
      for (const auto& name : option->get_lnames()) {
        names += " -l " + name;
        list = list_of("--" + name);
      }
      for (const auto& name : option->get_snames()) names += " -s " + name;
      if (names.empty()) continue;
      const std::string value = !takes_value(*option) ? ""
                                : list.empty()
                                    ? " -r"
                                    : fmt::format(" -x -a '(slmsim list {} | string split -f 1 \" \")'", list);
      out += fmt::format("{}{}{} -d '{}'\n", when, names, value, quoted(option->get_description(), ""));
    }
  }
  return out;
}

// Of roff: what begins a request, and its escapes.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += fmt::format("\\&{}", c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string to_man(const CLI::App& app) {
  std::string out =
      fmt::format(".TH SLMSIM 1 \"\" \"slmsim {}\" \"User Commands\"\n.SH NAME\nslmsim \\- {}\n", SLMSIM_VERSION,
                  roff("predicts which pretraining technique to use on few, mixed, distant GPUs"));
  out += ".SH SYNOPSIS\n.B slmsim\n.I COMMAND\n[\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n" +
         roff(app.get_description()) +
         ".\nIt turns each technique into the computations and transfers of one training iteration, simulates them on "
         "a model "
         "of the cluster and ranks the techniques.\n.SH COMMANDS\n";
  for (const CLI::App* verb : verbs_of(app)) {
    out += fmt::format(".SS \"slmsim {}\"\n{}.\n", verb->get_name(), roff(verb->get_description()));
    for (const CLI::Option* option : verb->get_options()) {
      const auto names = names_of(*option);
      const std::string name = names.empty() ? option->get_name(true) : fmt::format("{}", fmt::join(names, ", "));
      out +=
          fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name),
                      !names.empty() && takes_value(*option) ? " \\fIVALUE\\fR" : "", roff(option->get_description()));
    }
    if (const std::string footer = verb->get_footer(); !footer.empty())
      out += ".PP\n.nf\n" + roff(footer.substr(footer.find_first_not_of('\n'))) + "\n.fi\n";
  }
  return out + R"(.SH EXIT STATUS
0 done, 1 nothing fits, 2 bad input or usage, 3 internal error.
.SH FILES
Scenarios, platforms, models and software stacks that names stand for are looked up in the folders above a file that hold
.I platforms/
or
.IR models/ ,
then among those installed with the program.
)";
}

int completion(const CLI::App& app, const std::string& what, const std::string& output) {
  static const std::pair<const char*, std::string (*)(const CLI::App&)> kKinds[] = {
      {"bash", to_bash}, {"zsh", to_zsh}, {"fish", to_fish}, {"man", to_man}};
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.first);
  write_result(kKinds[index_of("completion", what, names)].second(app), output);
  return kDone;
}

}  // namespace

Command add_completion(CLI::App& app) {
  auto* verb = app.add_subcommand("completion", "print completions for a shell, or the man page");
  auto what = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  verb->add_option("WHAT", *what, "bash, zsh, fish or man")->required();
  verb->add_option("--output,-o", *output, "write to this file instead of standard output");
  verb->footer(R"(
Examples:
  slmsim completion bash --output slmsim.bash
  slmsim completion man --output slmsim.1)");
  return {verb, [&app, what, output] { return completion(app, *what, *output); }};
}

}  // namespace slmsim

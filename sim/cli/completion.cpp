// slmsim completion: completions for bash and the man page, from the same tables as --help.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cli/command.h"

namespace slmsim {
namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// Long and short names with their dashes; none for positional arguments.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option.get_lnames()) names.push_back("--" + name);
  for (const auto& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() != 0; }

// Shell command for the names of a kind, as `slmsim list` prints them.
std::string listed(const std::string& what) {
  return fmt::format("$(slmsim list {} 2>/dev/null | cut -d ' ' -f 1)", what);
}

// Values of an option or argument: words, or a shell command that prints them; empty where files or anything may follow.
std::string words_of(const CLI::Option& option) {
  if (const auto choices = choices_of(option); !choices.empty()) return fmt::format("{}", fmt::join(choices, " "));
  // Listed while a word is completed, since files may be added.
  static const std::pair<const char*, const char*> kListed[] = {
      {"--technique", "techniques"}, {"--model", "models"}, {"--gpu", "gpus"},
      {"SCENARIO", "scenarios"},     {"FORMAT", "formats"}, {"MODEL", "models"},
  };
  for (const auto& [name, what] : kListed) {
    if (option.get_name() == name) return listed(what);
  }
  return "";
}

// Values of positional arguments: the words of the first that has any.
std::string words_in_place(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    if (!names_of(*option).empty()) continue;
    if (std::string words = words_of(*option); !words.empty()) return words;
  }
  return "";
}

std::string to_bash(const CLI::App& app) {
  std::vector<std::string> verbs;
  std::string cases;
  for (const CLI::App* verb : verbs_of(app)) {
    verbs.push_back(verb->get_name());
    std::vector<std::string> options;
    std::string values;
    for (const CLI::Option* option : verb->get_options()) {
      const auto names = names_of(*option);
      options.insert(options.end(), names.begin(), names.end());
      const std::string words = words_of(*option);
      if (!names.empty() && !words.empty())
        values += fmt::format(" {}) values=\"{}\" ;;", fmt::join(names, "|"), words);
    }
    cases += fmt::format("    {}) words=\"{}\"; here=\"{}\"\n      case $prev in{} esac ;;\n", verb->get_name(),
                         fmt::join(options, " "), words_in_place(*verb), values);
  }
  return fmt::format(R"sh(# Completions of slmsim for bash, by `slmsim completion bash`.
_slmsim() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} words= here= values=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$cur"))
    return
  fi
  # --option=value is three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$cur"))
    return
  fi
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  [[ -z $here ]] || COMPREPLY=($(compgen -W "$here" -- "$cur"))
  COMPREPLY+=($(compgen -f -- "$cur"))
}}
complete -o filenames -F _slmsim slmsim
)sh",
                     fmt::join(verbs, " "), cases);
}

// Escapes roff's requests and escape characters.
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
      const auto choices = choices_of(*option);
      std::string value;
      if (!choices.empty()) {
        value = fmt::format(" \\fI{}\\fR", roff(option->get_type_name()));
      } else if (!names.empty() && takes_value(*option)) {
        value = " \\fIVALUE\\fR";
      }
      out += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name), value, roff(option->get_description()));
    }
    if (const std::string footer = verb->get_footer(); !footer.empty())
      out += ".PP\n.nf\n" + roff(footer.substr(footer.find_first_not_of('\n'))) + "\n.fi\n";
  }
  return out + R"(.SH EXIT STATUS
0 done, 1 nothing fits, 2 bad input or usage, 3 internal error.
.SH FILES
Names of scenarios, platforms, models and software stacks are looked up in the folders above a file that contain
.I platforms/
or
.IR models/ ,
then in the installed data.
)";
}

constexpr std::pair<const char*, std::string (*)(const CLI::App&)> kKinds[] = {{"bash", to_bash}, {"man", to_man}};

int completion(const CLI::App& app, const std::string& what, const std::string& output) {
  const auto* kind = std::ranges::find_if(kKinds, [&](const auto& k) { return k.first == what; });
  write_result(kind->second(app), output);
  return kDone;
}

}  // namespace

Command add_completion(CLI::App& app) {
  auto* verb = app.add_subcommand("completion", "print completions for bash, or the man page");
  auto what = std::make_shared<std::string>(), output = std::make_shared<std::string>();
  std::vector<std::string> kinds;
  for (const auto& kind : kKinds) kinds.emplace_back(kind.first);
  choose_from(verb->add_option("WHAT", *what, "bash, or man"), kinds, "completion \"{}\" is unknown")->required();
  add_output_option(*verb, *output);
  verb->footer(R"(
Examples:
  slmsim completion bash --output slmsim.bash
  slmsim completion man --output slmsim.1)");
  return {verb, [&app, what, output] { return completion(app, *what, *output); }};
}

}  // namespace slmsim

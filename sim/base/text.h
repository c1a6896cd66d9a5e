// Text: its quoting for files and command lines, and known names for a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slmsim {

std::string lower_case(std::string text);

// In double quotes, as YAML reads it; control characters become spaces, as by printable().
std::string yaml_quoted(const std::string& text);

// As one word of a shell's command line: in single quotes where it holds more than plain characters.
std::string shell_word(const std::string& text);

// The candidate that the word misspells with the fewest mistakes, at most one in five letters: a letter inserted or
// dropped, a neighbouring key, neighbours swapped; case and separators are ignored. "" where there is none. Numbers and
// what follows them must agree, and short words but for swaps, doubled letters and the like: rtx3060 is no rtx3080, mpt
// no opt, gpt_neo no gpt_neox.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// Names that begin with the word, or else those that contain it, as a word or the beginning of one; case ignored. Empty
// for a word of one or two letters.
std::vector<std::string> that_contain(std::string_view word, const std::vector<std::string>& candidates);

// Ends an error's text. "did you mean \"X\"?" with the names that differ only in case and punctuation, else with the
// few that begin with the word or contain it, else with the nearest one; "known are: a, b, c" where none fits, or `page`,
// which lists them, where they are many.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names, std::string_view page = {});

// A line of the text, from 1, without its end; empty where there is none.
std::string_view line_of(std::string_view text, int line);

// The text behind UTF-8's byte order mark, if it begins with one.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace slmsim

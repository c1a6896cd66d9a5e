// What is wrong with an input, and where. Errors are collected, not thrown one by one, so that a user sees
// all of them at once; whoever reads a file throws one InputError with the whole list when it is done.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace slmsim {

// A text that was read, kept so that an error can show the line it speaks of.
struct Source {
  std::string name;  // path as the user would type it, or "--set"
  std::string text;
};

// A place in a source; line and column (in bytes) count from 1, 0 means "the whole file".
struct Place {
  std::shared_ptr<const Source> source;
  int line = 0;
  int column = 0;
};

// `text` reads "what is wrong; what would be right".
struct Error {
  Place place;
  std::string text;
};

// The column as editors count, in letters; as it is where the source has no such place.
int letter_column(const Place& place);

// "FILE:LINE:COLUMN: error: TEXT" and, below it, the source line with a caret under the column; here columns
// count letters, as editors do.
std::string to_string(const Error& error);

// The text without control characters: what a file or a word holds must not steer a terminal.
std::string printable(std::string_view text);

class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Error> errors);
  InputError(Place place, std::string text);
  const std::vector<Error>& errors() const { return errors_; }

 private:
  std::vector<Error> errors_;
};

}  // namespace slmsim

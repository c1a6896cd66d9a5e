// Errors in an input, with their places. A reader collects all errors and throws one InputError with the whole list.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slmsim {

// A text that was read, kept so that an error can show the line it refers to.
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

// The whole of a file, or of an option's words.
inline Place whole_of(std::string name) { return {std::make_shared<Source>(Source{std::move(name), ""}), 0, 0}; }

// `text` reads "the problem; the remedy".
struct Error {
  Place place;
  std::string text;
};

// The column in letters, as editors count; unchanged where the source has no such place.
int letter_column(const Place& place);

// "FILE:LINE:COLUMN: error: TEXT" and, below it, the source line with a caret under the column; here columns
// count letters, as editors do.
std::string to_string(const Error& error);

// The text with spaces for control characters, so that the contents of a file cannot steer a terminal.
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

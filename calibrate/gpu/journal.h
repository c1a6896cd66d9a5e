// Journal of finished measurements, from which an interrupted run resumes.
//
// Format: a text file; the first line states the conditions of the measurements (GPU, driver, libraries, options); each further
// line is a key, a tab, and the point's line of the profile; of equal keys the last counts. An incomplete line, as after a
// power cut, is ignored.
#pragma once

#include <cstdio>
#include <map>
#include <optional>
#include <string>

namespace slmsim::calibrate {

class Journal {
 public:
  // Resumes from the file if it was written under the same `conditions`, else starts empty. Throws UsageError where the file
  // cannot be written.
  Journal(std::string file, const std::string& conditions);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  std::optional<std::string> find(const std::string& key) const;
  void add(const std::string& key, const std::string& line);  // on disk when it returns
  std::size_t taken_up() const { return taken_up_; }
  // Called once the result is written and the journal no longer needed.
  void remove();

 private:
  std::string file_;
  std::map<std::string, std::string> lines_;
  std::size_t taken_up_ = 0;
  std::FILE* out_ = nullptr;
};

}  // namespace slmsim::calibrate

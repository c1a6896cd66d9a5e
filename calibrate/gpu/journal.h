// What was measured so far, so that an interrupted run goes on where it stopped.
//
// A text file: the first line says what the measurements hold for (GPU, driver, libraries, options); each further one
// is a key, a tab, and the point's line of the profile; of equal keys the last counts. A line that is not whole, as after a power cut, does not count.
#pragma once

#include <cstdio>
#include <map>
#include <optional>
#include <string>

namespace slmsim::calibrate {

class Journal {
 public:
  // Takes up what the file holds if it was written under the same `conditions`, else begins anew. Throws UsageError
  // where the file cannot be written.
  Journal(std::string file, const std::string& conditions);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  std::optional<std::string> find(const std::string& key) const;
  void add(const std::string& key, const std::string& line);  // on disk when it returns
  std::size_t taken_up() const { return taken_up_; }
  // The result is written: the journal is no longer needed.
  void remove();

 private:
  std::string file_;
  std::map<std::string, std::string> lines_;
  std::size_t taken_up_ = 0;
  std::FILE* out_ = nullptr;
};

}  // namespace slmsim::calibrate

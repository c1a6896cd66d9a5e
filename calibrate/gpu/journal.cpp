#include "calibrate/gpu/journal.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "calibrate/common/failure.h"
#include "calibrate/common/text.h"

namespace slmsim::calibrate {

Journal::Journal(std::string file, const std::string& conditions) : file_(std::move(file)) {
  std::string kept = conditions + "\n";
  if (std::ifstream in(file_, std::ios::binary); in) {
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.starts_with(kept)) {
      for (std::size_t at = kept.size(), end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
        const std::string line = text.substr(at, end - at);
        const auto tab = line.find('\t');
        if (tab != std::string::npos) lines_[line.substr(0, tab)] = line.substr(tab + 1);
      }
    }
  }
  taken_up_ = lines_.size();
  for (const auto& [key, line] : lines_) kept.append(key).append("\t").append(line).append("\n");
  out_ = std::fopen(file_.c_str(), "wb");
  if (!out_ || std::fputs(kept.c_str(), out_) < 0 || std::fflush(out_) != 0)
    throw UsageError(with_reason("cannot write \"" + printable(file_) + "\""));
}

Journal::~Journal() {
  if (out_) std::fclose(out_);
}

std::optional<std::string> Journal::find(const std::string& key) const {
  const auto at = lines_.find(key);
  return at == lines_.end() ? std::nullopt : std::optional(at->second);
}

void Journal::add(const std::string& key, const std::string& line) {
  lines_[key] = line;
  if (std::fprintf(out_, "%s\t%s\n", key.c_str(), line.c_str()) < 0 || std::fflush(out_) != 0)
    throw UsageError(with_reason("cannot write \"" + printable(file_) + "\""));
}

void Journal::remove() {
  if (out_) std::fclose(std::exchange(out_, nullptr));
  std::remove(file_.c_str());
}

}  // namespace slmsim::calibrate

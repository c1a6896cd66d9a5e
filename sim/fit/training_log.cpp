#include "sim/fit/training_log.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "sim/base/file.h"
#include "sim/fit/error_summary.h"

namespace slmsim {
namespace {

constexpr std::size_t kMostLines = 2'000'000;

// Drops escape sequences that colour a terminal's text: ESC [ parameters, and a letter.
void drop_colours(std::string& line) {
  for (std::size_t at = 0; (at = line.find("\x1b[", at)) != std::string::npos;) {
    const std::size_t end = line.find_first_not_of("0123456789;", at + 2);
    line.erase(at, end == std::string::npos ? end : end + 1 - at);
  }
}

// The number that follows a marker in a line; "7,503" is read too.
std::optional<double> number_after(const std::string& line, const std::string& marker) {
  const auto at = line.find(marker);
  if (at == std::string::npos) return std::nullopt;
  std::string digits;
  for (std::size_t i = at + marker.size(); i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' && digits.empty()) continue;
    if (c == ',') continue;
    if (std::string("0123456789.eE+-").find(c) == std::string::npos) break;
    digits += c;
  }
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  return end == digits.c_str() || !std::isfinite(value) || value <= 0 ? std::nullopt : std::optional(value);
}

// The scope of a marker's number, where it differs from the forecast's.
enum class Per { kAll, kGpu, kSequences };

struct Marker {
  const char* program;
  const char* text;
  Measure measure;
  double unit;  // multiplies the number
  Per per;
  bool most;  // take the maximum over all steps, not the median
};

// For each program and measure, the first marker found counts.
constexpr Marker kMarkers[] = {
    {"Megatron-LM", "elapsed time per iteration (ms):", Measure::kIteration, 1e-3, Per::kAll, false},
    {"Megatron-LM", "elapsed time per iteration (s):", Measure::kIteration, 1, Per::kAll, false},
    {"Megatron-LM", "| max reserved:", Measure::kPeakMemory, kMebi, Per::kAll, true},
    {"DeepSpeed", "CurrSamplesPerSec=", Measure::kTokensPerSecond, 1, Per::kSequences, false},
    {"DeepSpeed", " SamplesPerSec=", Measure::kTokensPerSecond, 1, Per::kSequences, false},
    {"DeepSpeed", " iter time (s):", Measure::kIteration, 1, Per::kAll, false},
    {"DeepSpeed", "MaxMemAllocated=", Measure::kPeakMemory, kGibi, Per::kAll, true},
    {"torchtitan", " tps:", Measure::kTokensPerSecond, 1, Per::kGpu, false},
    {"torchtitan", " wps:", Measure::kTokensPerSecond, 1, Per::kGpu, false},
    {"torchtitan", " memory:", Measure::kPeakMemory, kGibi, Per::kAll, true},
    {"Alpa", "token/s,", Measure::kRate, kTera, Per::kAll, false},
};

LoggedFigure figure_of(const Marker& marker, std::vector<double> values, int gpus, double sequence) {
  const double unit = marker.unit * (marker.per == Per::kGpu ? gpus : marker.per == Per::kSequences ? sequence : 1.0);
  if (marker.most) return {marker.measure, unit * *std::max_element(values.begin(), values.end()), 0};
  const std::size_t warm = std::min(values.size() - 1, std::max<std::size_t>(1, values.size() / 10));
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(warm));
  const double median = median_of(values);
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  // Error of the median, estimated as that of a mean of all values.
  const double spread = (at(0.84) - at(0.16)) / 2 / median / std::sqrt(static_cast<double>(values.size()));
  return {marker.measure, unit * median, spread};
}

}  // namespace

TrainingLog read_training_log(const std::filesystem::path& file, int gpus, double sequence) {
  std::ifstream in = open_regular_file(file);
  std::vector<std::vector<double>> found(std::size(kMarkers));
  std::string line;
  for (std::size_t number = 0; number < kMostLines && std::getline(in, line); ++number) {
    drop_colours(line);
    for (std::size_t m = 0; m < std::size(kMarkers); ++m) {
      if (const auto value = number_after(line, kMarkers[m].text)) found[m].push_back(*value);
    }
  }
  TrainingLog log;
  for (std::size_t m = 0; m < std::size(kMarkers); ++m) {
    const Marker& marker = kMarkers[m];
    if (found[m].empty() || (!log.program.empty() && log.program != marker.program)) continue;
    const bool known = std::any_of(log.figures.begin(), log.figures.end(),
                                   [&](const LoggedFigure& f) { return f.measure == marker.measure; });
    if (known) continue;
    log.program = marker.program;
    log.figures.push_back(figure_of(marker, found[m], gpus, sequence));
  }
  if (log.figures.empty())
    throw InputError(
        {std::make_shared<Source>(Source{file.string(), ""}), 0, 0},
        "no steps of Megatron-LM, DeepSpeed, torchtitan or Alpa are in it; give the figure itself, such as "
        "iteration,1.19 s");
  return log;
}

}  // namespace slmsim

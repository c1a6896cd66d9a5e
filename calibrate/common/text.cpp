#include "calibrate/common/text.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sstream>

#include "calibrate/common/failure.h"

namespace slmsim::calibrate {
namespace {

struct Unit {
  const char* name;
  double factor;
};

constexpr Unit kSizes[] = {{"B", 1},        {"kB", 1e3},        {"MB", 1e6},          {"GB", 1e9},
                           {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
constexpr Unit kTimes[] = {{"s", 1}, {"min", 60}, {"h", 3600}};

template <std::size_t N>
std::optional<double> with_unit(const std::string& text, const Unit (&units)[N]) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(value)) return std::nullopt;
  while (*end == ' ') ++end;
  for (const Unit& unit : units) {
    if (std::strcmp(end, unit.name) == 0) return value * unit.factor;
  }
  return std::nullopt;
}

template <std::size_t N>
std::string scaled(double value, const Unit (&ladder)[N]) {
  std::size_t fit = 0;
  for (std::size_t i = 1; i < N; ++i) {
    if (std::abs(value) >= ladder[i].factor) fit = i;
  }
  return format("%.6g %s", value / ladder[fit].factor, ladder[fit].name);
}

}  // namespace

std::string with_reason(const std::string& what) { return what + ": " + std::strerror(errno); }

std::string format(const char* pattern, ...) {
  va_list arguments, again;
  va_start(arguments, pattern);
  va_copy(again, arguments);
  std::string out(static_cast<std::size_t>(std::vsnprintf(nullptr, 0, pattern, arguments)), '\0');
  std::vsnprintf(out.data(), out.size() + 1, pattern, again);
  va_end(again);
  va_end(arguments);
  return out;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::optional<double> parse_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> parse_size(const std::string& text) { return with_unit(text, kSizes); }
std::optional<double> parse_time(const std::string& text) { return with_unit(text, kTimes); }

std::string time_text(double seconds) {
  static constexpr Unit kLadder[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  return scaled(seconds, kLadder);
}

std::string size_text(double bytes) {
  static constexpr Unit kLadder[] = {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}};
  return scaled(bytes, kLadder);
}

std::string rate_text(double bytes_per_second) {
  static constexpr Unit kLadder[] = {{"bps", 0.125}, {"kbps", 125}, {"Mbps", 125e3}, {"Gbps", 125e6}};
  return scaled(bytes_per_second, kLadder);
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x20 && byte < 0x7f ? c : '?';
  }
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

bool is_name_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.'; }

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kLongestName && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), is_name_letter);
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace slmsim::calibrate

// Words and numbers for people. Units are those of the simulator's files: "64 kB" is 64000 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slmsim::calibrate {

// As printf.
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

std::vector<std::string> words_of(const std::string& line);

// A finite number, if the whole text is one.
std::optional<double> parse_number(const std::string& text);
// "1GB", "64 kB", "16 MiB"; bytes.
std::optional<double> parse_size(const std::string& text);
// "90s", "5 min", "1h"; seconds.
std::optional<double> parse_time(const std::string& text);

// Six digits and a unit that the simulator reads: "103.2 ms", "64 kB", "391.7 Mbps" (from bytes per second).
std::string time_text(double seconds);
std::string size_text(double bytes);
std::string rate_text(double bytes_per_second);

// The text without control characters: a peer's text must not control a terminal.
std::string printable(std::string_view text);

// As a YAML string.
std::string quoted(const std::string& text);

// A name: letters, digits, '-', '_' and '.', at most kLongestName of them, not starting with a dot.
inline constexpr std::size_t kLongestName = 64;
bool is_name_letter(char c);
bool is_name(const std::string& text);

// "2026-01-31T12:00:00Z"
std::string now_utc();

}  // namespace slmsim::calibrate

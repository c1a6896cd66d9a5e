#include "sim/base/quantity.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.h"

namespace slmsim {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kTimeUnits = {Unit{"ns", 1e-9},  Unit{"us", 1e-6},  Unit{"ms", 1e-3},  Unit{"s", 1.0},
                                   Unit{"min", 60.0}, Unit{"h", 3600.0}, Unit{"d", 86400.0}};
constexpr std::array kDataUnits = {Unit{"B", 1.0},     Unit{"kB", 1e3},    Unit{"MB", 1e6},
                                   Unit{"GB", 1e9},    Unit{"TB", 1e12},   Unit{"KiB", kKibi},
                                   Unit{"MiB", kMebi}, Unit{"GiB", kGibi}, Unit{"TiB", 1024.0 * kGibi}};
constexpr std::array kDataRateUnits = {Unit{"B/s", 1.0},      Unit{"kB/s", 1e3},     Unit{"MB/s", 1e6},
                                       Unit{"GB/s", 1e9},     Unit{"TB/s", 1e12},    Unit{"KiB/s", kKibi},
                                       Unit{"MiB/s", kMebi},  Unit{"GiB/s", kGibi},  Unit{"TiB/s", 1024.0 * kGibi},
                                       Unit{"bps", 0.125},    Unit{"kbps", 125.0},   Unit{"Mbps", 125e3},
                                       Unit{"Gbps", 125e6},   Unit{"Tbps", 125e9},   Unit{"kbit/s", 125.0},
                                       Unit{"Mbit/s", 125e3}, Unit{"Gbit/s", 125e6}, Unit{"Tbit/s", 125e9},
                                       Unit{"kb/s", 125.0},   Unit{"Mb/s", 125e3},   Unit{"Gb/s", 125e6},
                                       Unit{"Tb/s", 125e9}};
constexpr std::array kWorkRateUnits = {Unit{"GFLOP/s", 1e9}, Unit{"TFLOP/s", 1e12}, Unit{"PFLOP/s", 1e15}};
constexpr std::array kPowerUnits = {Unit{"W", 1.0}, Unit{"kW", 1e3}};

// Units of texts for people; other sizes, such as 24 GB, are read and not written.
constexpr std::array kTimeLadder = {Unit{"ns", 1e-9}, Unit{"us", 1e-6},  Unit{"ms", 1e-3},
                                    Unit{"s", 1.0},   Unit{"min", 60.0}, Unit{"h", 3600.0}};
constexpr std::array kDataLadder = {Unit{"B", 1.0}, Unit{"KiB", kKibi}, Unit{"MiB", kMebi}, Unit{"GiB", kGibi}};
constexpr std::array kDataRateLadder = {Unit{"B/s", 1.0}, Unit{"kB/s", 1e3}, Unit{"MB/s", 1e6}, Unit{"GB/s", 1e9}};
constexpr std::array kWorkRateLadder = {Unit{"GFLOP/s", 1e9}, Unit{"TFLOP/s", 1e12}};

struct DimensionRow {
  std::span<const Unit> units, ladder;
  const char* example;
};
// In the order of Dimension.
constexpr DimensionRow kDimensions[] = {
    {kTimeUnits, kTimeLadder, "a time such as \"103 ms\" (ns, us, ms, s, min, h, d)"},
    {kDataUnits, kDataLadder, "a size such as \"24 GiB\" (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)"},
    {kDataRateUnits, kDataRateLadder, "a rate such as \"100 Gbps\" or \"12 GB/s\""},
    {kWorkRateUnits, kWorkRateLadder, "a rate such as \"65 TFLOP/s\""},
    {kPowerUnits, kPowerUnits, "a power such as \"300 W\""}};
const DimensionRow& row_of(Dimension dimension) { return kDimensions[static_cast<std::size_t>(dimension)]; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// from_chars does not accept a plus sign.
std::from_chars_result read_number(std::string_view text, double& value) {
  const bool plus = text.size() > 1 && text.front() == '+' && text[1] != '-';
  return std::from_chars(text.data() + (plus ? 1 : 0), text.data() + text.size(), value);
}

// "us" for both spellings of the micro sign.
std::string ascii_unit(std::string_view unit) {
  for (const std::string_view micro : {"\u00b5", "\u03bc"}) {
    if (unit.starts_with(micro)) return fmt::format("u{}", unit.substr(micro.size()));
  }
  return std::string(unit);
}

// Three significant digits and no power of ten: 999.9 ms are 1 s, and values beyond the last unit are written out.
std::string scaled(double value, std::span<const Unit> ladder) {
  constexpr double kRoundsToThousand = 999.5;
  std::size_t fit = 0;
  for (std::size_t i = 0; i < ladder.size(); ++i) {
    const bool rounds_up = i > 0 && ladder[i].factor == 1000 * ladder[i - 1].factor &&
                           std::abs(value) / ladder[i - 1].factor >= kRoundsToThousand;
    if (std::abs(value) >= ladder[i].factor || rounds_up) fit = i;
  }
  const double scaled = value / ladder[fit].factor;
  const bool long_number = std::abs(scaled) >= kRoundsToThousand;
  return long_number ? fmt::format("{:.0f} {}", scaled, ladder[fit].name)
                     : fmt::format("{:.3g} {}", scaled, ladder[fit].name);
}

// Normalises spellings such as "GBit/s" and "TFLOPS".
std::string folded(std::string_view unit) {
  std::string out = lower_case(std::string(unit));
  std::erase_if(out, [](unsigned char c) { return !std::isalpha(c); });
  return out;
}

enum class Counts { kBits, kBytes, kUnclear };

// Unit of a data quantity: B is bytes, b is bits. In "gb/s" and "GBPS" the case of the letters says nothing.
Counts counts_of(std::string_view unit) {
  const std::string name = folded(unit);
  if (name.find("bit") != std::string::npos) return Counts::kBits;
  if (name.find("byte") != std::string::npos) return Counts::kBytes;
  const auto is = [&](int (*kind)(int)) {
    return std::ranges::all_of(unit, [&](unsigned char c) { return !std::isalpha(c) || kind(c) != 0; });
  };
  if (is(std::islower) && name.ends_with("bps")) return Counts::kBits;
  const std::size_t at = unit.find_first_of("bB");
  // The unit of kilobits is all lower case, but for that of bits and bytes alone.
  if (at == std::string_view::npos || is(std::islower) || is(std::isupper)) return Counts::kUnclear;
  return unit[at] == 'B' ? Counts::kBytes : Counts::kBits;
}

// Candidates for an unknown unit: the unit that differs only in case and slashes, or those with this beginning (for the
// rate "10 Gb": Gbps). One of each value, and none that counts bytes where the unit counts bits, or the reverse. Empty
// where nothing fits.
std::string likely_units(std::string_view unit, Dimension dimension) {
  constexpr std::size_t kMostOffered = 2;
  const bool of_data = dimension == Dimension::kData || dimension == Dimension::kDataRate;
  const Counts counts = of_data ? counts_of(unit) : Counts::kUnclear;
  // "Gbps" is G, b and ps; "GBps" means GB/s, and "GBPS" may.
  const std::string as_written = folded(unit);
  std::string per_second = as_written;
  if (per_second.ends_with("ps")) per_second.erase(per_second.size() - 2, 1);
  const std::string& wanted = counts == Counts::kBytes ? per_second : as_written;
  std::vector<Unit> same, begin, begin_in_any_case;
  const auto add = [](std::vector<Unit>& list, const Unit& known) {
    const bool is_there = std::ranges::any_of(list, [&](const Unit& u) { return u.factor == known.factor; });
    if (!is_there) list.push_back(known);
  };
  for (const auto& known : row_of(dimension).units) {
    const bool bits = of_data && known.name.find('B') == std::string_view::npos;
    if (of_data && counts != Counts::kUnclear && bits != (counts == Counts::kBits)) continue;
    const std::string name = folded(known.name);
    if (name == wanted || (counts == Counts::kUnclear && name == per_second)) add(same, known);
    if (known.name.starts_with(unit)) add(begin, known);
    if (name.starts_with(wanted)) add(begin_in_any_case, known);
  }
  for (const auto& offered : {same, begin, begin_in_any_case}) {
    if (offered.empty() || offered.size() > kMostOffered || wanted.empty()) continue;
    std::vector<std::string_view> names;
    names.reserve(offered.size());
    for (const Unit& one : offered) names.push_back(one.name);
    return fmt::format("{}", fmt::join(names, "\" or \""));
  }
  return "";
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  text = trim(text);
  double value = 0.0;
  const auto [end, failed] = read_number(text, value);
  if (failed != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

ParsedQuantity parse_quantity(std::string_view text, Dimension dimension) {
  text = trim(text);
  double number = 0.0;
  const auto [end, failed] = read_number(text, number);
  if (failed == std::errc::result_out_of_range) {
    return {0.0, fmt::format("\"{}\" is out of range for a number; expected {}", text, row_of(dimension).example)};
  }
  if (failed != std::errc{} || !std::isfinite(number)) {
    return {0.0, fmt::format("\"{}\" does not start with a number; expected {}", text, row_of(dimension).example)};
  }
  const std::string unit = ascii_unit(trim(text.substr(static_cast<std::size_t>(end - text.data()))));
  if (unit.starts_with(',')) {
    return {0.0, fmt::format("\"{}\" has a comma; write a point for decimals, and thousands without a mark", text)};
  }
  if (unit.empty()) return {0.0, fmt::format("\"{}\" has no unit; expected {}", text, row_of(dimension).example)};
  for (const auto& known : row_of(dimension).units) {
    if (known.name != unit) continue;
    const double value = number * known.factor;
    return {value, std::isfinite(value) ? "" : fmt::format("\"{}\" is too large for a number", text)};
  }
  const std::string meant = likely_units(unit, dimension);
  return {0.0, fmt::format("\"{}\" has the unit \"{}\"; {}", text, unit,
                           meant.empty() ? fmt::format("expected {}", row_of(dimension).example)
                                         : fmt::format("did you mean \"{:g} {}\"?", number, meant))};
}

std::vector<std::string> unit_names(Dimension dimension) {
  std::vector<std::string> names;
  for (const auto& unit : row_of(dimension).units) names.emplace_back(unit.name);
  return names;
}

std::string exact_text(double value, Dimension dimension) {
  std::string shortest;
  std::size_t least = 0;
  for (const auto& unit : row_of(dimension).units) {
    constexpr std::size_t kExponent = 8;  // a text longer by this is better than a power of ten
    std::string text = fmt::format("{:.12g} {}", value / unit.factor, unit.name);
    const std::size_t length = text.size() + (text.find('e') < text.find(' ') ? kExponent : 0);
    if (shortest.empty() || length < least) {
      least = length;
      shortest = std::move(text);
    }
  }
  return shortest;
}

std::string to_text(double value, Dimension dimension) {
  return value == 0 && dimension == Dimension::kTime ? "0 s" : scaled(value, row_of(dimension).ladder);
}

std::string to_text(Seconds time) { return to_text(time.value, Dimension::kTime); }
std::string to_text(Bytes size) { return to_text(size.value, Dimension::kData); }
std::string to_text(BytesPerSecond rate) { return to_text(rate.value, Dimension::kDataRate); }
std::string to_text(FlopsPerSecond rate) { return to_text(rate.value, Dimension::kWorkRate); }
std::string to_text(Watts power) { return to_text(power.value, Dimension::kPower); }

}  // namespace slmsim

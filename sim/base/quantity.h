// Quantities as text: a number and a unit, "103 ms", "100 Gbps", "24 GiB".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/unit.h"

namespace slmsim {

// The whole of `text` as a finite decimal number.
std::optional<double> parse_number(std::string_view text);

// A value in base units, or an error ("the problem; the remedy").
struct ParsedQuantity {
  double value = 0.0;
  std::string problem;
};

// kTime: ns us ms s min h d. kData: B kB MB GB TB KiB MiB GiB TiB. kDataRate: the same per second, and kbps
// Mbps Gbps Tbps (or kbit/s ...), which count bits. kWorkRate: GFLOP/s TFLOP/s PFLOP/s. kPower: W kW.
enum class Dimension { kTime, kData, kDataRate, kWorkRate, kPower };
ParsedQuantity parse_quantity(std::string_view text, Dimension dimension);
std::vector<std::string> unit_names(Dimension dimension);
// In the unit that gives the shortest text; it reads back as the same value up to rounding: "1500 B", "25 MiB".
std::string exact_text(double value, Dimension dimension);

template <class Q>
constexpr Dimension dimension_of();
template <>
constexpr Dimension dimension_of<Seconds>() {
  return Dimension::kTime;
}
template <>
constexpr Dimension dimension_of<Bytes>() {
  return Dimension::kData;
}
template <>
constexpr Dimension dimension_of<BytesPerSecond>() {
  return Dimension::kDataRate;
}
template <>
constexpr Dimension dimension_of<FlopsPerSecond>() {
  return Dimension::kWorkRate;
}
template <>
constexpr Dimension dimension_of<Watts>() {
  return Dimension::kPower;
}

// For messages and tables: three significant digits and a fitting unit, "103 ms", "12.5 GB/s", "22.4 GiB".
std::string to_text(Seconds time);
std::string to_text(Bytes size);
std::string to_text(BytesPerSecond rate);
std::string to_text(FlopsPerSecond rate);
std::string to_text(Watts power);

}  // namespace slmsim

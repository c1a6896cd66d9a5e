// Quantities as text: a number and a unit, "103 ms", "100 Gbps", "24 GiB".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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
constexpr Dimension dimension_of() {
  if (std::is_same_v<Q, Seconds>) return Dimension::kTime;
  if (std::is_same_v<Q, Bytes>) return Dimension::kData;
  if (std::is_same_v<Q, BytesPerSecond>) return Dimension::kDataRate;
  if (std::is_same_v<Q, FlopsPerSecond>) return Dimension::kWorkRate;
  static_assert(std::is_same_v<Q, Seconds> || std::is_same_v<Q, Bytes> || std::is_same_v<Q, BytesPerSecond> ||
                std::is_same_v<Q, FlopsPerSecond> || std::is_same_v<Q, Watts>);
  return Dimension::kPower;
}

// For messages and tables: three significant digits and a fitting unit, "103 ms", "12.5 GB/s", "22.4 GiB".
std::string to_text(Seconds time);
std::string to_text(Bytes size);
std::string to_text(BytesPerSecond rate);
std::string to_text(FlopsPerSecond rate);
std::string to_text(Watts power);
std::string to_text(double value, Dimension dimension);

}  // namespace slmsim

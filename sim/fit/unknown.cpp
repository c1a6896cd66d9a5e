#include "sim/fit/unknown.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/normal.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slmsim {
namespace {

const boost::math::normal kNormal;
constexpr double kFarthest = 8;  // standard deviations; beyond, probabilities are 0 and 1 in a double

// Rounds to four digits: readable, and beyond the precision of any value.
double rounded_value(double value) {
  if (value == 0) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 3);
  return std::round(value / unit) * unit;
}

// In the largest unit in which it is at least one.
std::string readable(double value, Dimension dimension) {
  struct Unit {
    const char* name;
    double size;
  };
  static const std::vector<Unit> kTimes = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  static const std::vector<Unit> kSizes = {{"GiB", kGibi}, {"MiB", kMebi}, {"KiB", 1024}, {"B", 1}};
  static const std::vector<Unit> kRates = {{"GB/s", 1e9}, {"MB/s", 1e6}, {"kB/s", 1e3}, {"B/s", 1}};
  static const std::vector<Unit> kWork = {{"TFLOP/s", 1e12}, {"GFLOP/s", 1e9}};
  const auto& units = dimension == Dimension::kTime       ? kTimes
                      : dimension == Dimension::kData     ? kSizes
                      : dimension == Dimension::kDataRate ? kRates
                                                          : kWork;
  const auto at = std::find_if(units.begin(), units.end() - 1, [&](const Unit& u) { return value >= u.size; });
  return fmt::format("{:.6g} {}", rounded_value(value / at->size), at->name);
}

std::string number_text(const ValueType& type, double value) {
  if (type.kind == ValueType::Kind::kInteger) return fmt::format("{:.0f}", value);
  if (type.kind == ValueType::Kind::kQuantity) return readable(value, type.dimension);
  return fmt::format("{:.4g}", value);
}

// Share of the paths that lose nothing, and of the hosts with the usual buffers.
constexpr double kAsUsual = 0.75;

constexpr Range<double> kPathLoss = {1e-6, 1e-4};

// Linux's default is 6 MiB, and less where a host has little memory (tcp(7)); guides to tuning hosts for wide areas recommend
// 64 MiB (fasterdata.es.net, Linux tuning).
constexpr Range<double> kBuffers = {0.5 * kMebi, 64 * kMebi};

}  // namespace

double normal_quantile(double probability) {
  return boost::math::quantile(kNormal, std::clamp(probability, 1e-15, 1 - 1e-15));
}

double normal_probability(double coordinate) {
  return boost::math::cdf(kNormal, std::clamp(coordinate, -kFarthest, kFarthest));
}

double sigma_of_factor(double factor) { return std::log(factor) / normal_quantile(0.9); }

double Unknown::number(double coordinate) const {
  double share = normal_probability(coordinate);
  if (spike > 0) {
    if (share < spike) return spike_at;
    share = (share - spike) / (1 - spike);
  }
  double drawn = 0;
  switch (prior) {
    case Prior::kOneOf:
      return std::min(std::floor(share * static_cast<double>(words.size())), static_cast<double>(words.size() - 1));
    case Prior::kUniform:
      drawn = low + share * (high - low);
      break;
    case Prior::kLogUniform:
      drawn = low * std::pow(high / low, share);
      break;
    case Prior::kLogNormal:
      drawn = std::clamp(center * std::exp(sigma * normal_quantile(share)), low, high);
      break;
  }
  return type.kind == ValueType::Kind::kInteger ? std::clamp(std::round(drawn), std::ceil(low), std::floor(high))
                                                : drawn;
}

std::string Unknown::text(double of) const {
  return is_choice() ? words[static_cast<std::size_t>(of)] : number_text(type, of);
}

double Unknown::figure(double coordinate) const {
  return is_choice() ? parse_number(word(coordinate)).value_or(0) : number(coordinate);
}

std::string Unknown::word(double coordinate) const { return text(number(coordinate)); }

std::string Unknown::prior_text() const {
  std::string text;
  switch (prior) {
    case Prior::kOneOf:
      return fmt::format("{}", fmt::join(words, " or "));
    case Prior::kUniform:
      text = fmt::format("{} to {}", number_text(type, low), number_text(type, high));
      break;
    case Prior::kLogUniform:
      text = fmt::format("{} to {}, by factors", number_text(type, low), number_text(type, high));
      break;
    case Prior::kLogNormal:
      text = fmt::format("{}, within a factor of {:.3g}", number_text(type, center),
                         std::exp(sigma * normal_quantile(0.9)));
  }
  return spike > 0 ? fmt::format("{} ({:.0f} %), else {}", number_text(type, spike_at), 100 * spike, text) : text;
}

ValueType number_type(double low, double high) {
  ValueType type = ValueType::of(ValueType::Kind::kNumber);
  type.low = low;
  type.high = high;
  return type;
}

ValueType quantity_type(Dimension dimension) {
  ValueType type = ValueType::of(ValueType::Kind::kQuantity);
  type.dimension = dimension;
  return type;
}

Unknown by_factors(std::vector<std::string> paths, double low, double high, const ValueType& type, const char* source) {
  Unknown out;
  out.paths = std::move(paths);
  out.prior = Unknown::Prior::kLogUniform;
  out.low = low;
  out.high = high;
  out.type = type;
  out.source = source;
  return out;
}

Unknown one_of(std::vector<std::string> paths, std::vector<std::string> words, const char* source) {
  Unknown out;
  out.paths = std::move(paths);
  out.prior = Unknown::Prior::kOneOf;
  out.words = std::move(words);
  out.type = ValueType::of(ValueType::Kind::kInteger);
  out.type.low = 1;
  out.type.high = 1 << 20;
  out.source = source;
  return out;
}

Unknown path_loss(std::string path) {
  Unknown out = by_factors({std::move(path)}, kPathLoss.low, kPathLoss.high, number_type(0, 1),
                           "no loss is stated; three of four such paths have none that limits TCP");
  out.spike = kAsUsual;
  return out;
}

Unknown socket_buffers(std::vector<std::string> paths, double usual) {
  Unknown out = by_factors(std::move(paths), kBuffers.low, kBuffers.high, quantity_type(Dimension::kData),
                           "hosts not inspected: Linux's defaults, smaller, or tuned for wide-area networks");
  out.spike = kAsUsual;
  out.spike_at = usual;
  return out;
}

}  // namespace slmsim

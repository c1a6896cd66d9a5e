#include <utility>

#include "sim/fit/unknown.h"

namespace slmsim {
namespace {

// Share of the paths that lose nothing, and of the hosts with the usual buffers.
constexpr double kAsUsual = 0.75;

constexpr Range<double> kPathLoss = {1e-6, 1e-4};

// Linux's default is 6 MiB, and less where a host has little memory (tcp(7)); guides to tuning hosts for wide areas recommend
// 64 MiB (fasterdata.es.net, Linux tuning).
constexpr Range<double> kBuffers = {0.5 * kMebi, 64 * kMebi};

}  // namespace

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

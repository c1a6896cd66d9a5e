#include "sim/validate/priors.h"

namespace slmsim {

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

}  // namespace slmsim

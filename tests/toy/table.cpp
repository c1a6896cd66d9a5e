// The table of techniques that the test's program links in place of sim/technique/table.cpp.
#include "sim/scenario/technique.h"

namespace slmsim {

extern const Technique kData, kZero2, kShard, kPipeshard, kAveraging, kReading;

const std::vector<const Technique*>& technique_table() {
  static const std::vector<const Technique*> kTable = {&kData, &kZero2, &kShard, &kPipeshard, &kAveraging, &kReading};
  return kTable;
}

}  // namespace slmsim

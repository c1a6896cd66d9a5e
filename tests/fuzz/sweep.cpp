// A sweep's file, with every point's values of small ones.
#include "sim/sweep/sweep.h"

#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

void try_sweep(std::string_view text) {
  Reading reading;
  const Node node = parse_yaml(text, "in.yaml");
  if (const Node* axes = node.find("axes")) {
    const auto read = read_axes(*axes, "axes", reading);
    reading.check();
    for (std::uint64_t point = 0; point < std::min<std::uint64_t>(8, point_count(read)); ++point) {
      const auto indices = indices_of(read, point);
      for (std::size_t a = 0; a < read.size(); ++a) {
        for (const auto& key : read[a].keys) one_line(key.values[indices[a]]);
      }
    }
  }
}

const Target kSweep("sweep", try_sweep);

}  // namespace
}  // namespace slmsim::fuzz

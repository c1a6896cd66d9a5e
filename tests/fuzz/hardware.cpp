// Files of platforms/ and models/ and of stacks: SLMSIM_FUZZ_KIND says which.
#include "sim/cost/software.h"
#include "sim/model/operator_graph.h"
#include "sim/model/transformer.h"
#include "sim/platform/iperf3.h"
#include "sim/platform/network.h"
#include "sim/platform/path.h"
#include "sim/platform/platform.h"
#include "sim/platform/profile.h"
#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

enum Kind { kModel, kGpu, kVm, kPath, kProfile, kPlatform };

// What is sound is used a little.
void read(const Node& node, Reading& reading) {
  switch (SLMSIM_FUZZ_KIND) {
    case kModel: {
      const Transformer model = read_transformer(node, "", "model", reading);
      reading.check();
      if (model.layers <= 64) parameter_count(build_operator_graph(model));
      break;
    }
    case kGpu:
      read_gpu(node, "", reading);
      break;
    case kVm:
      read_vm_type(node, "", reading);
      break;
    case kPath:
      read_path(as_path(node), "", reading);
      break;
    case kProfile:
      read_profile(node, "", reading);
      break;
    case kPlatform: {
      const Platform platform = read_platform(node, "", reading);
      reading.check();
      if (platform.devices.size() <= 64) Network{platform};
      break;
    }
  }
}

}  // namespace

void try_input(std::string_view text) {
  // JSON, where a key may stand twice, by its name.
  Reading reading;
  read(parse_yaml(text, text.starts_with('{') ? "in.json" : "in.yaml"), reading);
  reading.check();
}

}  // namespace slmsim::fuzz

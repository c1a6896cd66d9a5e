// Files of platforms/ and models/: a target for each kind.
#include "sim/compute/operator_graph.h"
#include "sim/compute/software.h"
#include "sim/compute/transformer.h"
#include "sim/platform/gpu.h"
#include "sim/platform/network.h"
#include "sim/platform/path.h"
#include "sim/platform/platform.h"
#include "tests/fuzz/target.h"

namespace slmsim::fuzz {
namespace {

enum Kind { kModel, kGpu, kVm, kPath, kProfile, kPlatform };

// Sound files are used a little.
void read_hardware(Kind kind, const Node& node, Reading& reading) {
  switch (kind) {
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

TryInput reader_of(Kind kind) {
  return [kind](std::string_view text) {
    // JSON, where a key may stand twice, by its name.
    Reading reading;
    read_hardware(kind, parse_yaml(text, text.starts_with('{') ? "in.json" : "in.yaml"), reading);
    reading.check();
  };
}

const Target kTargets[] = {{"model", reader_of(kModel)},     {"gpu", reader_of(kGpu)},
                           {"vm", reader_of(kVm)},           {"path", reader_of(kPath)},
                           {"profile", reader_of(kProfile)}, {"platform", reader_of(kPlatform)}};

}  // namespace
}  // namespace slmsim::fuzz

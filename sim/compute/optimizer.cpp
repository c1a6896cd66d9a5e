#include "sim/compute/optimizer.h"

#include <boost/range/iterator_range.hpp>

#include "sim/compute/operator_graph.h"
#include "sim/compute/profile_time.h"

namespace slmsim {
namespace {

constexpr double kScaledBlock = 256;  // bitsandbytes' block of parameters that share a scale

}  // namespace

const std::vector<std::string>& update_rule_names() {
  static const std::vector<std::string> kNames = {"adam", "adam8bit", "momentum", "sgd"};
  return kNames;
}

double state_of(UpdateRule rule) {
  constexpr double kFull = 4;
  switch (rule) {
    case UpdateRule::kAdam8bit:
      return 2 * (1 + kFull / kScaledBlock);
    case UpdateRule::kMomentum:
      return kFull;
    case UpdateRule::kSgd:
      return 0;
    default:
      return 2 * kFull;
  }
}

Seconds update_time(double parameters, const Gpu& gpu, const Update& update, const Software& software,
                    TimeBasis* basis) {
  const double state = state_of(update.rule);
  const bool adams = update.rule == UpdateRule::kAdam && parameters > 0 && !software.adam_kernel.empty();
  if (adams && was_timed(gpu, update.weights, software.adam_kernel)) {
    KernelShape kernel = adam_kernel(parameters);
    kernel.name = software.adam_kernel;
    const ProfileTime time = profile_time(gpu, update.weights, kernel);
    if (basis) *basis += time.basis;
    return time.time;
  }
  if (software.adam > 0) {
    const double moved = software.adam - 2 * (state_of(UpdateRule::kAdam) - state);
    const Seconds time = Bytes{parameters * moved} / gpu.bandwidth() + software.launch;
    if (basis) basis->roofline += time;
    return time;
  }
  const bool master = element_bytes(update.weights) < 4;
  const double read = element_bytes(update.gradients) + 4 + state;
  const double written = 4 + state + (master ? element_bytes(update.weights) : 0);
  if (gpu.kernels && gpu.kernels->knows_others() && parameters > 0) {
    // Measured with Adam's state and gradients in training precision; other formats scale the time.
    const double measured =
        element_bytes(update.weights) + 4 + 8 + 4 + 8 + (master ? element_bytes(update.weights) : 0);
    const ProfileTime kernel = profile_time(gpu, update.weights, adam_kernel(parameters));
    if (basis) *basis += kernel.basis;
    return kernel.time * ((read + written) / measured);
  }
  const Seconds time = Bytes{parameters * (read + written)} / (gpu.bandwidth() * software.memory) + software.launch;
  if (basis) basis->roofline += time;
  return time;
}

Seconds update_loop_time(double tensors, const Gpu& gpu, const Software& software) {
  if (software.adam_kernel != "adam_single") return {};
  return software.host.forward * (gpu.host * kLoopOperators * tensors);
}

double trained_tensors(const OperatorGraph& graph) {
  double count = 0;
  for (const auto vertex : boost::make_iterator_range(boost::vertices(graph))) {
    const Operator& op = graph[vertex];
    if (op.parameters <= 0) continue;
    if (op.kind == OperatorKind::kMatrix) {
      const bool gated = op.role == Role::kMlpUp && op.second > 0 && op.second < 1;
      const double products = op.role == Role::kQkv && op.rotated > 0 ? 3 : gated ? 2 : 1;
      count += products * (op.bias > 0 ? 2 : 1);
    } else if (op.kind == OperatorKind::kNorm) {
      // A layer norm has a shift too; the scales of queries' and keys' norms are two.
      count += op.role == Role::kQueryNorm || op.weights * op.tokens > op.outputs ? 2 : 1;
    } else {
      // A table of positions.
      count += op.weights > static_cast<double>(op.rows * op.columns) ? 2 : 1;
    }
  }
  return count;
}

}  // namespace slmsim

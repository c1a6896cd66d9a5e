#include "sim/scenario/stack.h"

namespace slmsim {
namespace {

constexpr double kElements = 2;                 // bytes of an fp16 element
constexpr Range<double> kTrafficRange{0, 1e4};  // bytes
constexpr Range<BytesPerSecond> kRateRange{{1e6}, {1e14}};
// DeepSpeed's defaults (deepspeed/runtime/zero/config.py; deepspeed/runtime/swap_tensor/constants.py).
constexpr double kBucket = 5e8;  // reduce_bucket_size, allgather_bucket_size, elements
constexpr double kLive = 1e9;    // stage3_max_live_parameters
constexpr Bytes kIoBlock{kMebi};
constexpr int kIoDepth = 8;

}  // namespace

Stack read_stack(Fields fields) {
  Stack s;
  s.replicated_traffic = fields.number("replicated_traffic", kTrafficRange, 0.0);
  s.divided_traffic = fields.number("divided_traffic", kTrafficRange, 0.0);
  s.loss_traffic = fields.number("loss_traffic", kTrafficRange, 0.0);
  s.gpu_adam = fields.number("gpu_adam", kTrafficRange, 0.0);
  s.cpu_adam = fields.number("cpu_adam", kTrafficRange, s.cpu_adam);
  s.cpu_adam_stage3 = fields.number("cpu_adam_stage3", kTrafficRange, s.cpu_adam_stage3);
  s.cpu_adam_rate = fields.quantity<BytesPerSecond>("cpu_adam_rate", kRateRange, BytesPerSecond{30e9});
  s.module_hook = fields.quantity<Seconds>("module_hook", {{0}, {1}}, Seconds{0});
  s.drive_share = fields.number("drive_share", {0.01, 1}, 1.0);
  s.swap_rate = fields.quantity<BytesPerSecond>("swap_rate", kRateRange, BytesPerSecond{1e9});
  s.sub_group = fields.number("sub_group", {1e5, 1e12}, s.sub_group);
  s.io_block = fields.quantity<Bytes>("io_block", {{4096}, {kGibi}}, kIoBlock);
  s.io_depth = static_cast<int>(fields.integer("io_depth", {1, 65536}, kIoDepth));
  s.reduce_bucket = Bytes{kElements * fields.number("reduce_bucket", {1e3, 1e12}, kBucket)};
  s.gather_bucket = Bytes{kElements * fields.number("allgather_bucket", {1e3, 1e12}, kBucket)};
  s.live_parameters = fields.number("live_parameters", {0, 1e12}, kLive);
  fields.done();
  return s;
}

}  // namespace slmsim

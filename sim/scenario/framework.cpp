#include "sim/scenario/framework.h"

namespace slmsim {
namespace {

constexpr Range<double> kTrafficRange{0, 1e4};  // bytes
constexpr Range<BytesPerSecond> kRateRange{{1e6}, {1e14}};
// DeepSpeed's defaults (deepspeed/runtime/zero/config.py; deepspeed/runtime/swap_tensor/constants.py).
constexpr double kBucket = 5e8;  // reduce_bucket_size, allgather_bucket_size, elements
constexpr double kLive = 1e9;    // stage3_max_live_parameters
// Time per layer of DeepSpeed's Python hooks (fetch, wait, release): the time per layer of ZeRO-3 beyond that of ZeRO-2
// on one node of four A100, Table V of "Bandwidth Characterization of DeepSpeed on Distributed LLM Training". Not
// measured on another machine; 1 to 4 ms are likely.
constexpr Seconds kModuleHook{2e-3};
constexpr Bytes kIoBlock{kMebi};
constexpr int kIoDepth = 8;

}  // namespace

Framework read_framework(Fields fields) {
  Framework s;
  s.cpu_adam = fields.number(
      FileKey{"cpu_adam", "Bytes of host memory that CPU Adam moves per parameter under ZeRO-1 and ZeRO-2."}
          .measured_by(kFit, Use::kHostAdamBelowStage3),
      kTrafficRange, s.cpu_adam);
  s.cpu_adam_stage3 = fields.number(
      FileKey{"cpu_adam_stage3", "The same under ZeRO-3, which copies its sub-groups once more."}.measured_by(
          kFit, Use::kHostAdamStage3),
      kTrafficRange, s.cpu_adam_stage3);
  s.cpu_adam_rate = fields.quantity<BytesPerSecond>(
      FileKey{"cpu_adam_rate", "Host memory that one rank's CPU Adam moves per second."}.measured_by(kFit,
                                                                                                     Use::kHostAdam),
      kRateRange, BytesPerSecond{30e9});
  s.module_hook = fields.quantity<Seconds>(
      FileKey{"module_hook", "Host time to fetch and release a layer's parameters under ZeRO-3, per pass."}
          .measured_by(kFit, Use::kStage3),
      {{0}, {1}}, kModuleHook);
  s.drive_share = fields.number(
      FileKey{"drive_share", "Share of a drive's rated throughput that asynchronous I/O reaches."}.measured_by(
          kFit, Use::kDrives),
      {0.01, 1}, 1.0);
  s.swap_rate = fields.quantity<BytesPerSecond>(
      FileKey{"swap_rate", "Rate of one rank that reads parameters tensor by tensor."}.measured_by(
          kFit, Use::kDrives),
      kRateRange, BytesPerSecond{1e9});
  s.sub_group = fields.number({"sub_group", "Parameters per rank that Infinity swaps and updates at a time."},
                              {1e5, 1e12}, s.sub_group);
  s.io_block = fields.quantity<Bytes>({"io_block", "Size of one request to a drive."}, {{4096}, {kGibi}}, kIoBlock);
  s.io_depth = static_cast<int>(
      fields.integer({"io_depth", "Number of concurrent requests of a rank."}, {1, 65536}, kIoDepth));
  s.reduce_bucket =
      fields.number({"reduce_bucket", "Elements in a bucket of DeepSpeed's reductions."}, {1e3, 1e12}, kBucket);
  s.gather_bucket =
      fields.number({"allgather_bucket", "Elements in a bucket of DeepSpeed's gathers."}, {1e3, 1e12}, kBucket);
  s.live_parameters =
      fields.number({"live_parameters", "Maximum number of parameters that ZeRO-3 keeps gathered."}, {0, 1e12}, kLive);
  s.gradient_copies = static_cast<int>(
      fields.integer({"gradient_copies",
                      "Number of fp32 copies of 16-bit gradients that an undivided optimizer holds during its step: 1 "
                      "in Megatron-LM; 2 in DeepSpeed's FP16_Optimizer, which converts all, then flattens them."},
                     {0, 4}, s.gradient_copies));
  fields.done();
  return s;
}

}  // namespace slmsim

// The techniques, each or its stages in one file, in the order in which they are listed and reported.
#include "sim/scenario/technique.h"

namespace slmsim {

extern const Technique kData, kZero2, kShard, kPipeshard;
// Techniques of PyTorch, Megatron-LM and DeepSpeed.
extern const Technique kDdp, kMegatron, kDeepSpeed1, kDeepSpeed2, kDeepSpeed3, kOffload1, kOffload2, kOffload3,
    kInfinity, kInfinityParameters, kFsdp, kOneBitAdam;

// Techniques for GPUs far apart.
extern const Technique kLocalSgd, kDiloco, kStreamingDiloco;

const std::vector<const Technique*>& technique_table() {
  static const std::vector<const Technique*> kTable = {
      &kData,       &kZero2,      &kShard,    &kPipeshard,       &kDdp,       &kMegatron, &kDeepSpeed1,
      &kDeepSpeed2, &kDeepSpeed3, &kOffload1, &kOffload2,        &kOffload3,  &kInfinity, &kInfinityParameters,
      &kFsdp,       &kLocalSgd,   &kDiloco,   &kStreamingDiloco, &kOneBitAdam};
  return kTable;
}

}  // namespace slmsim

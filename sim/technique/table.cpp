// The techniques, each in a file of its own, in the order in which they are listed and reported.
#include "sim/scenario/technique.h"

namespace slmsim {

extern const Technique kData, kZero2, kShard, kPipeshard;
// As PyTorch, Megatron-LM and DeepSpeed run them.
extern const Technique kDdp, kMegatron, kDeepSpeed1, kDeepSpeed2, kDeepSpeed3, kOffload1, kOffload2, kOffload3,
    kInfinity, kInfinityParameters, kFsdp, kOneBitAdam;

// Of GPUs far apart.
extern const Technique kLocalSgd, kDiloco, kStreamingDiloco;

const std::vector<const Technique*>& technique_table() {
  static const std::vector<const Technique*> kTable = {
      &kData,       &kZero2,      &kShard,    &kPipeshard,       &kDdp,       &kMegatron, &kDeepSpeed1,
      &kDeepSpeed2, &kDeepSpeed3, &kOffload1, &kOffload2,        &kOffload3,  &kInfinity, &kInfinityParameters,
      &kFsdp,       &kLocalSgd,   &kDiloco,   &kStreamingDiloco, &kOneBitAdam};
  return kTable;
}

}  // namespace slmsim

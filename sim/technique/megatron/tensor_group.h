// The GPUs that divide each layer of a replica's stage: the tasks of their passes over layers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/collective/alone.h"
#include "sim/collective/communicator.h"
#include "sim/technique/common/host_queue.h"
#include "sim/technique/common/layer_work.h"
#include "sim/technique/common/lower.h"
#include "sim/technique/common/pipeline_walk.h"

namespace slmsim {

// What all groups of a plan have in common.
struct TensorRules {
  const LowerRequest& request;
  const MegatronPlan& plan;
  Bytes activation = {};  // of a micro-batch, between layers
  int layers = 0;
  std::vector<int> vm_kinds = {};  // of the platform
};

class TensorGroup {
 public:
  using Works = std::shared_ptr<const std::vector<LayerWork>>;

  // `works`: of each GPU. `basis`: where the basis of the passes' times is added; may be nullptr.
  TensorGroup(TaskGraph& graph, TensorRules& rules, std::vector<int> devices, std::vector<Works> works,
              TimeBasis* basis);

  std::size_t size() const { return devices_.size(); }
  int device(std::size_t rank) const { return devices_[rank]; }
  const LayerWork& work(std::size_t rank, int unit) const { return (*works_[rank])[static_cast<std::size_t>(unit)]; }
  // The last task of each GPU's stream.
  Tasks& last() { return last_; }
  const Tasks& last() const { return last_; }
  TaskId compute(std::size_t rank, Seconds time, TagId tag, TaskId after, Flops work = {});
  // Goes on as a group that does the same.
  void follow(const TensorGroup& other);

  // A pass over the units from `first` to `last`: 0 the embedding, then the layers, then the head. Starts after the last tasks and
  // `inputs` (per GPU; empty: nothing).
  void pass(int first, int last, bool forward, const std::string& name, const Tasks& inputs);
  // Gathers the parts of an activation, which GPUs have after `ready`.
  Tasks gather(TagId tag, const Tasks& ready);

 private:
  // Parts of a block: most of its work and, for its product divided by columns, the gradients of the input and of the
  // weights; the block's exchanges overlap with the latter (Megatron-LM's
  // LinearWithGradAccumulationAndAsyncCommunication).
  enum class Part { kFirst, kInputGradient, kWeightsGradient };
  // A computation, an exchange, or both at once.
  struct Act {
    std::optional<Part> part;
    std::optional<Collective> exchange = {};
  };
  // A pass in one task: its times, and what takes place inside; no `inside` where the GPUs do not keep step.
  struct WholePass {
    HostQueue::Stretch stretch;
    std::shared_ptr<const Inside> inside;
  };

  // Whether passes are passages (passage.h). GPUs beside a slower one wait for it, so that they do not keep step.
  bool keeps_step() const;
  bool is_in_vm() const { return place_.front() >= 0; }
  bool is_layer(int unit) const { return unit > 0 && unit <= rules_.layers; }
  bool overlaps(bool forward) const;
  std::vector<Act> exchanges(bool forward, bool layer) const;
  std::vector<Act> acts_of(int unit, bool forward) const;
  HostQueue::Stretch stretch_of(std::size_t rank, int unit, bool forward, Part part) const;
  void run_unit(int unit, bool forward, const std::string& pass, const Tasks& inputs);
  Communicator& communicator();
  CollectiveCall call_of(Collective collective) const { return {collective, rules_.activation}; }

  // With the number of its first connection among those of `exchangers_`; nullptr where the GPUs do not end at once.
  std::pair<const Alone*, std::size_t> alone(Collective collective, const std::optional<Beside>& beside);
  WholePass whole_pass(int first, int last, bool forward);
  // The tasks as one, and the join that makes them one; kNoTask for the latter if they are one.
  std::pair<TaskId, TaskId> meet(const Tasks& tasks, TagId tag);
  void run_whole(const WholePass& pass, TagId tag, const Tasks& inputs);

  TaskGraph& graph_;
  TensorRules& rules_;
  std::vector<int> devices_, place_;  // place_: as in PassageRules::known
  std::vector<Works> works_;
  TimeBasis* basis_;
  Tasks last_;
  HostQueue hosts_;
  bool passages_ = false;
  std::optional<Communicator> communicator_;
  std::map<std::tuple<int, int, bool>, WholePass> passes_;
  std::shared_ptr<Exchangers> exchangers_;
  std::map<int, std::size_t>
      offsets_;  // of a call's connections among those of `exchangers_`, by the first one's number
  std::shared_ptr<const Inside> gathering_;
};

}  // namespace slmsim

// One iteration of replicas on streams, for the techniques of PyTorch and DeepSpeed (sim/technique).
//
// Each rank has streams: its GPU's kernels, NCCL's kernels, copies to and from host memory, the CPU that updates its
// part of the optimizer's state, and the I/O of its drives. A task on a stream waits for the stream's previous task and
// for its stated predecessors; all overlap follows from this rule.
//
// Where a plan has tensor parallelism, neighbouring ranks divide each layer and exchange activations on their GPUs' own
// streams. Where it has stages, tasks are created for the ranks of one stage at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/collective/communicator.h"
#include "sim/collective/peers.h"
#include "sim/technique/common/host_queue.h"
#include "sim/technique/common/layer_work.h"
#include "sim/technique/common/lower.h"
#include "sim/technique/common/pipeline_walk.h"
#include "sim/technique/replicas/tensor_exchange.h"

namespace slmsim {

// Tasks: one per rank; kNoTask is not awaited.

class ReplicaRun {
 public:
  explicit ReplicaRun(const LowerRequest& request);

  std::size_t ranks() const { return devices_.size(); }
  std::size_t units() const { return work_.front().size(); }  // embedding, layers, head
  // From here on tasks are those of this pipeline stage's ranks; by default there is one stage.
  void enter(std::size_t stage);
  // First and last unit of the stage.
  std::pair<std::size_t, std::size_t> units_of(std::size_t stage) const;
  // Trained parameters of a unit, and its other weights, before any division.
  double parameters(std::size_t unit) const { return work_.front()[unit].parameters; }
  double parameters() const;
  double frozen(std::size_t unit) const { return work_.front()[unit].frozen; }
  double held(std::size_t unit) const { return parameters(unit) + frozen(unit); }
  // The backward pass ends at the first trained unit.
  bool goes_back(std::size_t unit) const { return work_.front()[unit].backward > Seconds{0}; }
  const ReplicaPlan& plan() const { return request_.plan.replicas(); }
  const Scenario& scenario() const { return request_.scenario; }
  const Gpu& gpu(std::size_t rank) const;
  const OperatorGraph& operators() const { return request_.operators; }
  const Workload& workload() const { return request_.plan.workload; }
  double element() const { return element_bytes(request_.scenario.training.precision); }
  Bytes reduce_bucket() const { return Bytes{request_.scenario.framework.reduce_bucket * gradient_element()}; }
  Bytes gather_bucket() const { return Bytes{request_.scenario.framework.gather_bucket * element()}; }
  double gradient_element() const { return element_bytes(request_.scenario.training.gradient_precision); }

  int micro_batches() const { return request_.micro_batches(); }

  void launch();
  Tasks forward(std::size_t unit, const Tasks& after);
  Tasks backward(std::size_t unit, const Tasks& after);
  // Passes over all units of several micro-batches that exchange nothing, the first after `begin`. Where only times are
  // needed, they are one computation.
  void accumulate(int micro_batches, const Tasks& begin);
  // Host work that the GPU waits for.
  Tasks host_work(Seconds time, const std::string& name, const Tasks& after);
  // The GPU's own Adam for `parameters` parameters per rank.
  Tasks adam(double parameters, const Tasks& after);

  // Kernels of each rank: on its GPU's stream, or beside it as NCCL's are, after these tasks. Kernels of zero time are
  // omitted.
  Tasks kernels(const std::vector<Seconds>& times, const std::string& name);
  Tasks beside(const std::vector<Seconds>& times, const std::string& name, const Tasks& after);
  // Kernels that read and write `moved` bytes of each GPU's memory, to copy tensors into or out of a collective's
  // buffer. A GPU that trains alone runs none: its tensors are complete after these tasks or, without any, its work so far.
  Tasks copy_buffers(Bytes moved, const std::string& name, const Tasks& after);

  // A collective on NCCL's stream; in pieces of `bucket` where that is more than 0.
  Tasks collective(Collective collective, Bytes size, Bytes bucket, const std::string& name, const Tasks& after);

  // FSDP: a collective of the stage's replicas that divide parameters, on NCCL's stream, or among replicas of equal
  // position in these groups, on a second one.
  enum class Reach { kShards, kCopies };
  Tasks collective(Reach reach, Collective collective, Bytes size, const std::string& name, const Tasks& after);
  // An all-reduce by shares on NCCL's stream (sim/collective/peers.h); `sums`: time of each rank to sum its share.
  Tasks sum_by_shares(Bytes size, const std::vector<Seconds>& sums, const std::string& name, const Tasks& after);
  // On NCCL's stream each rank sends its part of `size` to the others, an equal piece to each.
  Tasks all_to_all(Bytes size, const std::string& name, const Tasks& after);
  // From the first rank to all, along a ring.
  Tasks broadcast(Bytes size, const std::string& name, const Tasks& after);
  // The GPUs' next kernels wait for these tasks.
  void wait(const Tasks& after);

  // Copies `size` bytes per rank between its GPU and the nearest memory.
  Tasks copy(bool to_host, Bytes size, const std::string& name, const Tasks& after);
  // CPU Adam for `parameters` parameters per rank, which moves `bytes` of host memory for each.
  Tasks cpu_adam(double parameters, double bytes, const Tasks& after);
  // Bytes per rank between memory and the rank's volume. `by_tensor`: many small requests, limited by
  // Framework::swap_rate.
  Tasks drive(bool write, Bytes size, bool by_tensor, const std::string& name, const Tasks& after);

  // Creates a pipeline's tasks (pipeline_walk.h), in the plan's order.
  void walk(const std::vector<std::vector<Step>>& steps, const PipelineActs& acts) {
    walk_pipeline(graph_, send_order_of(request_.plan), 1, steps, acts);
  }
  // The result of a step between two stages: each rank's part to its counterpart (PipelineActs::send).
  SendEnds send(std::size_t from, std::size_t to, const Step& step, const Tasks& ready, const Tasks& posted);
  // Tasks of the stage's ranks alone as tasks of all ranks, and back.
  Tasks spread(const Tasks& of_stage) const;
  Tasks of_stage(const Tasks& all) const;

  Tasks none() const { return Tasks(ranks(), kNoTask); }
  Tasks gpu_done() const { return gpu_; }
  Lowered finish();

 private:
  Tasks compute(Tasks& stream, const std::vector<Seconds>& times, Tag tag, const Tasks& after,
                const std::vector<Flops>& work = {});
  // The task after which a rank's collective may begin: a stream of collectives is free, these tasks are done and, where they
  // take turns, so are the GPU's kernels.
  TaskId join(const Tasks& stream, TagId tag, const Tasks& after, std::size_t rank);
  // The same of each rank for NCCL's stream.
  Tasks join_nccl(TagId tag, const Tasks& after);
  // The last tasks of a stream of collectives, which the GPUs' next kernels await where they take turns.
  Tasks ended(const Tasks& stream);
  TaskId transfer(TaskId& stream, int connection, Bytes size, TagId tag, TaskId after);
  // Collectives belong to the pass last issued to the GPU.
  Pass pass_ = Pass::kNone;
  int host_connection(std::size_t rank, HostPath path);
  // The path to a drive of a rank's volume, and its medium, on which a write counts as the bytes read in the same time.
  struct DrivePath {
    int path = -1, medium = -1;
    double weight = 1;
  };
  std::vector<DrivePath>& drive_paths(std::size_t rank, bool write, bool by_tensor);
  Tasks pass(std::size_t unit, Pass direction, const Tasks& after);
  // A unit's pass on the tensor-parallel ranks from `first` on.
  void divided_pass(std::size_t first, std::size_t unit, bool forward, TagId tag);
  void exchange(std::size_t first, const std::vector<TensorExchange>& calls, TagId tag);

  const LowerRequest& request_;
  const FsdpPlan* fsdp_;  // null for other plans
  TensorPlan tensor_;
  TensorSizes sizes_;
  std::vector<int> devices_;
  std::vector<std::vector<LayerWork>> work_;  // per rank and unit
  TaskGraph graph_;
  Peers peers_;
  std::optional<Communicator> communicator_;
  struct Part {
    std::vector<std::size_t> ranks;
    Communicator communicator;
  };
  std::map<std::pair<Reach, std::size_t>, std::vector<Part>> parts_;  // by stage
  std::map<std::size_t, Communicator> tensor_groups_;                 // by their first rank
  std::size_t at_ = 0, begin_ = 0, end_ = 0;                          // the stage, and its ranks
  std::vector<Part>& parts(Reach reach);
  HostQueue hosts_{{}};
  std::optional<TimeBasis> basis_;  // of the work issued to the GPUs
  bool in_turn_ = false;            // NCCL's kernels and the others of a GPU run one after the other
  Tasks gpu_, nccl_, across_, in_, out_, cpu_, io_;
  std::map<std::pair<std::size_t, HostPath>, int> host_;
  std::map<std::pair<std::size_t, int>, std::vector<DrivePath>> drives_;
};

}  // namespace slmsim

#include "sim/technique/replicas/replica_run.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/collective/peers.h"
#include "sim/compute/compression.h"
#include "sim/compute/operator_graph.h"

namespace slmsim {
namespace {

// Pieces of a broadcast; more would only add tasks.
constexpr double kMostPieces = 64;

// A drive's rate under asynchronous I/O: the share of its rated throughput that requests reach, and its controller's
// time for each command. A RAID 0 cuts requests into stripes.
std::shared_ptr<const std::vector<Link>> links_of(const LowerRequest& request) {
  const Platform& platform = request.scenario.platform;
  if (std::ranges::all_of(platform.vms, [](const Vm& vm) { return vm.type.inside.volumes.empty(); }))
    return request.network.shared_links();
  auto links = std::make_shared<std::vector<Link>>(request.network.links());
  const Framework& framework = request.scenario.framework;
  for (std::size_t vm = 0; vm < platform.vms.size(); ++vm) {
    const NodeInside& inside = platform.vms[vm].type.inside;
    std::set<int> seen;  // a drive may have parts in several volumes
    for (const Volume& volume : inside.volumes) {
      const Bytes command = volume.drives.size() > 1 ? std::min(inside.stripe, framework.io_block) : framework.io_block;
      for (const int drive : volume.drives) {
        if (!seen.insert(drive).second) continue;
        const int medium = request.network.medium_link(static_cast<int>(vm), drive);
        const Seconds busy = inside.parts[drive].command;
        for (const int link : {medium, medium + 1}) {
          BytesPerSecond& rate = (*links)[link].bandwidth;
          rate = command / (command / (rate * framework.drive_share) + busy);
        }
      }
    }
  }
  return links;
}

// Whether these GPUs are one machine's, and some reach each other through host memory.
bool reach_by_host_memory(const LowerRequest& request, const std::vector<int>& devices) {
  if (spans_vms(request.scenario.platform, devices)) return false;
  for (std::size_t i = 1; i < devices.size(); ++i) {
    if (request.network.route(devices[i - 1], devices[i]).staged) return true;
  }
  return false;
}

}  // namespace

ReplicaRun::ReplicaRun(const LowerRequest& request)
    : request_(request),
      fsdp_(std::get_if<FsdpPlan>(&request.plan.by)),
      tensor_(fsdp_ ? fsdp_->tensor : TensorPlan{}),
      graph_(begin_graph(request, links_of(request))),
      peers_(graph_, request.network, request.scenario.nccl_setup()) {
  const double sequences = micro_batch_sequences(request.plan, request.scenario.training);
  const TensorDivision division{tensor_.tensor, tensor_.tensor > 1 && tensor_.sequence_parallel, request.plan.recompute,
                                tensor_.ends, summed_bytes(request.plan, request.scenario)};
  for (const Stage& stage : request.plan.stages) {
    devices_.insert(devices_.end(), stage.mesh.begin(), stage.mesh.end());
    for (auto& work : layer_work_of_ranks(request.operators, stage, division, sequences, request.scenario))
      work_.push_back(std::move(work));
  }
  end_ = request.plan.stages.front().mesh.size();
  if (fsdp_)
    sizes_ = tensor_sizes(request.operators,
                          Bytes{sequences / fsdp_->replicas * element_bytes(request.scenario.training.precision)});
  std::vector<bool> binds;
  for (const auto& units : work_) binds.push_back(request.hosts_apart || host_binds(units));
  hosts_ = HostQueue(std::move(binds));
  if (devices_.size() > 1) communicator_.emplace(graph_, request.network, request.scenario.nccl_setup(), devices_);
  in_turn_ = reach_by_host_memory(request, devices_);
  assert(workload().steps == 1 && workload().exchange == Exchange::kGradients &&
         "these streams know one step per round");
  if (has_measured_kernels(request)) basis_.emplace();
  gpu_ = nccl_ = across_ = in_ = out_ = cpu_ = io_ = none();
}

const Gpu& ReplicaRun::gpu(std::size_t rank) const { return request_.scenario.platform.devices[devices_[rank]].gpu; }

double ReplicaRun::parameters() const {
  double sum = 0;
  for (const auto& unit : work_.front()) sum += unit.parameters;
  return sum;
}

Tasks ReplicaRun::compute(Tasks& stream, const std::vector<Seconds>& times, Tag tag, const Tasks& after,
                          const std::vector<Flops>& work) {
  const TagId id = graph_.tag(std::move(tag));
  for (std::size_t rank = begin_; rank < end_; ++rank)
    stream[rank] = graph_.compute(devices_[rank], times[rank], id, std::array{stream[rank], after[rank]},
                                  work.empty() ? Work{} : Work{work[rank]});
  return stream;
}

void ReplicaRun::launch() {
  const std::vector<Seconds> times(ranks(), request_.scenario.training.iteration_overhead);
  for (std::size_t stage = request_.plan.stages.size(); stage-- > 0;) {
    enter(stage);
    compute(gpu_, times, {"launch", TaskClass::kLaunch}, none());
  }
  // The host issues gathers, copies and reads, too.
  if (times.front() > Seconds{0}) nccl_ = across_ = in_ = out_ = io_ = gpu_;
}

Tasks ReplicaRun::forward(std::size_t unit, const Tasks& after) { return pass(unit, Pass::kForward, after); }
Tasks ReplicaRun::backward(std::size_t unit, const Tasks& after) { return pass(unit, Pass::kBackward, after); }

Tasks ReplicaRun::pass(std::size_t unit, Pass direction, const Tasks& after) {
  pass_ = direction;
  const bool forward = direction == Pass::kForward, divided = tensor_.tensor > 1;
  const TagId tag = graph_.tag({(forward ? "fwd " : "bwd ") + unit_text(unit, units()), class_of(pass_), pass_});
  if (divided) wait(after);
  for (std::size_t rank = begin_; rank < end_; ++rank) {
    const LayerWork& work = work_[rank][unit];
    if (basis_ && forward) *basis_ += work.basis;
    if (divided) continue;
    const auto stretch = forward ? forward_of(work) : backward_of(work);
    gpu_[rank] = hosts_.run(graph_, rank, devices_[rank], stretch, tag, {gpu_[rank], after[rank]});
  }
  for (std::size_t first = begin_; divided && first < end_; first += static_cast<std::size_t>(tensor_.tensor))
    divided_pass(first, unit, forward, tag);
  return gpu_;
}

void ReplicaRun::accumulate(int micro_batches, const Tasks& begin) {
  assert(tensor_.tensor == 1);
  if (!request_.only_times) {
    for (int batch = 0; batch < micro_batches; ++batch) {
      for (std::size_t unit = 0; unit < units(); ++unit) forward(unit, batch + unit == 0 ? begin : none());
      for (std::size_t unit = units(); unit-- > 0;) backward(unit, none());
    }
    return;
  }
  if (micro_batches == 0) return;
  pass_ = Pass::kBackward;
  const TagId tag = graph_.tag({"passes", class_of(pass_), pass_});
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    for (const LayerWork& work : work_[rank]) {
      if (basis_) *basis_ += work.basis * micro_batches;
    }
    gpu_[rank] = hosts_.run(graph_, rank, devices_[rank], passes_of(work_[rank]).repeated(micro_batches), tag,
                            {gpu_[rank], begin[rank]});
  }
}

Tasks ReplicaRun::host_work(Seconds time, const std::string& name, const Tasks& after) {
  return compute(gpu_, std::vector<Seconds>(ranks(), time), {name, TaskClass::kFramework, pass_}, after);
}

Tasks ReplicaRun::adam(double parameters, const Tasks& after) {
  std::vector<Seconds> times;
  const Software& software = request_.scenario.software;
  // Parts of ZeRO and FSDP are flat.
  const bool whole = std::holds_alternative<ReplicaPlan>(request_.plan.by) && plan().stage == 0;
  const double tensors = whole ? trained_tensors(operators()) : 0;
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    times.push_back(std::max(
        update_time(parameters, gpu(rank), request_.scenario.training.update(), software, basis_ ? &*basis_ : nullptr),
        update_loop_time(tensors, gpu(rank), software)));
  pass_ = Pass::kNone;
  return compute(gpu_, times, {"adam", TaskClass::kOptimizer}, after);
}

Lowered ReplicaRun::finish() { return {std::move(graph_), basis_}; }

Tasks ReplicaRun::collective(Collective collective, Bytes size, Bytes bucket, const std::string& name,
                             const Tasks& after) {
  if (!communicator_ || size <= Bytes{0}) return after;
  const TagId id = graph_.tag({name, TaskClass::kCollective, pass_});
  const double pieces = bucket > Bytes{0} ? std::ceil(size / bucket) : 1;
  for (double piece = 0; piece < pieces; ++piece)
    nccl_ = communicator_->run_beside({collective, size / pieces}, id, join_nccl(id, after));
  return ended(nccl_);
}

Tasks ReplicaRun::ended(const Tasks& stream) {
  if (in_turn_) wait(stream);
  return stream;
}

TaskId ReplicaRun::join(const Tasks& stream, TagId tag, const Tasks& after, std::size_t rank) {
  return graph_.delay({0}, tag, std::array{stream[rank], after[rank], in_turn_ ? gpu_[rank] : kNoTask});
}

Tasks ReplicaRun::join_nccl(TagId tag, const Tasks& after) {
  Tasks ready;
  for (std::size_t rank = 0; rank < ranks(); ++rank) ready.push_back(join(nccl_, tag, after, rank));
  return ready;
}

Tasks ReplicaRun::sum_by_shares(Bytes size, const std::vector<Seconds>& sums, const std::string& name,
                                const Tasks& after) {
  if (!communicator_ || size <= Bytes{0}) return after;
  const TagId id = graph_.tag({name, TaskClass::kCollective, pass_});
  const TagId sum = graph_.tag({"sum of shares", TaskClass::kKernels, pass_});
  nccl_ = all_reduce_by_shares(
      peers_, devices_, size, id, join_nccl(id, after),
      [&](std::size_t rank, TaskId received) { return graph_.delay(sums[rank], sum, std::array{received}); });
  return ended(nccl_);
}

Tasks ReplicaRun::all_to_all(Bytes size, const std::string& name, const Tasks& after) {
  if (!communicator_ || size <= Bytes{0}) return after;
  const TagId id = graph_.tag({name, TaskClass::kCollective, pass_});
  nccl_ = peers_.all_to_all(devices_, size, id, join_nccl(id, after));
  return ended(nccl_);
}

Tasks ReplicaRun::kernels(const std::vector<Seconds>& times, const std::string& name) {
  const TagId id = graph_.tag({name, TaskClass::kOptimizer, pass_});
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (times[rank] > Seconds{0}) gpu_[rank] = graph_.compute(devices_[rank], times[rank], id, std::array{gpu_[rank]});
  }
  return gpu_;
}

Tasks ReplicaRun::beside(const std::vector<Seconds>& times, const std::string& name, const Tasks& after) {
  const TagId id = graph_.tag({name, TaskClass::kKernels, pass_});
  Tasks out = after;
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    if (times[rank] > Seconds{0}) out[rank] = graph_.delay(times[rank], id, std::array{after[rank]});
  }
  return out;
}

Tasks ReplicaRun::copy_buffers(Bytes moved, const std::string& name, const Tasks& after) {
  if (moved <= Bytes{0}) return after;
  if (!communicator_) {
    Tasks out = after;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      if (out[rank] == kNoTask) out[rank] = gpu_[rank];
    }
    return out;
  }
  std::vector<Seconds> times;
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    times.push_back(elementwise_time(moved, gpu(rank), request_.scenario.software));
  return compute(gpu_, times, {name, TaskClass::kBuffer, pass_}, after);
}

Tasks ReplicaRun::broadcast(Bytes size, const std::string& name, const Tasks& after) {
  if (!communicator_ || size <= Bytes{0}) return after;
  const TagId id = graph_.tag({name, TaskClass::kCollective, pass_});
  const double pieces = std::clamp(std::ceil(size / nccl_broadcast_chunk(request_.scenario.nccl)), 1.0, kMostPieces);
  const Tasks ready = join_nccl(id, after);
  for (double piece = 0; piece < pieces; ++piece) {
    TaskId arrived = ready.front();
    for (std::size_t rank = 1; rank < ranks(); ++rank) {
      const int line = peers_.connection(devices_[rank - 1], devices_[rank]);
      arrived = graph_.transfer(line, size / pieces, id, std::array{arrived, ready[rank]});
      nccl_[rank - 1] = nccl_[rank] = arrived;  // a rank ends when it has passed the piece on
    }
  }
  return ended(nccl_);
}

void ReplicaRun::wait(const Tasks& after) {
  const TagId id = graph_.tag({"wait", TaskClass::kCollective, pass_});
  for (std::size_t rank = begin_; rank < end_; ++rank) {
    if (after[rank] != kNoTask) gpu_[rank] = graph_.delay({0}, id, std::array{gpu_[rank], after[rank]});
  }
}

TaskId ReplicaRun::transfer(TaskId& stream, int connection, Bytes size, TagId tag, TaskId after) {
  return stream = graph_.transfer(connection, size, tag, std::array{stream, after});
}

int ReplicaRun::host_connection(std::size_t rank, HostPath path) {
  const auto [at, is_new] = host_.try_emplace({rank, path}, 0);
  if (is_new) at->second = connect_host(graph_, request_, devices_[rank], path);
  return at->second;
}

Tasks ReplicaRun::copy(bool to_host, Bytes size, const std::string& name, const Tasks& after) {
  const TagId id = graph_.tag({name, TaskClass::kCopy, pass_});
  Tasks& stream = to_host ? out_ : in_;
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    transfer(stream[rank], host_connection(rank, to_host ? HostPath::kToMemory : HostPath::kFromMemory), size, id,
             after[rank]);
  return stream;
}

Tasks ReplicaRun::cpu_adam(double parameters, double bytes, const Tasks& after) {
  pass_ = Pass::kNone;
  const TagId id = graph_.tag({"CPU adam", TaskClass::kOptimizer});
  for (std::size_t rank = 0; rank < ranks(); ++rank)
    transfer(cpu_[rank], host_connection(rank, HostPath::kCpu), Bytes{parameters * bytes}, id, after[rank]);
  return cpu_;
}

std::vector<ReplicaRun::DrivePath>& ReplicaRun::drive_paths(std::size_t rank, bool write, bool by_tensor) {
  auto& paths = drives_[{rank, (write ? 1 : 0) + (by_tensor ? 2 : 0)}];
  if (!paths.empty()) return paths;
  const int device = devices_[rank];
  const Volume* volume = volume_of(request_.scenario.platform, device);
  const int vm = request_.scenario.platform.devices[device].vm;
  const NodeInside& inside = request_.scenario.platform.vms[vm].type.inside;
  for (const int drive : volume->drives) {
    Route path = request_.network.drive_route(device, drive, write), medium;
    if (by_tensor)
      path.socket_rate = request_.scenario.framework.swap_rate / static_cast<double>(volume->drives.size());
    const int link = request_.network.medium_link(vm, drive);
    medium.links = {link};
    const BytesPerSecond read = graph_.links()[link].bandwidth;
    const BytesPerSecond written = graph_.links()[static_cast<std::size_t>(link) + 1].bandwidth;
    const auto connect = [&](Route route, Traffic traffic, const char* what) {
      const std::string& name = inside.parts[drive].name;
      const std::string text = fmt::format("{} {}{}", what, name, by_tensor ? ", by tensor" : "");
      return graph_.add_connection({device, device, 1, std::move(route), traffic, text});
    };
    paths.push_back({connect(std::move(path), Traffic::kDrive, write ? "writes" : "reads"),
                     connect(std::move(medium), Traffic::kMedium, write ? "medium writes" : "medium reads"),
                     write ? read / written : 1.0});
  }
  return paths;
}

Tasks ReplicaRun::drive(bool write, Bytes size, bool by_tensor, const std::string& name, const Tasks& after) {
  const TagId id = graph_.tag({name, TaskClass::kDrive, pass_});
  const Framework& framework = request_.scenario.framework;
  const double rounds = std::ceil(size / (framework.io_block * static_cast<double>(framework.io_depth)));
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    const auto& paths = drive_paths(rank, write, by_tensor);
    Tasks parts;
    Seconds farthest{0};
    for (const DrivePath& drive : paths) {
      const Bytes part = size / static_cast<double>(paths.size());
      const std::array before = {io_[rank], after[rank]};
      parts.push_back(graph_.transfer(drive.path, part, id, before));
      parts.push_back(graph_.transfer(drive.medium, part * drive.weight, id, before));
      farthest = std::max(farthest, graph_.connection(drive.path).route.latency);
    }
    // Each round of requests waits one round trip of its slowest drive; the transfer has waited once.
    io_[rank] = graph_.delay(farthest * std::max(0.0, 2 * rounds - 1), id, parts);
  }
  return io_;
}

}  // namespace slmsim

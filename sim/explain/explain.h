// What-if analysis: the limits of a technique, and the changes that would help; each number is a prediction of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/explain/limits.h"
#include "sim/predict/predict.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

// A change that a user can make, and the prediction with it.
struct WhatIf {
  std::vector<std::string> set;  // overrides: "nccl.NCCL_ALGO=Tree"
  Seconds iteration, job;
};

// "nccl.NCCL_ALGO=Tree --set ...", to follow the first --set on a shell's command line; of many, the first two.
std::string set_words(const std::vector<std::string>& set);

struct Explanation {
  Prediction prediction;
  Limits limits;                 // empty where the prediction is not kOk
  std::vector<WhatIf> what_ifs;  // those that save at least a hundredth, the fastest first
  std::string advice;            // one sentence: the first change to make and its gain
};

// The scenario with further overrides; nothing where they are invalid.
using Reload = std::function<std::optional<Scenario>(const Overrides& more)>;

struct ExplainOptions {
  const Technique* only = nullptr;
  bool in_depth = true;   // find_limits()
  Reload reload = {};     // absent: no what-ifs
  bool foremost = false;  // only each model's three fastest, and its fastest on the most GPUs
  // Arguments: explanations done, their total, and simulated cases of the current one.
  std::function<void(std::size_t, std::size_t, std::size_t)> on_progress = {};
  std::function<bool()> stop = {};  // called between cases; throws Stopped where it returns true
  std::size_t threads = 1;          // more than one: `stop` is called from several at once
  bool partial = false;             // when stopped, return the finished explanations instead of throwing
};

// In the order of predict(): model, group, technique.
std::vector<Explanation> explain(const Scenario& scenario, const ExplainOptions& options = {});

// Changes that a user could make to speed up a technique, as overrides of the scenario.

// For a prediction that runs: kernel settings of its VMs, NCCL's settings, a compiler or flash attention where the stack has
// them, mixed precision in place of fp32, the number of micro-batches, sequences dealt by speed to unlike GPUs.
std::vector<Overrides> changes_to_try(const Scenario& scenario, const Prediction& prediction, const Group& group);

// The 16-bit format that all these GPUs compute fast in, bf16 before fp16.
std::optional<Precision> half_precision(const Platform& platform, const std::vector<int>& devices);

// The group with its VMs in another order, which rings and pipelines follow: every order of up to four VMs; for more, the
// reverse and each swap of two neighbours.
std::vector<Group> other_orders(const Platform& platform, const Group& group);

// Values of NCCL's and TCP's settings to try, and their form for --set. `slmsim plan` tries the values listed here where the
// scenario allows it; `slmsim explain` starts from the scenario's own values.

struct SocketSetting {
  int threads = 1, sockets = 1;  // NCCL_SOCKET_NTHREADS, NCCL_NSOCKS_PERTHREAD
};
// NCCL's documentation gives 2 x 8 on AWS and 4 x 1 on Google Cloud and allows 64 in all; this list adds the half steps.
const std::vector<SocketSetting>& socket_settings();
void set_sockets(Nccl& nccl, const SocketSetting& setting);

const std::vector<int>& channel_settings();  // NCCL_MIN_NCHANNELS

struct BufferSetting {
  Bytes most;  // maximum of tcp_rmem and tcp_wmem
  bool slow_start_after_idle = true;
};
// 64 MiB is the value in ESnet's host tuning (fasterdata.es.net) for 10 Gbit/s over up to 100 ms.
const std::vector<BufferSetting>& buffer_settings();
void set_buffers(Platform& platform, const BufferSetting& setting);

// As overrides.
std::string threads_override(int threads);
std::string sockets_override(int per_thread);
std::string channels_override(int channels);
std::string algorithm_override(NcclAlgorithm algorithm);
std::string micro_batches_override(const Technique& technique, int micro_batches);
// Sequences dealt by speed; empty where the group's GPUs are alike, or the technique deals so already or cannot.
Overrides split_by_speed(const Scenario& scenario, const Technique& technique, const Group& group);
Overrides buffer_overrides(const Vm& vm, Bytes receive, Bytes send);  // TCP's
std::string no_slow_start_after_idle(const Vm& vm);
// "16MiB".
std::string size_text(Bytes size);

}  // namespace slmsim

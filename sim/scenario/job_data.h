// Effects that lengthen a job's iterations without stopping them: late data, and varying speed of GPUs and links. Two
// sections of a scenario's `job`.
//
//   data: {from: amst, rate: 500 MB/s, bytes_per_token: 2, prefetch: yes, cache: 1 GB/s}
//   jitter: {gpu: {sd: 0.03, shape: normal}, rate: {sd: 0.2, shape: lognormal}, lasts: iteration, states: 32}
//
// Nothing is assumed: without `data` the data are always available, without `jitter` all iterations are equal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/platform/platform.h"

namespace slmsim {

// A storage location. kLocal: each VM's own disk, lost with a preempted VM. kStore: storage that outlives VMs, with a
// rate per VM (a network disk, an object store). kSite: at a site, over the platform's links.
enum class StoragePlace { kLocal, kStore, kSite };

// Training data, as tokens on a disk.
struct DataRules {
  StoragePlace place = StoragePlace::kStore;
  int site = -1;        // of kSite, index into Platform::sites
  BytesPerSecond rate;  // read rate of each VM: from its disk or the store; for kSite, of each VM there
  double bytes_per_token = 0;
  bool prefetch = true;                 // the next iteration's data are read during the current one; else before it
  std::optional<BytesPerSecond> cache;  // rate at which each VM reads its cached data, from the second epoch on

  bool operator==(const DataRules&) const = default;
};

// Distribution of times about their mean, which is the predicted time. kExponential: the excess over a minimum is
// exponential.
enum class JitterShape { kNormal, kLognormal, kExponential };
const std::vector<std::string>& jitter_shape_names();  // "normal", "lognormal", "exponential"

struct Scatter {
  double sd = 0;  // standard deviation over the mean
  JitterShape shape = JitterShape::kNormal;

  bool operator==(const Scatter&) const = default;
};

struct JitterRules {
  std::optional<Scatter> gpu;   // of each GPU's computation time
  std::optional<Scatter> rate;  // of the time per byte of each link between sites
  std::optional<Scatter> rtt;   // of its round trip
  bool whole_job = false;       // a draw lasts for a job; else for an iteration or a round's step
  int states = 32;              // number of drawn and simulated iterations

  bool operator==(const JitterRules&) const = default;
};

// `epochs`: passes over the data.
DataRules read_job_data(const Node& node, const Platform& platform, int epochs, Reading& reading);
JitterRules read_jitter(const Node& node, const Platform& platform, Reading& reading);

// The value of a key such as `to` or `from`: "local", "store" or a site's name; the site must have VMs. `purpose`: the
// role of those VMs.
struct NamedPlace {
  StoragePlace place = StoragePlace::kStore;
  int site = -1;
};
std::optional<NamedPlace> read_place(Fields& fields, const FileKey& key, const Platform& platform,
                                     const std::string& purpose);

}  // namespace slmsim

// What makes a job's iterations longer than the prediction without stopping them: data that come too late, and GPUs and links
// that are not always equally fast. Two sections of a scenario's `job`.
//
//   data: {from: amst, rate: 500 MB/s, bytes_per_token: 2, prefetch: yes, cache: 1 GB/s}
//   jitter: {gpu: {sd: 0.03, shape: normal}, rate: {sd: 0.2, shape: lognormal}, lasts: iteration, states: 32}
//
// Nothing is assumed: without `data` the data are there, without `jitter` all iterations are alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/fields.h"
#include "sim/platform/platform.h"

namespace slmsim {

// Where something is kept. kLocal: each VM's own disk, which a preempted VM takes along. kStore: what outlives VMs, at a rate of
// each VM (a network disk, an object store). kSite: at a site, over the platform's links.
enum class StoragePlace { kLocal, kStore, kSite };

// Training data, as tokens on a disk.
struct DataRules {
  StoragePlace place = StoragePlace::kStore;
  int site = -1;        // of kSite, index into Platform::sites
  BytesPerSecond rate;  // that each VM reads: of its disk or the store; of kSite each VM there
  double bytes_per_token = 0;
  bool prefetch = true;                 // the next iteration's are read while one is computed; else before it
  std::optional<BytesPerSecond> cache;  // what each VM reads of what it has kept, from the second epoch on

  bool operator==(const DataRules&) const = default;
};

// How times scatter about their mean, which is what is predicted. kExponential: what is beyond a least time is exponential.
enum class JitterShape { kNormal, kLognormal, kExponential };
const std::vector<std::string>& jitter_shape_names();  // "normal", "lognormal", "exponential"

struct Scatter {
  double sd = 0;  // standard deviation over the mean
  JitterShape shape = JitterShape::kNormal;

  bool operator==(const Scatter&) const = default;
};

struct JitterRules {
  std::optional<Scatter> gpu;   // of what each GPU computes
  std::optional<Scatter> rate;  // of the time per byte of each link between sites
  std::optional<Scatter> rtt;   // of its round trip
  bool whole_job = false;       // what is drawn lasts for a job; else for an iteration or a round's step
  int states = 32;              // so many iterations are drawn and simulated

  bool operator==(const JitterRules&) const = default;
};

// `epochs`: passes over the data.
DataRules read_job_data(const Node& node, const Platform& platform, int epochs, Reading& reading);
JitterRules read_jitter(const Node& node, const Platform& platform, Reading& reading);

// Of a key such as `to` or `from`, "local", "store" or a site's name, which must have VMs. `purpose`: what those VMs do there.
struct NamedPlace {
  StoragePlace place = StoragePlace::kStore;
  int site = -1;
};
std::optional<NamedPlace> read_place(Fields& fields, const FileKey& key, const Platform& platform,
                                     const std::string& purpose);

}  // namespace slmsim

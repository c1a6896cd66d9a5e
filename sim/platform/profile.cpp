#include "sim/platform/profile.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/text.h"

namespace slmsim {

const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"gemm-nn", "gemm-nt", "gemm-tn", "adam", "adam_foreach", "adam_single"};
    for (const char* family : {"softmax", "fused_softmax", "mask", "dropout", "norm", "rmsnorm", "bias", "rotary",
                               "gelu", "swiglu", "residual", "addition", "embedding", "loss", "flash"}) {
      for (const char* pass : {"-forward", "-backward"}) names.push_back(std::string(family) + pass);
    }
    std::ranges::sort(names);
    return names;
  }();
  return kNames;
}

bool is_kernel(const std::string& name) {
  return std::binary_search(kernel_names().begin(), kernel_names().end(), name);
}

namespace {

constexpr const char* kSchema = "slmsim/gpu-profile/1";
constexpr Range<Seconds> kKernelTime{{1e-8}, {1e4}};
constexpr Range<std::int64_t> kSizes{1, std::int64_t{1} << 50};
constexpr Range<Bytes> kCopySizes{{1}, {1e15}};
constexpr Range<std::int64_t> kRanks{1, 1 << 20};

auto sizes_of(const KernelPoint& point) { return std::tie(point.batch, point.m, point.n, point.k); }

constexpr const char* kReportedOnly = "Recorded with the measurement; the simulator does not use it.";

// Keys of a point besides its time; the simulator does not use them.
constexpr const char* kSpread[] = {"low",   "high",     "least",     "most",  "samples", "launches",
                                   "error", "outliers", "imprecise", "drift", "clock",   "throttled"};
constexpr const char* kFacts[] = {
    "date",    "command",     "compute_capability", "multiprocessors", "memory",       "l2_cache",
    "driver",  "cuda_driver", "cuda_runtime",       "greatest_clock",  "memory_clock", "cublas",
    "library", "nccl",        "left_out",           "sources",         "remarks"};

Seconds time_of(Fields& fields) {
  for (const char* key : kSpread) fields.ignore({key, kReportedOnly});
  return fields.quantity<Seconds>({"time", "Median time of one."}, kKernelTime);
}

// Reads each map of a list; keys that `read` does not read are errors.
template <class Read>
void each_of(Fields& fields, const FileKey& key, Reading& reading, Read read) {
  std::size_t index = 0;
  for (const Node* item : fields.list(key, {ValueType::map()})) {
    Fields one(*item, fmt::format("{}.{}", fields.path_of(key.name), index++), reading);
    read(one);
    one.done();
  }
}

void read_kernel(Fields& fields, GpuProfile& profile) {
  const std::string name = fields.name({"kernel", "The kernel, as slmsim shapes names it."});
  if (!name.empty() && !fields.describing() && !is_kernel(name))
    fields.error("kernel", fmt::format("{}: there is no kernel \"{}\"; {}", fields.path_of("kernel"),
                                       printable(name).substr(0, 64), did_you_mean(name, kernel_names())));
  const std::size_t precision = fields.choice({"precision", "Precision of its operands."}, precision_names());
  KernelPoint point;
  point.batch = fields.integer({"batch", "Products per launch; 1 for other kernels."}, kSizes);
  point.m = fields.integer({"m", "Rows of the result."}, kSizes);
  point.n = fields.integer({"n", "Columns of the result."}, kSizes);
  point.k = fields.integer(
      {"k", "Summed dimension of a product, rows of an embedding's table, head width of flash attention; otherwise 1."},
      kSizes);
  point.time = time_of(fields);
  profile.kernels[name][precision].push_back(point);
}

// Copies between two GPUs, used where there are no collectives.
struct PeerCopies {
  BytesPerSecond most;
  Seconds least;
};

void read_transfer(Fields& fields, MeasuredBuses& buses, PeerCopies& peers) {
  static const std::vector<std::string> kKinds = {"host-to-device", "device-to-host", "device-to-device",
                                                  "peer-to-peer"};
  const std::size_t kind = fields.choice({"kind", "Source and destination of the copy."}, kKinds);
  const bool pinned = fields.text({"memory", "Kind of host memory: pinned or another."}, "") == "pinned";
  const Bytes size = fields.quantity<Bytes>({"size", "Bytes copied."}, kCopySizes);
  const Seconds time = time_of(fields);
  const BytesPerSecond rate = size / time;
  if (kind == 0 && pinned) buses.to_device = std::max(buses.to_device, rate);
  if (kind == 1 && pinned) buses.from_device = std::max(buses.from_device, rate);
  if (kind != 3) return;
  peers.most = std::max(peers.most, rate);
  peers.least = peers.least > Seconds{0} ? std::min(peers.least, time) : time;
}

// Measurements of one collective inside a VM.
struct InsideVm {
  BytesPerSecond most;
  Bytes shortest;
  Seconds step;  // of the shortest
};

void read_collective(Fields& fields, std::array<InsideVm, 5>& found) {
  static const std::vector<std::string> kNames = {"all-reduce", "reduce-scatter", "all-gather", "broadcast",
                                                  "send-receive"};
  const std::size_t which = fields.choice({"collective", "Name of the collective."}, kNames);
  const double ranks = static_cast<double>(fields.integer({"ranks", "Number of GPUs that took part."}, kRanks));
  const bool one_host = fields.integer({"hosts", "Number of machines with these GPUs."}, kRanks) == 1;
  const Bytes size = fields.quantity<Bytes>({"size", "The size of the buffer."}, kCopySizes);
  const Seconds time = time_of(fields);
  for (const char* key : {"algbw", "busbw", "wrong"}) fields.ignore({key, kReportedOnly});
  if (!one_host || ranks < 2) return;
  // Share of the buffer that crosses each link of a ring, and number of steps (nccl-tests, doc/PERFORMANCE.md).
  const double steps = which == 0 ? 2 * (ranks - 1) : which < 3 ? ranks - 1 : 1;
  const double part = which < 3 ? steps / ranks : 1;
  InsideVm& one = found[which];
  one.most = std::max(one.most, size * part / time);
  if (one.shortest > Bytes{0} && one.shortest <= size) return;
  one.shortest = size;
  one.step = time / steps;
}

}  // namespace

bool is_product(const std::string& kernel) { return kernel.starts_with("gemm-"); }
bool is_flash(const std::string& kernel) { return kernel.starts_with("flash-"); }

bool is_profile(const Node& node) {
  const Node* schema = node.find("schema");
  return schema && schema->scalar.starts_with("slmsim/gpu-profile/");
}

GpuProfile read_profile(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  GpuProfile profile;
  if (const std::string schema = fields.text({"schema", "Schema of the file, slmsim/gpu-profile/1."}, "");
      schema != kSchema)
    fields.error("schema", fmt::format("{} is \"{}\"; {} is expected, as slmsim-calibrate writes it",
                                       fields.path_of("schema"), printable(schema).substr(0, 64), kSchema));
  profile.name = fields.name({"name", "Name of the profile."});
  profile.gpu = fields.text({"gpu", "Name of the GPU as its driver reports it."}, "");
  for (const char* key : kFacts) fields.ignore({key, kReportedOnly});
  const FileKey limit{"power_limit", "Power limit during the measurement; used where a VM states another limit.",
                      "the limit of its board"};
  if (fields.has(limit.name)) profile.power_limit = fields.quantity<Watts>(limit, {{1}, {1e5}});
  const FileKey host{"host",
                     "Time that the host of its machine needs to launch operators, as a factor on the software stacks' "
                     "figures; used where the VM's type states none.",
                     "1"};
  if (fields.has(host.name)) profile.host = fields.number(host, kHostShare);
  each_of(fields, {"launches", "Times of empty kernels."}, reading, [&](Fields& launch) {
    const std::string kind = launch.text({"kind", "Launch mode: in-a-row or another."}, "");
    const Seconds time = time_of(launch);
    if (kind == "in-a-row") profile.launch = time;
  });
  each_of(fields, {"kernels", "Times of kernels by their sizes."}, reading,
          [&](Fields& kernel) { read_kernel(kernel, profile); });
  PeerCopies peers;
  each_of(fields, {"transfers", "Times of copies."}, reading,
          [&](Fields& transfer) { read_transfer(transfer, profile.buses, peers); });
  std::array<InsideVm, 5> found;
  each_of(fields, {"collectives", "Times of NCCL's collectives."}, reading,
          [&](Fields& collective) { read_collective(collective, found); });
  profile.buses.peer = peers.most;
  profile.buses.peer_latency = peers.least;
  if (const auto best = std::ranges::find_if(found, [](const auto& one) { return one.most.value > 0; });
      best != found.end()) {
    profile.buses.peer = best->most;
    profile.buses.peer_latency = best->step;
  }
  for (auto& [name, by_precision] : profile.kernels) {
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      auto& points = by_precision[p];
      std::ranges::stable_sort(points, [](const auto& a, const auto& b) { return sizes_of(a) < sizes_of(b); });
      const auto same = [](const auto& a, const auto& b) { return sizes_of(a) == sizes_of(b); };
      if (const auto twice = std::ranges::adjacent_find(points, same); twice != points.end())
        reading.error(node.place, fmt::format("{} {} {}x{}x{}x{} appears twice in the profile; keep one of them", name,
                                              precision_names()[p], twice->batch, twice->m, twice->n, twice->k));
    }
  }
  fields.done();
  return profile;
}

}  // namespace slmsim

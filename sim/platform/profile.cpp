#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/platform/gpu.h"

namespace slmsim {
namespace {

// Bytes that a kernel moves per element of m x n: elements in training precision, and further bytes. The loss keeps its
// logarithms in fp32, dropout a mask of one byte, Adam fp32 state and, with it, weights in training precision.
struct Traffic {
  double elements = 2, bytes = 0;
};
Traffic traffic_of(const std::string& name, bool copy) {
  static const std::map<std::string, Traffic> kTraffic = {
      {"softmax-forward", {2, 0}},        {"softmax-backward", {3, 0}},
      {"norm-forward", {2, 0}},           {"norm-backward", {5, 0}},
      {"gelu-forward", {2, 0}},           {"gelu-backward", {3, 0}},
      {"swiglu-forward", {3, 0}},         {"swiglu-backward", {5, 0}},
      {"residual-forward", {3, 1}},       {"residual-backward", {2, 1}},
      {"loss-forward", {1, 4}},           {"loss-backward", {1, 4}},
      {"rmsnorm-backward", {5, 0}},       {"fused_softmax-forward", {1.5, 0}},
      {"fused_softmax-backward", {2, 0}}, {"mask-forward", {4, 0}},
      {"mask-backward", {4, 0}},          {"dropout-forward", {2, 1}},
      {"dropout-backward", {2, 1}},       {"bias-backward", {1, 0}},
      {"addition-forward", {3, 0}},       {"addition-backward", {1, 0}},
      {"embedding-forward", {3, 0}},      {"embedding-backward", {5, 0}}};
  if (name == "adam") return {copy ? 2.0 : 1.0, 24};
  // Seven steps that read and write fp32 arrays seventeen times, and the gradient twice; plus a copy.
  if (name.starts_with("adam_")) return {copy ? 3.0 : 2.0, copy ? 68.0 : 64.0};
  const auto at = kTraffic.find(name);
  return at == kTraffic.end() ? Traffic{} : at->second;
}

// Forward and backward of the causal half of two products.
Flops flash_flops(const std::string& name, double product) {
  return Flops{(name == "flash-backward" ? 2.5 : 1.0) * product};
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

constexpr const char* kSchema = "slmsim/gpu-profile/1";
constexpr Range<Seconds> kKernelTime{{1e-8}, {1e4}};
constexpr Range<std::int64_t> kSizes{1, std::int64_t{1} << 50};
constexpr Range<Bytes> kCopySizes{{1}, {1e15}};
constexpr Range<std::int64_t> kRanks{1, 1 << 20};

auto sizes_of(const KernelPoint& point) { return std::tie(point.batch, point.m, point.n, point.k); }

constexpr const char* kReportedOnly = "Recorded with the measurement; the simulator does not use it.";

constexpr const char* kFacts[] = {
    "date",    "command",     "compute_capability", "multiprocessors", "memory",       "l2_cache",
    "driver",  "cuda_driver", "cuda_runtime",       "greatest_clock",  "memory_clock", "cublas",
    "library", "nccl",        "left_out",           "sources",         "remarks"};

Seconds time_of(Fields& fields) {
  for (const char* key : kSpreadKeys) fields.ignore({key, kReportedOnly});
  return fields.quantity<Seconds>({"time", "Median time of one."}, kKernelTime);
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
  fields.each_item({"launches", "Times of empty kernels."}, [&](Fields& launch) {
    const std::string kind = launch.text({"kind", "Launch mode: in-a-row or another."}, "");
    const Seconds time = time_of(launch);
    if (kind == "in-a-row") profile.launch = time;
  });
  fields.each_item({"kernels", "Times of kernels by their sizes."},
                   [&](Fields& kernel) { read_kernel(kernel, profile); });
  PeerCopies peers;
  fields.each_item({"transfers", "Times of copies."},
                   [&](Fields& transfer) { read_transfer(transfer, profile.buses, peers); });
  std::array<InsideVm, 5> found;
  fields.each_item({"collectives", "Times of NCCL's collectives."},
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

KernelSizes sizes_of(const KernelShape& kernel) {
  return {std::log(static_cast<double>(kernel.batch)), std::log(static_cast<double>(kernel.m)),
          std::log(static_cast<double>(kernel.n)), std::log(static_cast<double>(kernel.k))};
}

Seconds ideal_time(const Gpu& gpu, Precision precision, const KernelShape& kernel, Seconds launch) {
  const double size = element_bytes(precision);
  const double batch = static_cast<double>(kernel.batch), m = static_cast<double>(kernel.m),
               n = static_cast<double>(kernel.n), k = static_cast<double>(kernel.k);
  if (is_product(kernel.name)) {
    const Flops flops{2 * batch * m * n * k};
    const Bytes bytes{size * batch * (m * k + k * n + m * n)};
    return std::max(flops / peak_of(gpu, precision), bytes / gpu.memory_bandwidth) + launch;
  }
  if (is_flash(kernel.name)) {
    const Bytes bytes{size * batch * 2 * (m * k + n * k)};
    return std::max(flash_flops(kernel.name, 2 * batch * m * n * k) / peak_of(gpu, precision),
                    bytes / gpu.memory_bandwidth) +
           launch;
  }
  // The gradient of an embedding's table is cleared first.
  const double cleared = kernel.name == "embedding-backward" ? k * n * size : 0;
  return Bytes{m * n * kernel_bytes(kernel.name, precision) + cleared} / gpu.memory_bandwidth + launch;
}

double kernel_bytes(const std::string& kernel, Precision precision) {
  const double size = element_bytes(precision);
  const Traffic traffic = traffic_of(kernel, size < element_bytes(Precision::kFp32));
  return traffic.elements * size + traffic.bytes;
}

KernelTable::KernelTable(const Gpu& gpu, const GpuProfile& profile) : launch_(profile.launch) {
  std::array<std::array<std::vector<double>, kPrecisions>, 2> ratios;
  std::array<std::vector<double>, 2> any;
  for (const auto& [name, by_precision] : profile.kernels) {
    const std::size_t kind = is_product(name) ? 1 : 0;
    for (std::size_t p = 0; p < kPrecisions; ++p) {
      Series& series = kernels_[name][p];
      std::vector<double> own;
      for (const auto& point : by_precision[p]) {
        const KernelShape shape{name, point.batch, point.m, point.n, point.k};
        const Seconds ideal = ideal_time(gpu, static_cast<Precision>(p), shape, launch_);
        own.push_back(std::log(point.time / ideal));
        series.samples.push_back({point, sizes_of(shape), own.back()});
      }
      ratios[kind][p].insert(ratios[kind][p].end(), own.begin(), own.end());
      any[kind].insert(any[kind].end(), own.begin(), own.end());
      series.ratio = median_of(std::move(own));
    }
  }
  for (std::size_t kind = 0; kind < 2; ++kind) {
    known_[kind] = !any[kind].empty();
    for (std::size_t p = 0; p < kPrecisions; ++p)
      class_ratios_[kind][p] = median_of(ratios[kind][p].empty() ? any[kind] : std::move(ratios[kind][p]));
  }
}

const std::vector<KernelSample>* KernelTable::find(const std::string& kernel, Precision precision) const {
  const auto at = kernels_.find(kernel);
  if (at == kernels_.end()) return nullptr;
  const auto& samples = at->second[static_cast<std::size_t>(precision)].samples;
  return samples.empty() ? nullptr : &samples;
}

double KernelTable::usual_ratio(const std::string& kernel, Precision precision) const {
  const auto p = static_cast<std::size_t>(precision);
  if (find(kernel, precision)) return kernels_.find(kernel)->second[p].ratio;
  return class_ratios_[is_product(kernel) ? 1 : 0][p];
}

bool Profiles::attach(const std::string& name, Gpu& gpu) {
  const auto profile = profiles_.find(name);
  if (profile == profiles_.end()) return false;
  gpu.measured_on = profile->second.gpu;
  gpu.buses = profile->second.buses;
  gpu.measured_limit = profile->second.power_limit;
  gpu.host = profile->second.host.value_or(gpu.host);
  if (profile->second.kernels.empty() && profile->second.launch <= Seconds{0}) return true;
  auto& table = tables_[{name, gpu.memory_bandwidth, gpu.peak}];
  if (!table) table = std::make_shared<const KernelTable>(gpu, profile->second);
  gpu.kernels = table;
  return true;
}

}  // namespace slmsim

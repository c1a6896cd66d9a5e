#include "sim/platform/profile.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "sim/platform/gpu.h"

namespace slmsim {
namespace {

constexpr const char* kSchema = "slmsim/gpu-profile/1";
constexpr Range<Seconds> kKernelTime{{1e-8}, {1e4}};
constexpr Range<std::int64_t> kSizes{1, std::int64_t{1} << 50};

auto sizes_of(const KernelPoint& point) { return std::tie(point.batch, point.m, point.n, point.k); }

// What a point tells beside its time; the simulator has no use for it.
constexpr const char* kSpread[] = {"low",   "high",     "least",     "most",  "samples", "launches",
                                   "error", "outliers", "imprecise", "drift", "clock",   "throttled"};
constexpr const char* kFacts[] = {
    "date",        "command",      "compute_capability", "multiprocessors", "memory",      "l2_cache", "driver",
    "cuda_driver", "cuda_runtime", "greatest_clock",     "memory_clock",    "power_limit", "cublas",   "library",
    "nccl",        "transfers",    "collectives",        "left_out"};

Seconds time_of(Fields& fields) {
  for (const char* key : kSpread) fields.ignore(key);
  return fields.quantity<Seconds>("time", kKernelTime);
}

}  // namespace

const std::vector<KernelPoint>* GpuProfile::find(const std::string& kernel, const std::string& precision) const {
  const auto at = kernels.find({kernel, precision});
  return at == kernels.end() ? nullptr : &at->second;
}

bool is_profile(const Node& node) {
  const Node* schema = node.find("schema");
  return schema && schema->scalar.starts_with("slmsim/gpu-profile/");
}

GpuProfile read_profile(const Node& node, const std::string& path, Reading& reading) {
  Fields fields(node, path, reading);
  GpuProfile profile;
  if (const std::string schema = fields.text("schema", ""); schema != kSchema)
    fields.error("schema", fmt::format("{} is \"{}\"; {} is expected, as slmsim-calibrate writes it",
                                       fields.path_of("schema"), printable(schema).substr(0, 64), kSchema));
  profile.name = fields.name("name");
  profile.gpu = fields.text("gpu", "");
  for (const char* key : kFacts) fields.ignore(key);
  std::size_t index = 0;
  for (const Node* item : fields.list("launches")) {
    Fields launch(*item, fmt::format("{}.{}", fields.path_of("launches"), index++), reading);
    const std::string kind = launch.text("kind", "");
    const Seconds time = time_of(launch);
    if (kind == "in-a-row") profile.launch = time;
    launch.done();
  }
  index = 0;
  for (const Node* item : fields.list("kernels")) {
    Fields kernel(*item, fmt::format("{}.{}", fields.path_of("kernels"), index++), reading);
    const std::string name = kernel.name("kernel");
    const std::string& precision = precision_names()[kernel.choice("precision", precision_names())];
    KernelPoint point;
    point.batch = kernel.integer("batch", kSizes);
    point.m = kernel.integer("m", kSizes);
    point.n = kernel.integer("n", kSizes);
    point.k = kernel.integer("k", kSizes);
    point.time = time_of(kernel);
    kernel.done();
    profile.kernels[{name, precision}].push_back(point);
  }
  for (auto& [key, points] : profile.kernels) {
    std::stable_sort(points.begin(), points.end(),
                     [](const auto& a, const auto& b) { return sizes_of(a) < sizes_of(b); });
    const auto same = [](const auto& a, const auto& b) { return sizes_of(a) == sizes_of(b); };
    if (const auto twice = std::adjacent_find(points.begin(), points.end(), same); twice != points.end())
      reading.error(node.place, fmt::format("{} {} {}x{}x{}x{} stands twice in the profile; keep one of them",
                                            key.first, key.second, twice->batch, twice->m, twice->n, twice->k));
  }
  fields.done();
  return profile;
}

}  // namespace slmsim

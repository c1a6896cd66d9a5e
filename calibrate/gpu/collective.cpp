#include "calibrate/gpu/collective.h"

#include <algorithm>

#include "calibrate/common/text.h"
#include "sim/base/name_in.h"

namespace slmsim::calibrate {
namespace {

constexpr double kElement = 4;  // bytes of a float

}  // namespace

const std::vector<std::string>& collective_names() {
  static const std::vector<std::string> kNames = {"all-reduce", "reduce-scatter", "all-gather", "broadcast",
                                                  "send-receive"};
  return kNames;
}

Sizes sizes_of(Collective collective, int ranks, double size) {
  const auto whole = static_cast<std::size_t>(size / kElement);
  const auto n = static_cast<std::size_t>(ranks);
  const std::size_t part = std::max<std::size_t>(1, whole / n);
  Sizes sizes{std::max<std::size_t>(1, whole), std::max<std::size_t>(1, whole), 0};
  if (collective == Collective::kReduceScatter) sizes = {part * n, part, 0};
  if (collective == Collective::kAllGather) sizes = {part, part * n, 0};
  sizes.bytes = kElement * static_cast<double>(std::max(sizes.sent, sizes.received));
  return sizes;
}

double bus_factor(Collective collective, int ranks) {
  const double n = ranks;
  switch (collective) {
    case Collective::kAllReduce:
      return 2 * (n - 1) / n;
    case Collective::kReduceScatter:
    case Collective::kAllGather:
      return (n - 1) / n;
    case Collective::kBroadcast:
    case Collective::kSendReceive:
      break;
  }
  return 1;
}

std::vector<double> message_sizes(double least, double most) {
  std::vector<double> sizes;
  for (double size = least; size < most; size *= 2) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

double algorithm_bandwidth(const CollectiveResult& result) {
  return result.seconds > 0 ? result.bytes / result.seconds : 0;
}

double bus_bandwidth(const CollectiveResult& result) {
  return algorithm_bandwidth(result) * bus_factor(result.collective, result.ranks);
}

std::string table_header() {
  return format("# %-14s %12s %12s %10s %10s %8s %8s\n# %-14s %12s %12s %10s %10s %8s %8s\n", "collective", "size",
                "time", "algbw", "busbw", "#wrong", "spread", "", "(B)", "(us)", "(GB/s)", "(GB/s)", "", "(%)");
}

std::string table_line(const CollectiveResult& r) {
  const double spread = r.seconds > 0 ? 100 * (r.high - r.low) / 2 / r.seconds : 0;
  return format("  %-14s %12.0f %12.2f %10.3f %10.3f %8zu %8.1f\n", name_in(collective_names(), r.collective).c_str(),
                r.bytes, 1e6 * r.seconds, 1e-9 * algorithm_bandwidth(r), 1e-9 * bus_bandwidth(r), r.wrong, spread);
}

std::string collective_line(const CollectiveResult& r) {
  return format(
      "{collective: %s, ranks: %d, hosts: %d, size: %s, time: %s, low: %s, high: %s, samples: %d, algbw: %.4g GB/s, "
      "busbw: %.4g GB/s, wrong: %zu}",
      name_in(collective_names(), r.collective).c_str(), r.ranks, r.hosts, size_text(r.bytes).c_str(),
      time_text(r.seconds).c_str(), time_text(r.low).c_str(), time_text(r.high).c_str(), r.samples,
      1e-9 * algorithm_bandwidth(r), 1e-9 * bus_bandwidth(r), r.wrong);
}

}  // namespace slmsim::calibrate

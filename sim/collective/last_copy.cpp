#include "sim/collective/last_copy.h"

#include <algorithm>
#include <limits>
#include <map>

namespace slmsim {
namespace {

// Inferred: all-reduces of 2 to 8 A100 in public tables take 2 (n-1) + 0.4 steps of 235 GB/s on 24 channels.
constexpr BytesPerSecond kChannelCopy{24.5e9};

}  // namespace

std::vector<std::vector<BytesPerSecond>> last_copies(const Network& network, std::span<const std::vector<int>> rings,
                                                     int channels, const Relays& relays) {
  std::map<int, double> uses;
  std::vector<std::vector<Route>> ways;  // to each rank, from its predecessor
  for (const auto& devices : rings) {
    ways.emplace_back();
    for (std::size_t rank = 0; rank < devices.size(); ++rank) {
      const int from = devices[rank == 0 ? devices.size() - 1 : rank - 1];
      if (!network.share_vm(from, devices[rank])) return {};
      ways.back().push_back(network.route(from, devices[rank], -1, relay_between(relays, from, devices[rank])));
      for (const int link : ways.back().back().links) ++uses[link];
    }
  }
  std::vector<std::vector<BytesPerSecond>> out;
  for (const auto& ring : ways) {
    out.emplace_back();
    for (const Route& way : ring) {
      BytesPerSecond rate{way.measured ? std::numeric_limits<double>::infinity() : kChannelCopy.value * channels};
      if (way.staged && !way.measured) {
        rate = BytesPerSecond{std::numeric_limits<double>::infinity()};
        for (const int link : way.links)
          rate = std::min(rate, network.links()[link].bandwidth / uses.at(link));
      }
      out.back().push_back(rate);
    }
  }
  return out;
}

}  // namespace slmsim

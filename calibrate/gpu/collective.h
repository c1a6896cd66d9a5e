// Collectives as nccl-tests report them: timing, rates, and columns.
#pragma once

#include <string>
#include <vector>

namespace slmsim::calibrate {

enum class Collective { kAllReduce, kReduceScatter, kAllGather, kBroadcast, kSendReceive };
const std::vector<std::string>& collective_names();

// Bytes and elements (4 bytes each) by the rules of nccl-tests (doc/PERFORMANCE.md): `size` is that of the larger buffer of a
// rank; all-gather and reduce-scatter divide it by the ranks.
struct Sizes {
  std::size_t sent = 0, received = 0;  // elements in a rank's buffers
  double bytes = 0;                    // `size`, rounded to whole elements
};
Sizes sizes_of(Collective collective, int ranks, double size);

// busbw = algbw x this: all-reduce 2 (n-1)/n, reduce-scatter and all-gather (n-1)/n, broadcast and send/receive 1.
double bus_factor(Collective collective, int ranks);

// 1 kB to 1 GB, or between the given bounds: powers of two from the lower one on.
std::vector<double> message_sizes(double least, double most);

struct CollectiveResult {
  Collective collective = Collective::kAllReduce;
  int ranks = 1, hosts = 1;
  double bytes = 0;
  double seconds = 0, low = 0, high = 0;  // of the slowest rank: median and its interval
  int samples = 0;
  std::size_t wrong = 0;  // elements
};

double algorithm_bandwidth(const CollectiveResult& result);  // B/s
double bus_bandwidth(const CollectiveResult& result);

// The columns, and one line of them: size, time (us), algbw, busbw (GB/s), #wrong.
std::string table_header();
std::string table_line(const CollectiveResult& result);
std::string collective_line(const CollectiveResult& result);  // for the profile

}  // namespace slmsim::calibrate

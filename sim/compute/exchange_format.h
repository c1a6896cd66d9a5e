// Number formats for the exchange of gradients or parameter differences between replicas, and the costs of encoding and
// decoding.
//
// A number of b bits is b / 8 bytes on the wire. Formats of 8 and 4 bits scale each block of kScaleBlock numbers by one
// number in fp32 of its own (block-wise quantization: Dettmers et al., arXiv 2110.02861, section 2.1, has 2048 a block):
//
//   bytes on the wire = numbers x (b / 8 + 4 / kScaleBlock)
//
// Encoding kernels read fp32 and write the wire format; decoding kernels do the reverse. Both are bound by memory: they
// take their bytes at the software's share of the bandwidth (`memory_efficiency`), plus a launch.
#pragma once

#include <string>
#include <vector>

#include "sim/compute/software.h"

namespace slmsim {

enum class ExchangeFormat { kFp32, kBf16, kFp16, kFp8, kInt8, kInt4 };
const std::vector<std::string>& exchange_format_names();  // as scenarios write them

inline constexpr double kScaleBlock = 2048;

// Whether numbers of this format can be added directly, as NCCL's reductions do. Formats with a scale cannot: each sum
// decodes and encodes them.
bool adds_up(ExchangeFormat format);

// Bytes on the wire for `numbers` numbers.
Bytes wire_bytes(ExchangeFormat format, double numbers);

// Time of a kernel that moves `moved` bytes of the GPU's memory, with negligible computation.
Seconds elementwise_time(Bytes moved, const Gpu& gpu, const Software& software);

// From numbers of `element` bytes (default: fp32), and back to them; 0 where the format is fp32.
Seconds encode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software,
                    double element = 4);
Seconds decode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software,
                    double element = 4);
// A rank's share of a sum of `numbers` numbers over `ranks` ranks: it reads its share from each and writes their sum.
Seconds sum_time(ExchangeFormat format, double numbers, int ranks, const Gpu& gpu, const Software& software);

}  // namespace slmsim

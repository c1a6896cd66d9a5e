// The number formats in which replicas tell each other gradients, or differences of parameters, and what it costs to write
// and to read them.
//
// A number of b bits is b / 8 bytes on the wire. Formats of 8 and 4 bits scale each block of kScaleBlock numbers by one
// number in fp32 of its own (block-wise quantization: Dettmers et al., arXiv 2110.02861, section 2.1, has 2048 a block):
//
//   bytes on the wire = numbers x (b / 8 + 4 / kScaleBlock)
//
// A kernel that encodes reads fp32 and writes what goes on the wire, one that decodes the other way around. Memory bounds
// both: they take their bytes at the share of the bandwidth that the software reaches (`memory_efficiency`), and a launch.
#pragma once

#include <string>
#include <vector>

#include "sim/cost/software.h"

namespace slmsim {

enum class ExchangeFormat { kFp32, kBf16, kFp16, kFp8, kInt8, kInt4 };
const std::vector<std::string>& exchange_format_names();  // as scenarios write them

inline constexpr double kScaleBlock = 2048;

// Whether numbers of this format can be added as they are, as NCCL's reductions do: those with a scale cannot, they must be
// read before and written again after each sum.
bool adds_up(ExchangeFormat format);

// On the wire, of so many numbers.
Bytes wire_bytes(ExchangeFormat format, double numbers);

// Of a kernel that moves so much of the GPU's memory and computes next to nothing.
Seconds elementwise_time(Bytes moved, const Gpu& gpu, const Software& software);

// From numbers of `element` bytes, fp32 where it is not said, and back to them; 0 where the format is fp32.
Seconds encode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software,
                    double element = 4);
Seconds decode_time(ExchangeFormat format, double numbers, const Gpu& gpu, const Software& software,
                    double element = 4);
// A rank's share of a sum over so many ranks, of `numbers` in all: it reads its share from each and writes their sum.
Seconds sum_time(ExchangeFormat format, double numbers, int ranks, const Gpu& gpu, const Software& software);

}  // namespace slmsim

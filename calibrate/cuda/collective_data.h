// Data that ranks send in a collective, and the check of the result.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>

namespace slmsim::calibrate {

// Element i of rank r's buffer: a pseudo-random whole number from -128 to 127, never 0. Sums of them over any number of ranks
// are exact, in any order.
void fill_for_rank(float* buffer, std::size_t count, int rank, cudaStream_t stream);

// Number of elements of `buffer` that differ from: element `offset` + i of the sum over all ranks (`from` < 0), or of rank
// `from`. Waits for the stream.
std::size_t count_wrong(const float* buffer, std::size_t count, std::size_t offset, int from, int ranks,
                        cudaStream_t stream);

}  // namespace slmsim::calibrate

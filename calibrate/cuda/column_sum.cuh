// Sums over all rows, for the gradients of biases and of scales: each block adds up kRowsPerBlock rows of 32 columns, and the
// blocks' sums are added to an fp32 array.
#pragma once

#include <vector>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {

inline constexpr int kColumnThreads = 32, kRowThreads = kBlock / kColumnThreads;
inline constexpr int kRowsPerBlock = 256;

// Two sums per column: `term` returns the contributions of the element at (row, column). `second` may be nullptr.
template <class Term>
__device__ void add_up_columns(Term term, float* first, float* second, int rows, int columns) {
  __shared__ float2 parts[kRowThreads][kColumnThreads];
  const int column = static_cast<int>(blockIdx.x) * kColumnThreads + static_cast<int>(threadIdx.x);
  const int begin = static_cast<int>(blockIdx.y) * kRowsPerBlock, end = min(rows, begin + kRowsPerBlock);
  float2 sum = {0, 0};
  if (column < columns) {
    for (int row = begin + static_cast<int>(threadIdx.y); row < end; row += kRowThreads)
      sum = Add{}(sum, term(row, static_cast<std::size_t>(row) * columns + column, column));
  }
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int other = 1; other < kRowThreads; ++other) sum = Add{}(sum, parts[other][threadIdx.x]);
  atomicAdd(&first[column], sum.x);
  if (second) atomicAdd(&second[column], sum.y);
}

template <class T>
__global__ void sum_columns(const T* in, float* sums, int rows, int columns) {
  add_up_columns([in](int, std::size_t at, int) { return float2{load(in[at]), 0}; }, sums, nullptr, rows, columns);
}

inline constexpr std::int64_t kMostSummedRows = 65535LL * kRowsPerBlock;

// Launches a kernel that adds up columns, after clearing `count` sums.
template <class... Parameters, class... Arguments>
void over_columns(cudaStream_t stream, float* sums, std::size_t count, std::size_t rows, int columns,
                  void (*kernel)(Parameters...), Arguments... arguments) {
  check(cudaMemsetAsync(sums, 0, count * sizeof(float), stream), "cudaMemset");
  const dim3 threads(kColumnThreads, kRowThreads);
  const dim3 grid((static_cast<unsigned>(columns) + kColumnThreads - 1) / kColumnThreads,
                  (static_cast<unsigned>(rows) + kRowsPerBlock - 1) / kRowsPerBlock);
  start_kernel(kernel, grid, threads, stream, arguments..., static_cast<int>(rows), columns);
}

// Rows whose backward pass also computes the gradient of a bias: the sums of an array's columns.
class BiasedRows : public Rows {
 public:
  BiasedRows(const Device& device, const Kernel& kernel, const std::vector<std::size_t>& bytes)
      : Rows(device, kernel, bytes) {
    if (kernel.m > kMostSummedRows) throw MeasurementSkip("more rows than the sums over them are made for");
  }

 protected:
  template <class T>
  void sum(int set, std::size_t of, std::size_t sums) const {
    over_columns(device_.stream(), at<float>(set, sums), static_cast<std::size_t>(columns_), rows_, columns_,
                 sum_columns<T>, at<T>(set, of), at<float>(set, sums));
  }
  // Error of some columns' sums, against the array that was summed.
  double sums_error(std::size_t of, std::size_t sums) const {
    const auto n = static_cast<std::size_t>(columns_);
    const auto got = gather(device_, at<float>(0, sums), Number::kFloat, 0, 1, n);
    double worst = 0;
    constexpr std::size_t kColumns = 64;
    for (std::size_t i = 0; i < std::min(n, kColumns); ++i) {
      const std::size_t column = n > kColumns ? i * (n - 1) / (kColumns - 1) : i;
      double exact = 0, magnitude = 0;
      for (const double value : gather(device_, at<std::byte>(0, of), number_, column, n, rows_)) {
        exact += value;
        magnitude += std::abs(value);
      }
      worst = std::max(worst, deviation(got[column], exact, magnitude, Number::kFloat));
    }
    return worst;
  }
  // Fills a bias of every set: random numbers in one row.
  void make_bias(std::size_t array) const {
    for (int set = 0; set < sets(); ++set)
      fill_random(device_, at<std::byte>(set, array), number_, static_cast<std::size_t>(columns_), -1, 1,
                  seed(set, array));
  }
};

}  // namespace slmsim::calibrate

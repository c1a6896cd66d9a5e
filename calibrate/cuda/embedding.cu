// The rows of a table of k rows that m tokens select, plus GPT-2's learned positions; backward clears the table's gradient and
// adds each token's to its row.
#include <algorithm>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {
namespace {

constexpr int kPositions = 1024;  // rows wrap around them
constexpr int kMostTable = 1 << 30;

template <class T>
__global__ void embedding_forward(const T* table, const T* positions, const int* tokens, T* y, int columns) {
  const std::size_t from = static_cast<std::size_t>(tokens[blockIdx.x]) * columns;
  const std::size_t position = static_cast<std::size_t>(blockIdx.x % kPositions) * columns;
  const std::size_t to = static_cast<std::size_t>(blockIdx.x) * columns;
  for (int i = threadIdx.x; i < columns; i += kBlock)
    y[to + i] = store<T>(load(table[from + i]) + load(positions[position + i]));
}

__device__ inline void add_to(float* at, float x) { atomicAdd(at, x); }
// Adds to a 16-bit number by compare and swap: bf16 has an atomic addition only from compute capability 8.0 on.
template <class T>
__device__ void add_to(T* at, float x) {
  auto* const word = reinterpret_cast<unsigned short*>(at);
  unsigned short seen = *word, assumed = 0;
  do {
    assumed = seen;
    T number;
    memcpy(&number, &assumed, sizeof number);
    number = store<T>(load(number) + x);
    unsigned short wanted = 0;
    memcpy(&wanted, &number, sizeof wanted);
    seen = atomicCAS(word, assumed, wanted);
  } while (seen != assumed);
}

template <class T>
__global__ void embedding_backward(const T* dy, const int* tokens, T* table, int columns) {
  const std::size_t to = static_cast<std::size_t>(tokens[blockIdx.x]) * columns;
  const std::size_t from = static_cast<std::size_t>(blockIdx.x) * columns;
  for (int i = threadIdx.x; i < columns; i += kBlock) add_to(&table[to + i], load(dy[from + i]));
}

template <class T>
class Embedding final : public Rows {
 public:
  Embedding(const Device& device, const Kernel& kernel)
      : Rows(device, kernel, bytes_of(kernel)), table_(static_cast<std::size_t>(kernel.k)) {
    for (int set = 0; set < sets(); ++set) {
      fill_random_int(device_, at<int>(set, kTokens), rows_, static_cast<int>(table_), seed(set, kTokens));
      if (backward_) continue;
      const auto n = static_cast<std::size_t>(columns_);
      fill_random(device_, at<T>(set, kTable), number_, table_ * n, -1, 1, seed(set, kTable));
      fill_random(device_, at<T>(set, kPlaces), number_, kPositions * n, -1, 1, seed(set, kPlaces));
    }
    if (backward_) randomise(kTokenRows, -1, 1);
    device_.wait();
  }

  void launch(int set) override {
    const cudaStream_t stream = device_.stream();
    if (backward_) {
      check(cudaMemsetAsync(at<T>(set, kTable), 0, table_ * static_cast<std::size_t>(columns_) * sizeof(T), stream),
            "cudaMemset");
      start_kernel(embedding_backward<T>, blocks(), kBlock, stream, at<T>(set, kTokenRows), at<int>(set, kTokens),
                   at<T>(set, kTable), columns_);
    } else {
      start_kernel(embedding_forward<T>, blocks(), kBlock, stream, at<T>(set, kTable), at<T>(set, kPlaces),
                   at<int>(set, kTokens), at<T>(set, kTokenRows), columns_);
    }
    check(cudaGetLastError(), "embedding");
  }

  double error() override {
    std::vector<int> tokens(rows_);
    check(cudaMemcpy(tokens.data(), at<int>(0, kTokens), rows_ * sizeof(int), cudaMemcpyDeviceToHost),
          "reading tokens");
    return worst_row([&](std::size_t which) {
      const auto token = static_cast<std::size_t>(tokens[which]);
      return backward_ ? backward_error(token, tokens) : forward_error(which, token);
    });
  }

 private:
  enum Array : std::size_t { kTable, kPlaces, kTokens, kTokenRows };

  static std::vector<std::size_t> bytes_of(const Kernel& kernel) {
    if (kernel.k > kMostTable) throw MeasurementSkip("more rows of a table than a token can index");
    const auto n = static_cast<std::size_t>(kernel.n), m = static_cast<std::size_t>(kernel.m);
    return {static_cast<std::size_t>(kernel.k) * n * sizeof(T), kernel.is_backward() ? 0 : kPositions * n * sizeof(T),
            m * sizeof(int), m * n * sizeof(T)};
  }

  double forward_error(std::size_t which, std::size_t token) const {
    const auto got = row(kTokenRows, which), from = row(kTable, token), position = row(kPlaces, which % kPositions);
    double worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      worst = std::max(worst, deviation(got[i], from[i] + position[i], 2, number_));
    return worst;
  }

  // Error of this token's row, to which all of its occurrences add.
  double backward_error(std::size_t token, const std::vector<int>& tokens) const {
    std::vector<double> exact(static_cast<std::size_t>(columns_)), magnitude(exact.size());
    double places = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (static_cast<std::size_t>(tokens[i]) != token) continue;
      const auto dy = row(kTokenRows, i);
      ++places;
      for (std::size_t c = 0; c < dy.size(); ++c) {
        exact[c] += dy[c];
        magnitude[c] += std::abs(dy[c]);
      }
    }
    const auto got = row(kTable, token);
    double worst = 0;
    // Every addition rounds the partial sum.
    for (std::size_t c = 0; c < got.size(); ++c)
      worst = std::max(worst, deviation(got[c], exact[c], places * magnitude[c], number_));
    return worst;
  }

  const std::size_t table_;
};

}  // namespace

std::unique_ptr<Workload> make_embedding(const Device& device, const Kernel& kernel) {
  return make_of<Embedding>(device, kernel);
}

}  // namespace slmsim::calibrate

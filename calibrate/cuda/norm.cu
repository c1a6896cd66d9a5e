// Layer norm of rows with scale and shift, keeping each row's mean and 1 / standard deviation; backward also the
// gradients of scale and shift, which are sums over all rows.
#include <algorithm>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {
namespace {

constexpr int kWidth = 4;
constexpr float kEpsilon = 1e-5f;
constexpr int kColumnThreads = 32, kRowThreads = kBlock / kColumnThreads;
constexpr int kRowsPerBlock = 256;

template <class T, int Width>
__global__ void norm_forward(const T* in, const T* scale, const T* shift, T* out, float2* kept, int columns) {
  using Packed = Pack<T, Width>;
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  const auto* x = reinterpret_cast<const Packed*>(in + start);
  const auto* g = reinterpret_cast<const Packed*>(scale);
  const auto* b = reinterpret_cast<const Packed*>(shift);
  auto* y = reinterpret_cast<Packed*>(out + start);
  const int packs = columns / Width;
  float2 sums = {0, 0};
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    const Packed pack = x[i];
    for (int w = 0; w < Width; ++w) {
      const float value = load(pack.value[w]);
      sums = Add{}(sums, {value, value * value});
    }
  }
  sums = reduce_block(sums, {0, 0}, Add{});
  const float mean = sums.x / static_cast<float>(columns);
  const float inverse = rsqrtf(sums.y / static_cast<float>(columns) - mean * mean + kEpsilon);
  if (threadIdx.x == 0) kept[blockIdx.x] = {mean, inverse};
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    Packed pack = x[i];
    const Packed scales = g[i], shifts = b[i];
    for (int w = 0; w < Width; ++w) {
      const float normal = (load(pack.value[w]) - mean) * inverse;
      pack.value[w] = store<T>(normal * load(scales.value[w]) + load(shifts.value[w]));
    }
    y[i] = pack;
  }
}

template <class T, int Width>
__global__ void norm_backward(const T* in, const T* scale, const T* gradient, const float2* kept, T* out, int columns) {
  using Packed = Pack<T, Width>;
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  const auto* x = reinterpret_cast<const Packed*>(in + start);
  const auto* g = reinterpret_cast<const Packed*>(scale);
  const auto* dy = reinterpret_cast<const Packed*>(gradient + start);
  auto* dx = reinterpret_cast<Packed*>(out + start);
  const int packs = columns / Width;
  const float mean = kept[blockIdx.x].x, inverse = kept[blockIdx.x].y;
  float2 sums = {0, 0};
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    const Packed xs = x[i], gs = g[i], dys = dy[i];
    for (int w = 0; w < Width; ++w) {
      const float scaled = load(dys.value[w]) * load(gs.value[w]);
      sums = Add{}(sums, {scaled, scaled * (load(xs.value[w]) - mean) * inverse});
    }
  }
  sums = reduce_block(sums, {0, 0}, Add{});
  const float share = 1 / static_cast<float>(columns);
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    const Packed xs = x[i], gs = g[i], dys = dy[i];
    Packed result;
    for (int w = 0; w < Width; ++w) {
      const float scaled = load(dys.value[w]) * load(gs.value[w]);
      const float normal = (load(xs.value[w]) - mean) * inverse;
      result.value[w] = store<T>(inverse * (scaled - share * (sums.x + normal * sums.y)));
    }
    dx[i] = result;
  }
}

// Each block adds up kRowsPerBlock rows of 32 columns; the sums of blocks meet in `sums` (scale, then shift).
template <class T>
__global__ void norm_backward_weights(const T* in, const T* gradient, const float2* kept, float* sums, int rows,
                                      int columns) {
  __shared__ float2 parts[kRowThreads][kColumnThreads];
  const int column = static_cast<int>(blockIdx.x) * kColumnThreads + threadIdx.x;
  const int first = static_cast<int>(blockIdx.y) * kRowsPerBlock, last = min(rows, first + kRowsPerBlock);
  float2 sum = {0, 0};
  if (column < columns) {
    for (int row = first + threadIdx.y; row < last; row += kRowThreads) {
      const std::size_t at = static_cast<std::size_t>(row) * columns + column;
      const float2 statistics = kept[row];
      const float dy = load(gradient[at]);
      sum = Add{}(sum, {dy * (load(in[at]) - statistics.x) * statistics.y, dy});
    }
  }
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (int other = 1; other < kRowThreads; ++other) sum = Add{}(sum, parts[other][threadIdx.x]);
  atomicAdd(&sums[column], sum.x);
  atomicAdd(&sums[columns + column], sum.y);
}

template <class T>
std::vector<std::size_t> bytes_of(const Kernel& kernel) {
  const auto rows = static_cast<std::size_t>(kernel.m), columns = static_cast<std::size_t>(kernel.n);
  return {rows * columns * sizeof(T), columns * sizeof(T),   columns * sizeof(T),
          rows * columns * sizeof(T), rows * sizeof(float2), kernel.is_backward() ? rows * columns * sizeof(T) : 0,
          2 * columns * sizeof(float)};
}

template <class T>
class Norm final : public Rows {
 public:
  enum Array : std::size_t { kInput, kScale, kShift, kOutput, kKept, kGradient, kSums };

  // Backward, the output is the gradient of the input.
  Norm(const Device& device, const Kernel& kernel) : Rows(device, kernel, bytes_of<T>(kernel)) {
    if (kernel.m > 65535LL * kRowsPerBlock) throw LeftOut("more rows than the sums over them are made for");
    randomise(kInput, -1, 1);
    const auto n = static_cast<std::size_t>(columns_);
    for (int set = 0; set < sets(); ++set) {
      fill_random(device_, arrays_.template at<T>(set, kScale), number_, n, 0.5f, 1.5f, seed(set, kScale));
      fill_random(device_, arrays_.template at<T>(set, kShift), number_, n, -1, 1, seed(set, kShift));
      if (!backward_) continue;
      forward(set);
      fill_random(device_, arrays_.template at<T>(set, kGradient), number_, count(), -1, 1, seed(set, kGradient));
    }
    device_.wait();
  }

  void launch(int set) override {
    if (backward_) {
      backward(set);
    } else {
      forward(set);
    }
    check(cudaGetLastError(), "layer norm");
  }

  double error() override {
    return std::max(backward_ ? weights_error() : 0, worst_row([&](std::size_t at) { return row_error(at); }));
  }

 private:
  T* array(int set, Array which) const { return arrays_.template at<T>(set, which); }
  float2* kept(int set) const { return arrays_.template at<float2>(set, kKept); }
  bool wide() const { return columns_ % kWidth == 0; }

  void forward(int set) {
    const auto go = [&](auto kernel) {
      kernel<<<blocks(), kBlock, 0, device_.stream()>>>(array(set, kInput), array(set, kScale), array(set, kShift),
                                                        array(set, kOutput), kept(set), columns_);
    };
    wide() ? go(norm_forward<T, kWidth>) : go(norm_forward<T, 1>);
  }

  void backward(int set) {
    const cudaStream_t stream = device_.stream();
    const auto go = [&](auto kernel) {
      kernel<<<blocks(), kBlock, 0, stream>>>(array(set, kInput), array(set, kScale), array(set, kGradient), kept(set),
                                              array(set, kOutput), columns_);
    };
    wide() ? go(norm_backward<T, kWidth>) : go(norm_backward<T, 1>);
    float* const sums = arrays_.template at<float>(set, kSums);
    check(cudaMemsetAsync(sums, 0, 2 * static_cast<std::size_t>(columns_) * sizeof(float), stream), "cudaMemset");
    const dim3 threads(kColumnThreads, kRowThreads);
    const dim3 grid((static_cast<unsigned>(columns_) + kColumnThreads - 1) / kColumnThreads,
                    (blocks() + kRowsPerBlock - 1) / kRowsPerBlock);
    norm_backward_weights<<<grid, threads, 0, stream>>>(array(set, kInput), array(set, kGradient), kept(set), sums,
                                                        static_cast<int>(rows_), columns_);
  }

  struct Moments {
    double mean = 0, inverse = 0;
  };
  static Moments moments_of(const std::vector<double>& x) {
    double sum = 0, squares = 0;
    for (const double value : x) {
      sum += value;
      squares += value * value;
    }
    const auto n = static_cast<double>(x.size());
    return {sum / n, 1 / std::sqrt(squares / n - sum / n * (sum / n) + static_cast<double>(kEpsilon))};
  }

  double row_error(std::size_t at) const {
    const auto x = row(kInput, at), scale = row(kScale, 0), shift = row(kShift, 0), got = row(kOutput, at);
    const Moments moments = moments_of(x);
    const auto n = static_cast<double>(x.size());
    const auto normal = [&](std::size_t i) { return (x[i] - moments.mean) * moments.inverse; };
    double worst = 0;
    if (!backward_) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double product = normal(i) * scale[i];
        worst =
            std::max(worst, deviation(got[i], product + shift[i], std::abs(product) + std::abs(shift[i]) + 1, number_));
      }
      return worst;
    }
    const auto dy = row(kGradient, at);
    double sum = 0, products = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += dy[i] * scale[i];
      products += dy[i] * scale[i] * normal(i);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = moments.inverse * (dy[i] * scale[i] - (sum + normal(i) * products) / n);
      worst = std::max(worst, deviation(got[i], exact, moments.inverse * 4, number_));
    }
    return worst;
  }

  // Of the first column's gradients, which need all rows.
  double weights_error() const {
    const auto n = static_cast<std::size_t>(columns_);
    const auto x = gather(device_, array(0, kInput), number_, 0, n, rows_);
    const auto dy = gather(device_, array(0, kGradient), number_, 0, n, rows_);
    const auto statistics = gather(device_, kept(0), Number::kFloat, 0, 1, 2 * rows_);
    const auto sums = gather(device_, arrays_.template at<float>(0, kSums), Number::kFloat, 0, n, 2);
    double scale = 0, shift = 0, magnitude = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      const double product = dy[i] * (x[i] - statistics[2 * i]) * statistics[2 * i + 1];
      scale += product;
      shift += dy[i];
      magnitude += std::abs(product) + std::abs(dy[i]);
    }
    return std::max(deviation(sums[0], scale, magnitude, Number::kFloat),
                    deviation(sums[1], shift, magnitude, Number::kFloat));
  }
};

}  // namespace

std::unique_ptr<Workload> make_norm(const Device& device, const Kernel& kernel) {
  return make_of<Norm>(device, kernel);
}

}  // namespace slmsim::calibrate

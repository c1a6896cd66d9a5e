// Layer norm of rows with scale and shift, storing each row's mean and 1 / standard deviation; backward also computes the
// gradients of scale and shift, which are sums over all rows. "rmsnorm" (Zhang and Sennrich, arXiv 1910.07467) does not
// subtract the mean and has no shift.
#include <algorithm>

#include "calibrate/cuda/column_sum.cuh"

namespace slmsim::calibrate {
namespace {

constexpr int kNormWidth = 4;
constexpr float kNormEpsilon = 1e-5f;

template <class T, int Width, bool Rms>
__global__ void norm_forward(const T* in, const T* scale, const T* shift, T* out, float2* kept, int columns) {
  using Packed = Pack<T, Width>;
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  const auto* x = reinterpret_cast<const Packed*>(in + start);
  const auto* g = reinterpret_cast<const Packed*>(scale);
  const auto* b = reinterpret_cast<const Packed*>(shift);
  auto* y = reinterpret_cast<Packed*>(out + start);
  const int packs = columns / Width;
  // Relative to the first element, so that the variance of a row of nearly equal elements is not a difference of large numbers.
  const float pivot = Rms ? 0 : load(in[start]);
  float2 sums = {0, 0};
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    const Packed pack = x[i];
    for (int w = 0; w < Width; ++w) {
      const float value = load(pack.value[w]) - pivot;
      sums = Add{}(sums, {value, value * value});
    }
  }
  sums = reduce_block(sums, {0, 0}, Add{});
  const float off = Rms ? 0 : sums.x / static_cast<float>(columns), mean = pivot + off;
  const float inverse = rsqrtf(sums.y / static_cast<float>(columns) - off * off + kNormEpsilon);
  if (threadIdx.x == 0) kept[blockIdx.x] = {mean, inverse};
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    Packed pack = x[i];
    const Packed scales = g[i];
    Packed shifts = {};
    if constexpr (!Rms) shifts = b[i];
    for (int w = 0; w < Width; ++w) {
      const float normal = (load(pack.value[w]) - mean) * inverse;
      pack.value[w] = store<T>(normal * load(scales.value[w]) + load(shifts.value[w]));
    }
    y[i] = pack;
  }
}

template <class T, int Width, bool Rms>
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
      result.value[w] = store<T>(inverse * (scaled - share * ((Rms ? 0 : sums.x) + normal * sums.y)));
    }
    dx[i] = result;
  }
}

// Sums over rows: the gradients of scale and, with layer norm, of shift.
template <class T>
__global__ void norm_backward_weights(const T* in, const T* gradient, const float2* kept, float* scale, float* shift,
                                      int rows, int columns) {
  add_up_columns(
      [in, gradient, kept](int row, std::size_t at, int) {
        const float dy = load(gradient[at]);
        return float2{dy * (load(in[at]) - kept[row].x) * kept[row].y, dy};
      },
      scale, shift, rows, columns);
}

template <class T>
std::vector<std::size_t> bytes_of(const Kernel& kernel) {
  const auto rows = static_cast<std::size_t>(kernel.m), columns = static_cast<std::size_t>(kernel.n);
  return {rows * columns * sizeof(T),
          columns * sizeof(T),
          columns * sizeof(T),
          rows * columns * sizeof(T),
          rows * sizeof(float2),
          kernel.is_backward() ? rows * columns * sizeof(T) : 0,
          (kernel.family() == "rmsnorm" ? 1 : 2) * columns * sizeof(float)};
}

template <class T>
class Norm final : public Rows {
 public:
  enum Array : std::size_t { kInput, kScale, kShift, kOutput, kKept, kGradient, kSums };

  // Backward, the output is the gradient of the input.
  Norm(const Device& device, const Kernel& kernel)
      : Rows(device, kernel, bytes_of<T>(kernel)), rms_(kernel.family() == "rmsnorm") {
    if (kernel.m > kMostSummedRows) throw MeasurementSkip("more rows than the sums over them are made for");
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
  void forward(int set) {
    const auto go = [&](auto kernel) {
      start_kernel(kernel, blocks(), kBlock, device_.stream(), array(set, kInput), array(set, kScale),
                   array(set, kShift), array(set, kOutput), kept(set), columns_);
    };
    if (columns_ % kNormWidth == 0) {
      rms_ ? go(norm_forward<T, kNormWidth, true>) : go(norm_forward<T, kNormWidth, false>);
    } else {
      rms_ ? go(norm_forward<T, 1, true>) : go(norm_forward<T, 1, false>);
    }
  }

  void backward(int set) {
    const auto go = [&](auto kernel) {
      start_kernel(kernel, blocks(), kBlock, device_.stream(), array(set, kInput), array(set, kScale),
                   array(set, kGradient), kept(set), array(set, kOutput), columns_);
    };
    if (columns_ % kNormWidth == 0) {
      rms_ ? go(norm_backward<T, kNormWidth, true>) : go(norm_backward<T, kNormWidth, false>);
    } else {
      rms_ ? go(norm_backward<T, 1, true>) : go(norm_backward<T, 1, false>);
    }
    float* const sums = arrays_.template at<float>(set, kSums);
    over_columns(device_.stream(), sums, (rms_ ? 1 : 2) * static_cast<std::size_t>(columns_), rows_, columns_,
                 norm_backward_weights<T>, array(set, kInput), array(set, kGradient), kept(set), sums,
                 rms_ ? nullptr : sums + columns_);
  }

  struct Moments {
    double mean = 0, inverse = 0;
  };
  Moments moments_of(const std::vector<double>& x) const {
    const auto n = static_cast<double>(x.size());
    double mean = 0, squares = 0;
    for (const double value : x) mean += rms_ ? 0 : value / n;
    for (const double value : x) squares += (value - mean) * (value - mean);
    return {mean, 1 / std::sqrt(squares / n + static_cast<double>(kNormEpsilon))};
  }

  double row_error(std::size_t at) const {
    const auto x = row(kInput, at), scale = row(kScale, 0), got = row(kOutput, at);
    const auto shift = rms_ ? std::vector<double>(x.size(), 0.0) : row(kShift, 0);
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
      sum += rms_ ? 0 : dy[i] * scale[i];
      products += dy[i] * scale[i] * normal(i);
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = moments.inverse * (dy[i] * scale[i] - (sum + normal(i) * products) / n);
      worst = std::max(worst, deviation(got[i], exact, moments.inverse * 4, number_));
    }
    return worst;
  }

  // Error of the gradients of some columns, which need all rows.
  double weights_error() const {
    return std::max(weights_error(0), weights_error(static_cast<std::size_t>(columns_) - 1));
  }
  double weights_error(std::size_t column) const {
    const auto n = static_cast<std::size_t>(columns_);
    const auto x = gather(device_, array(0, kInput), number_, column, n, rows_);
    const auto dy = gather(device_, array(0, kGradient), number_, column, n, rows_);
    const auto statistics = gather(device_, kept(0), Number::kFloat, 0, 1, 2 * rows_);
    const auto sums = gather(device_, arrays_.template at<float>(0, kSums), Number::kFloat, column, n, rms_ ? 1 : 2);
    double scale = 0, shift = 0, magnitude = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      const double product = dy[i] * (x[i] - statistics[2 * i]) * statistics[2 * i + 1];
      scale += product;
      shift += dy[i];
      magnitude += std::abs(product) + std::abs(dy[i]);
    }
    return std::max(deviation(sums[0], scale, magnitude, Number::kFloat),
                    rms_ ? 0 : deviation(sums[1], shift, magnitude, Number::kFloat));
  }

  const bool rms_;
};

}  // namespace

std::unique_ptr<Workload> make_norm(const Device& device, const Kernel& kernel) {
  return make_of<Norm>(device, kernel);
}

}  // namespace slmsim::calibrate

// Softmax of rows, as in attention: one block per row, the maximum and the sum in one pass. "fused_softmax" also scales the
// scores and masks those behind the diagonal: it does not read them, and writes them.
#include <algorithm>
#include <cfloat>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {
namespace {

constexpr int kSoftmaxWidth = 4;  // elements per thread at a time: a row of 1024 is one step of a block

constexpr float kSoftmaxScale = 0.125f;  // for a fused softmax: 1 / sqrt(64)

// Row r is the query r mod `columns`.
template <bool Fused>
__device__ int seen_by_row(int columns) {
  return Fused ? static_cast<int>(blockIdx.x % static_cast<unsigned>(columns)) + 1 : columns;
}

template <class T, int Width, bool Fused>
__global__ void softmax_forward(const T* in, T* out, int columns) {
  using Packed = Pack<T, Width>;
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  const auto* source = reinterpret_cast<const Packed*>(in + start);
  auto* target = reinterpret_cast<Packed*>(out + start);
  const int packs = columns / Width, seen = seen_by_row<Fused>(columns), read = (seen + Width - 1) / Width;
  const float factor = Fused ? kSoftmaxScale : 1.0f;
  float2 state = {-FLT_MAX, 0};
  for (int i = threadIdx.x; i < read; i += kBlock) {
    const Packed pack = source[i];
    for (int w = 0; w < Width; ++w) {
      if (i * Width + w < seen) state = MaximumAndSum{}(state, {factor * load(pack.value[w]), 1});
    }
  }
  state = reduce_block(state, {-FLT_MAX, 0}, MaximumAndSum{});
  const float scale = 1 / state.y;
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    Packed pack = {};
    if (i < read) pack = source[i];
    for (int w = 0; w < Width; ++w)
      pack.value[w] = store<T>(i * Width + w < seen ? __expf(factor * load(pack.value[w]) - state.x) * scale : 0.0f);
    target[i] = pack;
  }
}

template <class T, int Width, bool Fused>
__global__ void softmax_backward(const T* result, const T* gradient, T* out, int columns) {
  using Packed = Pack<T, Width>;
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  const auto* y = reinterpret_cast<const Packed*>(result + start);
  const auto* dy = reinterpret_cast<const Packed*>(gradient + start);
  auto* dx = reinterpret_cast<Packed*>(out + start);
  const int packs = columns / Width, seen = seen_by_row<Fused>(columns), read = (seen + Width - 1) / Width;
  const float factor = Fused ? kSoftmaxScale : 1.0f;
  float2 sum = {0, 0};
  for (int i = threadIdx.x; i < read; i += kBlock) {
    const Packed a = y[i], b = dy[i];
    for (int w = 0; w < Width; ++w) {
      if (i * Width + w < seen) sum.x += load(a.value[w]) * load(b.value[w]);
    }
  }
  sum = reduce_block(sum, {0, 0}, Add{});
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    Packed a = {}, b = {}, c;
    if (i < read) {
      a = y[i];
      b = dy[i];
    }
    for (int w = 0; w < Width; ++w) {
      c.value[w] = store<T>(i * Width + w < seen ? factor * load(a.value[w]) * (load(b.value[w]) - sum.x) : 0.0f);
    }
    dx[i] = c;
  }
}

// Arrays: forward x, y; backward y, dy, dx.
template <class T>
class Softmax final : public Rows {
 public:
  Softmax(const Device& device, const Kernel& kernel)
      : Rows(device, kernel,
             std::vector<std::size_t>(kernel.is_backward() ? 3 : 2,
                                      static_cast<std::size_t>(kernel.elements()) * sizeof(T))),
        fused_(kernel.family() == "fused_softmax") {
    randomise(0, backward_ ? 0 : -4, backward_ ? 1 : 4);
    if (backward_) randomise(1, -1, 1);
    device_.wait();
  }

  void launch(int set) override {
    if (columns_ % kSoftmaxWidth == 0) {
      fused_ ? launch_with<kSoftmaxWidth, true>(set) : launch_with<kSoftmaxWidth, false>(set);
    } else {
      fused_ ? launch_with<1, true>(set) : launch_with<1, false>(set);
    }
    check(cudaGetLastError(), "softmax");
  }

  double error() override {
    return worst_row([&](std::size_t at) { return backward_ ? backward_error(at) : forward_error(at); });
  }

 private:
  template <int Width, bool Fused>
  void launch_with(int set) {
    T* const first = arrays_.at<T>(set, 0);
    T* const second = arrays_.at<T>(set, 1);
    if (backward_) {
      start_kernel(softmax_backward<T, Width, Fused>, blocks(), kBlock, device_.stream(), first, second,
                   arrays_.at<T>(set, 2), columns_);
    } else {
      start_kernel(softmax_forward<T, Width, Fused>, blocks(), kBlock, device_.stream(), first, second, columns_);
    }
  }

  std::size_t seen(std::size_t row) const {
    const auto columns = static_cast<std::size_t>(columns_);
    return fused_ ? row % columns + 1 : columns;
  }
  double factor() const { return fused_ ? static_cast<double>(kSoftmaxScale) : 1; }

  double forward_error(std::size_t at) const {
    const auto x = row(0, at), y = row(1, at);
    double sum = 0, worst = 0;
    for (std::size_t i = 0; i < seen(at); ++i) sum += std::exp(factor() * x[i]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = i < seen(at) ? std::exp(factor() * x[i]) / sum : 0;
      worst = std::max(worst, deviation(y[i], exact, exact, number_));
    }
    return worst;
  }

  double backward_error(std::size_t at) const {
    const auto y = row(0, at), dy = row(1, at), dx = row(2, at);
    double sum = 0, magnitude = 0, worst = 0;
    for (std::size_t i = 0; i < seen(at); ++i) {
      sum += y[i] * dy[i];
      magnitude += std::abs(y[i] * dy[i]);
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double exact = i < seen(at) ? factor() * y[i] * (dy[i] - sum) : 0;
      worst = std::max(worst, deviation(dx[i], exact, y[i] * (std::abs(dy[i]) + magnitude), number_));
    }
    return worst;
  }

  const bool fused_;
};

}  // namespace

std::unique_ptr<Workload> make_softmax(const Device& device, const Kernel& kernel) {
  return make_of<Softmax>(device, kernel);
}

}  // namespace slmsim::calibrate

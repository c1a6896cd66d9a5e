// Softmax of rows, as attention takes it: one block per row, the maximum and the sum in one pass.
#include <algorithm>
#include <cfloat>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {
namespace {

constexpr int kWidth = 4;  // elements that a thread takes at once: a row of 1024 is one step of a block

template <class T, int Width>
__global__ void softmax_forward(const T* in, T* out, int columns) {
  using Packed = Pack<T, Width>;
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  const auto* source = reinterpret_cast<const Packed*>(in + start);
  auto* target = reinterpret_cast<Packed*>(out + start);
  const int packs = columns / Width;
  float2 state = {-FLT_MAX, 0};
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    const Packed pack = source[i];
    for (int w = 0; w < Width; ++w) state = MaximumAndSum{}(state, {load(pack.value[w]), 1});
  }
  state = reduce_block(state, {-FLT_MAX, 0}, MaximumAndSum{});
  const float scale = 1 / state.y;
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    Packed pack = source[i];
    for (int w = 0; w < Width; ++w) pack.value[w] = store<T>(__expf(load(pack.value[w]) - state.x) * scale);
    target[i] = pack;
  }
}

template <class T, int Width>
__global__ void softmax_backward(const T* result, const T* gradient, T* out, int columns) {
  using Packed = Pack<T, Width>;
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  const auto* y = reinterpret_cast<const Packed*>(result + start);
  const auto* dy = reinterpret_cast<const Packed*>(gradient + start);
  auto* dx = reinterpret_cast<Packed*>(out + start);
  const int packs = columns / Width;
  float2 sum = {0, 0};
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    const Packed a = y[i], b = dy[i];
    for (int w = 0; w < Width; ++w) sum.x += load(a.value[w]) * load(b.value[w]);
  }
  sum = reduce_block(sum, {0, 0}, Add{});
  for (int i = threadIdx.x; i < packs; i += kBlock) {
    const Packed a = y[i], b = dy[i];
    Packed c;
    for (int w = 0; w < Width; ++w) c.value[w] = store<T>(load(a.value[w]) * (load(b.value[w]) - sum.x));
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
                                      static_cast<std::size_t>(kernel.elements()) * sizeof(T))) {
    randomise(0, backward_ ? 0 : -4, backward_ ? 1 : 4);
    if (backward_) randomise(1, -1, 1);
    device_.wait();
  }

  void launch(int set) override {
    if (columns_ % kWidth == 0) {
      launch_with<kWidth>(set);
    } else {
      launch_with<1>(set);
    }
    check(cudaGetLastError(), "softmax");
  }

  double error() override {
    return worst_row([&](std::size_t at) { return backward_ ? backward_error(at) : forward_error(at); });
  }

 private:
  template <int Width>
  void launch_with(int set) {
    T* const first = arrays_.at<T>(set, 0);
    T* const second = arrays_.at<T>(set, 1);
    if (backward_) {
      softmax_backward<T, Width>
          <<<blocks(), kBlock, 0, device_.stream()>>>(first, second, arrays_.at<T>(set, 2), columns_);
    } else {
      softmax_forward<T, Width><<<blocks(), kBlock, 0, device_.stream()>>>(first, second, columns_);
    }
  }

  double forward_error(std::size_t at) const {
    const auto x = row(0, at), y = row(1, at);
    double sum = 0, worst = 0;
    for (const double value : x) sum += std::exp(value);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = std::exp(x[i]) / sum;
      worst = std::max(worst, deviation(y[i], exact, exact, number_));
    }
    return worst;
  }

  double backward_error(std::size_t at) const {
    const auto y = row(0, at), dy = row(1, at), dx = row(2, at);
    double sum = 0, magnitude = 0, worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      sum += y[i] * dy[i];
      magnitude += std::abs(y[i] * dy[i]);
    }
    for (std::size_t i = 0; i < y.size(); ++i)
      worst = std::max(worst, deviation(dx[i], y[i] * (dy[i] - sum), y[i] * (std::abs(dy[i]) + magnitude), number_));
    return worst;
  }
};

}  // namespace

std::unique_ptr<Workload> make_softmax(const Device& device, const Kernel& kernel) {
  return make_of<Softmax>(device, kernel);
}

}  // namespace slmsim::calibrate

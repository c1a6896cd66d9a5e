// The activation between the two products of an MLP: GELU (GPT-2's, with tanh) with the bias of the product before it, whose
// gradient is computed too; and SwiGLU, silu(gate) times up, of two products without biases.
#include <algorithm>

#include "calibrate/cuda/column_sum.cuh"

namespace slmsim::calibrate {
namespace {

constexpr float kRootTwoOverPi = 0.7978845608f, kCubic = 0.044715f;  // Hendrycks and Gimpel, arXiv 1606.08415

__device__ float tanh_argument(float x) { return kRootTwoOverPi * (x + kCubic * x * x * x); }
__device__ float gelu(float x) { return 0.5f * x * (1 + tanhf(tanh_argument(x))); }
__device__ float gelu_gradient(float x, float dy) {
  const float t = tanhf(tanh_argument(x));
  const float inner = kRootTwoOverPi * (1 + 3 * kCubic * x * x);
  return dy * (0.5f * (1 + t) + 0.5f * x * (1 - t * t) * inner);
}

template <class T, int Width>
__global__ void gelu_forward(const Pack<T, Width>* x, const Pack<T, Width>* bias, Pack<T, Width>* y, unsigned width,
                             std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> pack = x[i];
  const Pack<T, Width> added = bias[column_of(i, width)];
  for (int w = 0; w < Width; ++w) pack.value[w] = store<T>(gelu(load(pack.value[w]) + load(added.value[w])));
  y[i] = pack;
}

template <class T, int Width>
__global__ void gelu_backward(const Pack<T, Width>* x, const Pack<T, Width>* bias, const Pack<T, Width>* dy,
                              Pack<T, Width>* dx, unsigned width, std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  const Pack<T, Width> a = x[i], b = dy[i], added = bias[column_of(i, width)];
  Pack<T, Width> c;
  for (int w = 0; w < Width; ++w)
    c.value[w] = store<T>(gelu_gradient(load(a.value[w]) + load(added.value[w]), load(b.value[w])));
  dx[i] = c;
}

template <class T>
class Gelu final : public BiasedRows {
 public:
  Gelu(const Device& device, const Kernel& kernel) : BiasedRows(device, kernel, bytes_of(kernel)) {
    randomise(kInput, -4, 4);
    make_bias(kBias);
    if (backward_) randomise(kGradient, -1, 1);
    device_.wait();
  }

  void launch(int set) override {
    wide<T>() ? launch_with<kWidest<T>>(set) : launch_with<1>(set);
    if (backward_) sum<T>(set, kOutput, kSums);
    check(cudaGetLastError(), "GELU");
  }

  double error() override {
    return std::max(backward_ ? sums_error(kOutput, kSums) : 0,
                    worst_row([&](std::size_t at) { return row_error(at); }));
  }

 private:
  enum Array : std::size_t { kInput, kBias, kOutput, kGradient, kSums };

  static std::vector<std::size_t> bytes_of(const Kernel& kernel) {
    const auto count = static_cast<std::size_t>(kernel.elements()), n = static_cast<std::size_t>(kernel.n);
    const bool backward = kernel.is_backward();
    return {count * sizeof(T), n * sizeof(T), count * sizeof(T), backward ? count * sizeof(T) : 0,
            backward ? n * sizeof(float) : 0};
  }

  template <int Width>
  void launch_with(int set) {
    using Packed = Pack<T, Width>;
    const auto width = static_cast<unsigned>(columns_ / Width);
    if (backward_) {
      over_packs(Width, gelu_backward<T, Width>, at<Packed>(set, kInput), at<Packed>(set, kBias),
                 at<Packed>(set, kGradient), at<Packed>(set, kOutput), width);
    } else {
      over_packs(Width, gelu_forward<T, Width>, at<Packed>(set, kInput), at<Packed>(set, kBias),
                 at<Packed>(set, kOutput), width);
    }
  }

  double row_error(std::size_t which) const {
    const auto x = row(kInput, which), bias = row(kBias, 0), got = row(kOutput, which);
    const auto dy = backward_ ? row(kGradient, which) : std::vector<double>(x.size(), 0.0);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      worst = std::max(worst, deviation(got[i], exact(x[i] + bias[i], dy[i]),
                                        1 + std::abs(x[i]) + std::abs(bias[i]) + std::abs(dy[i]), number_));
    }
    return worst;
  }

  double exact(double x, double dy) const {
    const double cubic = static_cast<double>(kCubic), root = static_cast<double>(kRootTwoOverPi);
    const double t = std::tanh(root * (x + cubic * x * x * x));
    if (!backward_) return 0.5 * x * (1 + t);
    return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * cubic * x * x));
  }
};

template <class T, int Width>
__global__ void swiglu_forward(const Pack<T, Width>* gate, const Pack<T, Width>* up, Pack<T, Width>* y,
                               std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> pack = gate[i];
  const Pack<T, Width> factor = up[i];
  for (int w = 0; w < Width; ++w) {
    const float x = load(pack.value[w]);
    pack.value[w] = store<T>(x / (1 + __expf(-x)) * load(factor.value[w]));
  }
  y[i] = pack;
}

template <class T, int Width>
__global__ void swiglu_backward(const Pack<T, Width>* gate, const Pack<T, Width>* up, const Pack<T, Width>* dy,
                                Pack<T, Width>* dgate, Pack<T, Width>* dup, std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  const Pack<T, Width> a = gate[i], b = up[i], c = dy[i];
  Pack<T, Width> to_gate, to_up;
  for (int w = 0; w < Width; ++w) {
    const float x = load(a.value[w]), gradient = load(c.value[w]);
    const float sigmoid = 1 / (1 + __expf(-x));
    to_gate.value[w] = store<T>(gradient * load(b.value[w]) * sigmoid * (1 + x * (1 - sigmoid)));
    to_up.value[w] = store<T>(gradient * x * sigmoid);
  }
  dgate[i] = to_gate;
  dup[i] = to_up;
}

template <class T>
class Swiglu final : public Rows {
 public:
  Swiglu(const Device& device, const Kernel& kernel) : Rows(device, kernel, bytes_of(kernel)) {
    randomise(kGate, -4, 4);
    randomise(kUp, -1, 1);
    if (backward_) randomise(kGradient, -1, 1);
    device_.wait();
  }

  void launch(int set) override {
    wide<T>() ? launch_with<kWidest<T>>(set) : launch_with<1>(set);
    check(cudaGetLastError(), "SwiGLU");
  }

  double error() override {
    return worst_row([&](std::size_t at) { return backward_ ? backward_error(at) : forward_error(at); });
  }

 private:
  enum Array : std::size_t { kGate, kUp, kOutput, kGradient, kToUp };  // backward, the output is the gate's gradient

  static std::vector<std::size_t> bytes_of(const Kernel& kernel) {
    const std::size_t bytes = static_cast<std::size_t>(kernel.elements()) * sizeof(T);
    return {bytes, bytes, bytes, kernel.is_backward() ? bytes : 0, kernel.is_backward() ? bytes : 0};
  }

  template <int Width>
  void launch_with(int set) {
    using Packed = Pack<T, Width>;
    if (backward_) {
      over_packs(Width, swiglu_backward<T, Width>, at<Packed>(set, kGate), at<Packed>(set, kUp),
                 at<Packed>(set, kGradient), at<Packed>(set, kOutput), at<Packed>(set, kToUp));
    } else {
      over_packs(Width, swiglu_forward<T, Width>, at<Packed>(set, kGate), at<Packed>(set, kUp),
                 at<Packed>(set, kOutput));
    }
  }

  double forward_error(std::size_t which) const {
    const auto gate = row(kGate, which), up = row(kUp, which), got = row(kOutput, which);
    double worst = 0;
    for (std::size_t i = 0; i < gate.size(); ++i) {
      const double exact = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      worst = std::max(worst, deviation(got[i], exact, std::abs(exact), number_));
    }
    return worst;
  }

  double backward_error(std::size_t which) const {
    const auto gate = row(kGate, which), up = row(kUp, which), dy = row(kGradient, which);
    const auto to_gate = row(kOutput, which), to_up = row(kToUp, which);
    double worst = 0;
    for (std::size_t i = 0; i < gate.size(); ++i) {
      const double sigmoid = 1 / (1 + std::exp(-gate[i])), scale = std::abs(dy[i]);
      const double of_gate = dy[i] * up[i] * sigmoid * (1 + gate[i] * (1 - sigmoid));
      const double of_up = dy[i] * gate[i] * sigmoid;
      worst = std::max(worst, deviation(to_gate[i], of_gate, 4 * scale, number_));
      worst = std::max(worst, deviation(to_up[i], of_up, 4 * scale, number_));
    }
    return worst;
  }
};

}  // namespace

std::unique_ptr<Workload> make_gelu(const Device& device, const Kernel& kernel) {
  return make_of<Gelu>(device, kernel);
}

std::unique_ptr<Workload> make_swiglu(const Device& device, const Kernel& kernel) {
  return make_of<Swiglu>(device, kernel);
}

}  // namespace slmsim::calibrate

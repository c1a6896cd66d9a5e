// GELU (GPT-2's, with tanh), and dropout with the residual added; each thread takes 16 bytes at once.
#include <algorithm>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {
namespace {

constexpr float kRootTwoOverPi = 0.7978845608f, kCubic = 0.044715f;  // Hendrycks and Gimpel, arXiv 1606.08415
constexpr float kKept = 0.9f;                                        // GPT-2 drops a tenth
constexpr unsigned kThreshold = 0xe6666666U;                         // of 2^32: kKept

__device__ float tanh_argument(float x) { return kRootTwoOverPi * (x + kCubic * x * x * x); }

struct Gelu {
  __device__ float operator()(float x) const { return 0.5f * x * (1 + tanhf(tanh_argument(x))); }
};

struct GeluGradient {
  __device__ float operator()(float x, float dy) const {
    const float t = tanhf(tanh_argument(x));
    const float inner = kRootTwoOverPi * (1 + 3 * kCubic * x * x);
    return dy * (0.5f * (1 + t) + 0.5f * x * (1 - t * t) * inner);
  }
};

template <class T, int Width>
__global__ void gelu_forward(const Pack<T, Width>* x, Pack<T, Width>* y, std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> pack = x[i];
  for (int w = 0; w < Width; ++w) pack.value[w] = store<T>(Gelu{}(load(pack.value[w])));
  y[i] = pack;
}

template <class T, int Width>
__global__ void gelu_backward(const Pack<T, Width>* x, const Pack<T, Width>* dy, Pack<T, Width>* dx,
                              std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  const Pack<T, Width> a = x[i], b = dy[i];
  Pack<T, Width> c;
  for (int w = 0; w < Width; ++w) c.value[w] = store<T>(GeluGradient{}(load(a.value[w]), load(b.value[w])));
  dx[i] = c;
}

// y = residual + dropout(x), and the mask, one byte per element.
template <class T, int Width>
__global__ void residual_forward(const Pack<T, Width>* x, const Pack<T, Width>* residual, Pack<T, Width>* y,
                                 Pack<unsigned char, Width>* mask, std::size_t packs, unsigned seed) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> a = x[i];
  const Pack<T, Width> b = residual[i];
  Pack<unsigned char, Width> kept;
  for (int w = 0; w < Width; ++w) {
    kept.value[w] = mixed(static_cast<unsigned>(i) * Width + w + mixed(seed)) < kThreshold;
    a.value[w] = store<T>(load(b.value[w]) + (kept.value[w] ? load(a.value[w]) / kKept : 0));
  }
  y[i] = a;
  mask[i] = kept;
}

template <class T, int Width>
__global__ void residual_backward(const Pack<T, Width>* dy, Pack<T, Width>* dx, const Pack<unsigned char, Width>* mask,
                                  std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> pack = dy[i];
  const Pack<unsigned char, Width> kept = mask[i];
  for (int w = 0; w < Width; ++w) pack.value[w] = store<T>(kept.value[w] ? load(pack.value[w]) / kKept : 0);
  dx[i] = pack;
}

template <class T>
class Pointwise final : public Rows {
 public:
  Pointwise(const Device& device, const Kernel& kernel)
      : Rows(device, kernel, bytes_of(kernel)), residual_((kernel.family() == "residual")) {
    randomise(0, -4, 4);
    if (residual_ != backward_) randomise(1, -1, 1);
    for (int set = 0; residual_ && backward_ && set < sets(); ++set) {
      // A mask as the forward pass leaves it.
      const cudaError_t set_mask =
          cudaMemsetAsync(arrays_.template at<std::byte>(set, kMask), 1, count(), device_.stream());
      check(set_mask, "cudaMemset");
    }
    device_.wait();
  }

  void launch(int set) override {
    if (count() % kWidest<T> == 0) {
      launch_with<kWidest<T>>(set);
    } else {
      launch_with<1>(set);
    }
    check(cudaGetLastError(), residual_ ? "dropout and residual" : "GELU");
  }

  double error() override {
    return worst_row([&](std::size_t at) { return row_error(at); });
  }

 private:
  enum Array : std::size_t { kInput, kSecond, kOutput, kMask };

  // gelu: x, -, y or x, dy, dx; residual: x, residual, y, mask or dy, -, dx, mask.
  static std::vector<std::size_t> bytes_of(const Kernel& kernel) {
    const auto count = static_cast<std::size_t>(kernel.elements());
    const bool second = kernel.name == "gelu-backward" || kernel.name == "residual-forward";
    return {count * sizeof(T), second ? count * sizeof(T) : 0, count * sizeof(T),
            (kernel.family() == "residual") ? count : 0};
  }

  template <int Width>
  void launch_with(int set) {
    using Packed = Pack<T, Width>;
    const std::size_t packs = count() / Width;
    const auto grid = static_cast<unsigned>((packs + kBlock - 1) / kBlock);
    auto* const in = arrays_.template at<Packed>(set, kInput);
    auto* const second = arrays_.template at<Packed>(set, kSecond);
    auto* const out = arrays_.template at<Packed>(set, kOutput);
    auto* const mask = arrays_.template at<Pack<unsigned char, Width>>(set, kMask);
    const cudaStream_t stream = device_.stream();
    if (residual_ && backward_) residual_backward<T, Width><<<grid, kBlock, 0, stream>>>(in, out, mask, packs);
    if (residual_ && !backward_)
      residual_forward<T, Width><<<grid, kBlock, 0, stream>>>(in, second, out, mask, packs, seed(set, kMask));
    if (!residual_ && backward_) gelu_backward<T, Width><<<grid, kBlock, 0, stream>>>(in, second, out, packs);
    if (!residual_ && !backward_) gelu_forward<T, Width><<<grid, kBlock, 0, stream>>>(in, out, packs);
  }

  std::vector<unsigned char> mask_row(std::size_t at) const {
    std::vector<unsigned char> mask(static_cast<std::size_t>(columns_));
    check(cudaMemcpy(mask.data(), arrays_.template at<unsigned char>(0, kMask) + at * mask.size(), mask.size(),
                     cudaMemcpyDeviceToHost),
          "reading a mask");
    return mask;
  }

  double row_error(std::size_t at) const {
    const auto x = row(kInput, at), got = row(kOutput, at);
    const auto second = residual_ != backward_ ? row(kSecond, at) : std::vector<double>(x.size(), 0.0);
    const auto mask = residual_ ? mask_row(at) : std::vector<unsigned char>(x.size(), 1);
    double worst = 0, kept = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      kept += mask[i];
      const double dropped = mask[i] ? x[i] / static_cast<double>(kKept) : 0;
      const double exact = residual_ ? second[i] + dropped : gelu(x[i], second[i]);
      worst = std::max(worst, deviation(got[i], exact, 1 + std::abs(x[i]) + std::abs(second[i]), number_));
    }
    // A mask that keeps far from nine tenths of a row is none.
    constexpr double kFar = 0.1;
    constexpr std::size_t kEnough = 256;
    const bool odd = residual_ && !backward_ && x.size() >= kEnough &&
                     std::abs(kept / static_cast<double>(x.size()) - static_cast<double>(kKept)) > kFar;
    return odd ? std::numeric_limits<double>::infinity() : worst;
  }

  double gelu(double x, double dy) const {
    const double cubic = static_cast<double>(kCubic), root = static_cast<double>(kRootTwoOverPi);
    const double t = std::tanh(root * (x + cubic * x * x * x));
    if (!backward_) return 0.5 * x * (1 + t);
    return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * cubic * x * x));
  }

  const bool residual_;
};

}  // namespace

std::unique_ptr<Workload> make_pointwise(const Device& device, const Kernel& kernel) {
  return make_of<Pointwise>(device, kernel);
}

}  // namespace slmsim::calibrate

// The end of a block: its product's bias and dropout, and the addition of the residual stream ("residual"; without dropout
// "addition"). The stream's gradient passes through unchanged; backward computes the branch's and the bias's.
#include <algorithm>

#include "calibrate/cuda/column_sum.cuh"

namespace slmsim::calibrate {
namespace {

// y = stream + dropout(x + bias), and the mask, one byte per element.
template <class T, int Width>
__global__ void residual_forward(const Pack<T, Width>* x, const Pack<T, Width>* bias, const Pack<T, Width>* stream,
                                 Pack<T, Width>* y, Pack<unsigned char, Width>* mask, unsigned width, unsigned seed,
                                 std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> a = x[i];
  const Pack<T, Width> b = stream[i], added = bias[column_of(i, width)];
  Pack<unsigned char, Width> kept;
  for (int w = 0; w < Width; ++w) {
    kept.value[w] = kept_byte(i * Width + w, seed);
    a.value[w] = store<T>(load(b.value[w]) + dropped(load(a.value[w]) + load(added.value[w]), kept.value[w]));
  }
  y[i] = a;
  mask[i] = kept;
}

template <class T, int Width>
__global__ void addition_forward(const Pack<T, Width>* x, const Pack<T, Width>* bias, const Pack<T, Width>* stream,
                                 Pack<T, Width>* y, unsigned width, std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> a = x[i];
  const Pack<T, Width> b = stream[i], added = bias[column_of(i, width)];
  for (int w = 0; w < Width; ++w) a.value[w] = store<T>(load(b.value[w]) + load(a.value[w]) + load(added.value[w]));
  y[i] = a;
}

template <class T>
class Residual final : public BiasedRows {
 public:
  Residual(const Device& device, const Kernel& kernel)
      : BiasedRows(device, kernel, bytes_of(kernel)), drops_(kernel.family() == "residual") {
    randomise(kInput, -4, 4);
    make_bias(kBias);
    if (!backward_) randomise(kStream, -1, 1);
    if (drops_ && backward_) make_masks(kMask);
    device_.wait();
  }

  void launch(int set) override {
    wide<T>() ? launch_with<kWidest<T>>(set) : launch_with<1>(set);
    if (backward_) sum<T>(set, summed(), kSums);
    check(cudaGetLastError(), "dropout and residual");
  }

  double error() override {
    const double sums = backward_ ? sums_error(summed(), kSums) : 0;
    return backward_ && !drops_ ? sums : std::max(sums, worst_row([&](std::size_t at) { return row_error(at); }));
  }

 private:
  // Backward, the input is the gradient, and the output that of the branch; without dropout these are the same.
  enum Array : std::size_t { kInput, kBias, kStream, kOutput, kMask, kSums };
  std::size_t summed() const { return drops_ ? kOutput : kInput; }

  static std::vector<std::size_t> bytes_of(const Kernel& kernel) {
    const auto count = static_cast<std::size_t>(kernel.elements()), n = static_cast<std::size_t>(kernel.n);
    const bool backward = kernel.is_backward(), drops = kernel.family() == "residual";
    return {count * sizeof(T),
            n * sizeof(T),
            backward ? 0 : count * sizeof(T),
            backward && !drops ? 0 : count * sizeof(T),
            drops ? count : 0,
            backward ? n * sizeof(float) : 0};
  }

  template <int Width>
  void launch_with(int set) {
    using Packed = Pack<T, Width>;
    const auto width = static_cast<unsigned>(columns_ / Width);
    auto* const in = at<Packed>(set, kInput);
    auto* const bias = at<Packed>(set, kBias);
    auto* const out = at<Packed>(set, kOutput);
    auto* const mask = at<Pack<unsigned char, Width>>(set, kMask);
    if (backward_) {
      if (drops_) over_packs(Width, dropout_backward<T, Width>, in, out, mask);
    } else if (drops_) {
      over_packs(Width, residual_forward<T, Width>, in, bias, at<Packed>(set, kStream), out, mask, width,
                 seed(set, kMask));
    } else {
      over_packs(Width, addition_forward<T, Width>, in, bias, at<Packed>(set, kStream), out, width);
    }
  }

  double row_error(std::size_t which) const {
    const auto x = row(kInput, which), bias = row(kBias, 0), got = row(kOutput, which);
    const auto stream = backward_ ? std::vector<double>(x.size(), 0.0) : row(kStream, which);
    const auto mask = drops_ ? mask_row(kMask, which) : std::vector<unsigned char>(x.size(), 1);
    if (drops_ && is_odd(mask)) return std::numeric_limits<double>::infinity();
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double branch = (backward_ ? x[i] : x[i] + bias[i]) / (drops_ ? static_cast<double>(kKept) : 1);
      const double exact = stream[i] + (mask[i] ? branch : 0);
      worst = std::max(worst, deviation(got[i], exact, 1 + std::abs(branch) + std::abs(stream[i]), number_));
    }
    return worst;
  }

  const bool drops_;
};

}  // namespace

std::unique_ptr<Workload> make_residual(const Device& device, const Kernel& kernel) {
  return make_of<Residual>(device, kernel);
}

}  // namespace slmsim::calibrate

// Kernels of eager frameworks on the scores of attention besides their softmax: scaling and masking, one kernel each, and
// dropout of the probabilities.
#include <algorithm>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {
namespace {

constexpr float kScale = 0.125f;      // 1 / sqrt(64)
constexpr float kMasked = -10000.0f;  // GPT-2's; fp16 can represent it

template <class T, int Width>
__global__ void scale(const Pack<T, Width>* x, Pack<T, Width>* y, std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> pack = x[i];
  for (int w = 0; w < Width; ++w) pack.value[w] = store<T>(load(pack.value[w]) * kScale);
  y[i] = pack;
}

// Row r is the query r mod `columns`, which attends to the keys up to itself.
template <class T, int Width>
__global__ void mask_future(const Pack<T, Width>* x, Pack<T, Width>* y, int columns, float masked, std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  const auto width = static_cast<unsigned>(columns / Width);
  const int query = static_cast<int>((i / width) % static_cast<unsigned>(columns));
  const int key = static_cast<int>(column_of(i, width)) * Width;
  Pack<T, Width> pack = x[i];
  for (int w = 0; w < Width; ++w) {
    if (key + w > query) pack.value[w] = store<T>(masked);
  }
  y[i] = pack;
}

// Arrays: scores, the values between the two kernels, result. Backward the gradient is masked first, then scaled.
template <class T>
class Mask final : public Rows {
 public:
  Mask(const Device& device, const Kernel& kernel)
      : Rows(device, kernel, std::vector<std::size_t>(3, static_cast<std::size_t>(kernel.elements()) * sizeof(T))) {
    randomise(kInput, -32, 32);
    device_.wait();
  }

  void launch(int set) override {
    wide<T>() ? launch_with<kWidest<T>>(set) : launch_with<1>(set);
    check(cudaGetLastError(), "scale and mask");
  }

  double error() override {
    return worst_row([&](std::size_t which) {
      const auto x = row(kInput, which), got = row(kOutput, which);
      const std::size_t query = which % x.size();
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double hidden = backward_ ? 0 : static_cast<double>(kMasked);
        const double exact = i > query ? hidden : x[i] * static_cast<double>(kScale);
        worst = std::max(worst, deviation(got[i], exact, std::abs(exact), number_));
      }
      return worst;
    });
  }

 private:
  enum Array : std::size_t { kInput, kBetween, kOutput };

  template <int Width>
  void launch_with(int set) {
    using Packed = Pack<T, Width>;
    auto* const in = at<Packed>(set, kInput);
    auto* const between = at<Packed>(set, kBetween);
    auto* const out = at<Packed>(set, kOutput);
    if (backward_) {
      over_packs(Width, mask_future<T, Width>, in, between, columns_, 0.0f);
      over_packs(Width, scale<T, Width>, between, out);
    } else {
      over_packs(Width, scale<T, Width>, in, between);
      over_packs(Width, mask_future<T, Width>, between, out, columns_, kMasked);
    }
  }
};

template <class T, int Width>
__global__ void dropout_forward(const Pack<T, Width>* x, Pack<T, Width>* y, Pack<unsigned char, Width>* mask,
                                unsigned seed, std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> pack = x[i];
  Pack<unsigned char, Width> kept;
  for (int w = 0; w < Width; ++w) {
    kept.value[w] = kept_byte(i * Width + w, seed);
    pack.value[w] = store<T>(dropped(load(pack.value[w]), kept.value[w]));
  }
  y[i] = pack;
  mask[i] = kept;
}

template <class T>
class Dropout final : public Rows {
 public:
  Dropout(const Device& device, const Kernel& kernel) : Rows(device, kernel, bytes_of(kernel)) {
    randomise(kInput, 0, 1);
    if (backward_) make_masks(kMask);
    device_.wait();
  }

  void launch(int set) override {
    wide<T>() ? launch_with<kWidest<T>>(set) : launch_with<1>(set);
    check(cudaGetLastError(), "dropout");
  }

  double error() override {
    return worst_row([&](std::size_t which) {
      const auto x = row(kInput, which), got = row(kOutput, which);
      const auto mask = mask_row(kMask, which);
      double worst = is_odd(mask) ? std::numeric_limits<double>::infinity() : 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = mask[i] ? x[i] / static_cast<double>(kKept) : 0;
        worst = std::max(worst, deviation(got[i], exact, std::abs(exact), number_));
      }
      return worst;
    });
  }

 private:
  enum Array : std::size_t { kInput, kOutput, kMask };

  static std::vector<std::size_t> bytes_of(const Kernel& kernel) {
    const auto count = static_cast<std::size_t>(kernel.elements());
    return {count * sizeof(T), count * sizeof(T), count};
  }

  template <int Width>
  void launch_with(int set) {
    using Packed = Pack<T, Width>;
    auto* const mask = at<Pack<unsigned char, Width>>(set, kMask);
    if (backward_) {
      over_packs(Width, dropout_backward<T, Width>, at<Packed>(set, kInput), at<Packed>(set, kOutput), mask);
    } else {
      over_packs(Width, dropout_forward<T, Width>, at<Packed>(set, kInput), at<Packed>(set, kOutput), mask,
                 seed(set, kMask));
    }
  }
};

}  // namespace

std::unique_ptr<Workload> make_mask(const Device& device, const Kernel& kernel) {
  return make_of<Mask>(device, kernel);
}

std::unique_ptr<Workload> make_dropout(const Device& device, const Kernel& kernel) {
  return make_of<Dropout>(device, kernel);
}

}  // namespace slmsim::calibrate

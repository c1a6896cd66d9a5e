// The kernels after the product for queries, keys and values: its bias, where the product does not add it, and rotary positions
// (Su et al., arXiv 2104.09864), which rotate pairs from a head's two halves.
#include <algorithm>

#include "calibrate/cuda/column_sum.cuh"

namespace slmsim::calibrate {
namespace {

template <class T, int Width>
__global__ void bias_forward(const Pack<T, Width>* x, const Pack<T, Width>* bias, Pack<T, Width>* y, unsigned width,
                             std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  Pack<T, Width> pack = x[i];
  const Pack<T, Width> added = bias[column_of(i, width)];
  for (int w = 0; w < Width; ++w) pack.value[w] = store<T>(load(pack.value[w]) + load(added.value[w]));
  y[i] = pack;
}

// Backward, the gradient passes through, and its columns are added up.
template <class T>
class Bias final : public BiasedRows {
 public:
  Bias(const Device& device, const Kernel& kernel) : BiasedRows(device, kernel, bytes_of(kernel)) {
    randomise(kInput, -1, 1);
    make_bias(kBias);
    device_.wait();
  }

  void launch(int set) override {
    if (backward_) {
      sum<T>(set, kInput, kSums);
    } else {
      wide<T>() ? launch_with<kWidest<T>>(set) : launch_with<1>(set);
    }
    check(cudaGetLastError(), "bias");
  }

  double error() override {
    if (backward_) return sums_error(kInput, kSums);
    const auto bias = row(kBias, 0);
    return worst_row([&](std::size_t which) {
      const auto x = row(kInput, which), got = row(kOutput, which);
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i)
        worst = std::max(worst, deviation(got[i], x[i] + bias[i], std::abs(x[i]) + std::abs(bias[i]), number_));
      return worst;
    });
  }

 private:
  enum Array : std::size_t { kInput, kBias, kOutput, kSums };

  static std::vector<std::size_t> bytes_of(const Kernel& kernel) {
    const auto count = static_cast<std::size_t>(kernel.elements()), n = static_cast<std::size_t>(kernel.n);
    const bool backward = kernel.is_backward();
    return {count * sizeof(T), n * sizeof(T), backward ? 0 : count * sizeof(T), backward ? n * sizeof(float) : 0};
  }

  template <int Width>
  void launch_with(int set) {
    using Packed = Pack<T, Width>;
    over_packs(Width, bias_forward<T, Width>, at<Packed>(set, kInput), at<Packed>(set, kBias), at<Packed>(set, kOutput),
               static_cast<unsigned>(columns_ / Width));
  }
};

constexpr int kRotaryPositions = 1024;  // rows wrap around them
constexpr float kBase = 10000;
// Relative error of an angle, in roundings to fp32: powf's 4 ulp (CUDA C++ Programming Guide, mathematical functions), the
// rounding of its exponent times the logarithm of the base, and the product's own.
constexpr double kAngleError = 8 + 9.3 + 1;

// A thread per pair: element j of a head's first half and the one `half` after it. `turns`: cosine and sine of every position
// and pair. The rest of a row after its heads is unchanged. Backward rotates the other way.
template <class T>
__global__ void rotary(const T* x, const float2* turns, T* y, int columns, int half, float direction,
                       std::size_t pairs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= pairs) return;
  const auto width = static_cast<unsigned>((columns + 1) / 2);
  const std::size_t row = i / width, start = row * columns;
  const int pair = static_cast<int>(column_of(i, width));
  const int head = pair / half, within = pair % half, first = 2 * half * head + within, second = first + half;
  if (2 * half * (head + 1) > columns) {
    // After the last whole head: two consecutive elements per thread.
    const int at = 2 * pair;
    y[start + at] = x[start + at];
    if (at + 1 < columns) y[start + at + 1] = x[start + at + 1];
    return;
  }
  const float2 turn = turns[(row % kRotaryPositions) * half + within];
  const float a = load(x[start + first]), b = load(x[start + second]), sine = direction * turn.y;
  y[start + first] = store<T>(a * turn.x - b * sine);
  y[start + second] = store<T>(a * sine + b * turn.x);
}

__global__ void make_turns(float2* turns, int half, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= count) return;
  const float angle =
      static_cast<float>(i / half) * powf(kBase, -static_cast<float>(i % half) / static_cast<float>(half));
  turns[i] = {cosf(angle), sinf(angle)};
}

template <class T>
class Rotary final : public Rows {
 public:
  Rotary(const Device& device, const Kernel& kernel)
      : Rows(device, kernel, bytes_of(kernel)),
        half_(half_of(kernel)),
        pairs_(rows_ * static_cast<std::size_t>((columns_ + 1) / 2)) {
    randomise(kInput, -1, 1);
    const std::size_t turns = static_cast<std::size_t>(kRotaryPositions) * static_cast<std::size_t>(half_);
    for (int set = 0; set < sets(); ++set)
      start_kernel(make_turns, blocks_of(turns), kBlock, device_.stream(), at<float2>(set, kTurns), half_, turns);
    device_.wait();
  }

  void launch(int set) override {
    start_kernel(rotary<T>, blocks_of(pairs_), kBlock, device_.stream(), at<T>(set, kInput), at<float2>(set, kTurns),
                 at<T>(set, kOutput), columns_, half_, backward_ ? -1.0f : 1.0f, pairs_);
    check(cudaGetLastError(), "rotary embedding");
  }

  double error() override {
    return worst_row([&](std::size_t which) {
      const auto x = row(kInput, which), got = row(kOutput, which);
      const auto n = static_cast<int>(x.size());
      const double position = static_cast<double>(which % kRotaryPositions);
      double worst = 0;
      for (int i = 0; i < n; ++i) {
        const int head = i / (2 * half_), within = i % (2 * half_), pair = within % half_;
        double exact = x[static_cast<std::size_t>(i)], magnitude = 2 * std::abs(exact);
        if (2 * half_ * (head + 1) <= n) {
          const double angle = position * std::pow(static_cast<double>(kBase), -static_cast<double>(pair) / half_);
          const double other = x[static_cast<std::size_t>(within < half_ ? i + half_ : i - half_)];
          const double sine = (within < half_) == backward_ ? std::sin(angle) : -std::sin(angle);
          // An error in the angle rotates both elements: d(x cos + y sin) = (y cos - x sin) d(angle).
          const double turned = std::abs(exact * sine) + std::abs(other * std::cos(angle));
          magnitude += 2 * std::abs(other) + turned * (kAngleError * angle * 0x1p-24 / kSumError);
          exact = exact * std::cos(angle) + other * sine;
        }
        worst = std::max(worst, deviation(got[static_cast<std::size_t>(i)], exact, magnitude, number_));
      }
      return worst;
    });
  }

 private:
  enum Array : std::size_t { kInput, kOutput, kTurns };

  // Heads of 128, or of 64 where these do not divide the row; a shorter row is one head.
  static int half_of(const Kernel& kernel) {
    if (kernel.n % 128 == 0 || kernel.n >= 1024) return 64;
    return static_cast<int>(std::max<std::int64_t>(1, std::min<std::int64_t>(64, kernel.n) / 2));
  }
  static unsigned blocks_of(std::size_t threads) { return static_cast<unsigned>((threads + kBlock - 1) / kBlock); }

  static std::vector<std::size_t> bytes_of(const Kernel& kernel) {
    const std::size_t bytes = static_cast<std::size_t>(kernel.elements()) * sizeof(T);
    return {bytes, bytes,
            static_cast<std::size_t>(kRotaryPositions) * static_cast<std::size_t>(half_of(kernel)) * sizeof(float2)};
  }

  const int half_;
  const std::size_t pairs_;
};

}  // namespace

std::unique_ptr<Workload> make_bias(const Device& device, const Kernel& kernel) {
  return make_of<Bias>(device, kernel);
}

std::unique_ptr<Workload> make_rotary(const Device& device, const Kernel& kernel) {
  return make_of<Rotary>(device, kernel);
}

}  // namespace slmsim::calibrate

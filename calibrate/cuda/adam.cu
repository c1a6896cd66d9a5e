// Adam in one kernel: reads the gradient, the fp32 master and both moments, writes these and the weights in training
// precision (fp32 training has no copy). Kingma and Ba, arXiv 1412.6980, algorithm 1.
#include <algorithm>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {
namespace {

constexpr float kRate = 1e-3f, kFirstDecay = 0.9f, kSecondDecay = 0.999f, kEpsilon = 1e-8f;
constexpr float kFirstCorrection = 1 / (1 - 0.729f), kSecondCorrection = 1 / (1 - 0.997003f);  // the third step
constexpr int kWidth = 4;

template <class T, int Width>
__global__ void adam(const Pack<T, Width>* gradient, Pack<float, Width>* master, Pack<float, Width>* first,
                     Pack<float, Width>* second, Pack<T, Width>* weights, std::size_t packs) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i >= packs) return;
  const Pack<T, Width> g = gradient[i];
  Pack<float, Width> p = master[i], m = first[i], v = second[i];
  Pack<T, Width> stored;
  for (int w = 0; w < Width; ++w) {
    const float slope = load(g.value[w]);
    m.value[w] = kFirstDecay * m.value[w] + (1 - kFirstDecay) * slope;
    v.value[w] = kSecondDecay * v.value[w] + (1 - kSecondDecay) * slope * slope;
    p.value[w] -= kRate * m.value[w] * kFirstCorrection / (sqrtf(v.value[w] * kSecondCorrection) + kEpsilon);
    stored.value[w] = store<T>(p.value[w]);
  }
  master[i] = p;
  first[i] = m;
  second[i] = v;
  if (weights) weights[i] = stored;
}

template <class T>
class Adam final : public Workload {
 public:
  enum Array : std::size_t { kGradient, kMaster, kFirst, kSecond, kWeights };

  Adam(const Device& device, const Kernel& kernel)
      : device_(device),
        number_(number_of(kernel.precision)),
        count_(static_cast<std::size_t>(kernel.m)),
        arrays_(device, {count_ * sizeof(T), count_ * sizeof(float), count_ * sizeof(float), count_ * sizeof(float),
                         kCopy ? count_ * sizeof(T) : 0}) {
    for (int set = 0; set < sets(); ++set) begin(set);
    device_.wait();
  }

  int sets() const override { return arrays_.sets(); }

  void launch(int set) override {
    if (count_ % kWidth == 0) {
      launch_with<kWidth>(set);
    } else {
      launch_with<1>(set);
    }
    check(cudaGetLastError(), "Adam");
  }

  // A step changes what it reads, so the check makes one from the start.
  double error() override {
    begin(0);
    const auto read = [&](Array array, Number number, std::size_t from, std::size_t many) {
      return gather(device_, arrays_.template at<std::byte>(0, array), number, from, 1, many);
    };
    const std::size_t many = std::min<std::size_t>(kChecked, count_), from = count_ - many;
    const auto g = read(kGradient, number_, from, many), p = read(kMaster, Number::kFloat, from, many);
    const auto m = read(kFirst, Number::kFloat, from, many), v = read(kSecond, Number::kFloat, from, many);
    launch(0);
    const auto got = read(kMaster, Number::kFloat, from, many);
    const auto stored = kCopy ? read(kWeights, number_, from, many) : got;
    double worst = 0;
    for (std::size_t i = 0; i < many; ++i) {
      const double first = 0.9 * m[i] + 0.1 * g[i], second = 0.999 * v[i] + 0.001 * g[i] * g[i];
      const double step = 1e-3 * first / 0.271 / (std::sqrt(second / 0.002997001) + 1e-8);
      worst = std::max(worst, deviation(got[i], p[i] - step, std::abs(p[i]) + 10 * std::abs(step), Number::kFloat));
      worst = std::max(worst, deviation(stored[i], p[i] - step, std::abs(p[i]) + 10 * std::abs(step), number_));
    }
    return worst;
  }

 private:
  static constexpr bool kCopy = sizeof(T) < sizeof(float);
  static constexpr std::size_t kChecked = 4096;

  template <int Width>
  void launch_with(int set) {
    const std::size_t packs = count_ / Width;
    const auto grid = static_cast<unsigned>((packs + kBlock - 1) / kBlock);
    using Floats = Pack<float, Width>;
    adam<T, Width><<<grid, kBlock, 0, device_.stream()>>>(
        arrays_.template at<Pack<T, Width>>(set, kGradient), arrays_.template at<Floats>(set, kMaster),
        arrays_.template at<Floats>(set, kFirst), arrays_.template at<Floats>(set, kSecond),
        kCopy ? arrays_.template at<Pack<T, Width>>(set, kWeights) : nullptr, packs);
  }

  void begin(int set) {
    const auto fill = [&](Array array, Number number, float low, float high) {
      fill_random(device_, arrays_.template at<std::byte>(set, array), number, count_, low, high,
                  64 * static_cast<unsigned>(set) + static_cast<unsigned>(array));
    };
    fill(kGradient, number_, -1, 1);
    fill(kMaster, Number::kFloat, -1, 1);
    fill(kFirst, Number::kFloat, -0.1f, 0.1f);
    fill(kSecond, Number::kFloat, 1e-3f, 1e-2f);
  }

  const Device& device_;
  const Number number_;
  const std::size_t count_;
  const Arrays arrays_;
};

}  // namespace

std::unique_ptr<Workload> make_adam(const Device& device, const Kernel& kernel) {
  return make_of<Adam>(device, kernel);
}

}  // namespace slmsim::calibrate

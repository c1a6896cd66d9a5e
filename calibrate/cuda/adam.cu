// Adam (Kingma and Ba, arXiv 1412.6980, algorithm 1) on fp32 masters and moments, and a copy of the weights in training
// precision (fp32 training has none), in three ways:
//   adam           one kernel for all parameters: reads gradient, master and moments once, writes master, moments, copy
//   adam_foreach   PyTorch's default: each arithmetic step is a kernel that goes through a list of tensors
//   adam_single    each step of each tensor is a kernel of its own (PyTorch's foreach=False)
#include <algorithm>
#include <iterator>
#include <vector>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {
namespace {

constexpr float kRate = 1e-3f, kFirstDecay = 0.9f, kSecondDecay = 0.999f, kEpsilon = 1e-8f;
constexpr float kFirstCorrection = 1 / (1 - 0.729f), kSecondCorrection = 1 / (1 - 0.997003f);  // at the third step
constexpr int kWidth = 4;

constexpr unsigned kChunk = 65536;  // elements in a block's piece of a tensor, as in PyTorch's multi_tensor_apply
constexpr std::size_t kHidden = 1024;
// Tensors of a layer of this width, in elements: weights, biases and norms.
constexpr std::size_t kTensors[] = {kHidden, kHidden, 3 * kHidden* kHidden, 3 * kHidden, kHidden* kHidden,     kHidden,
                                    kHidden, kHidden, 4 * kHidden* kHidden, 4 * kHidden, 4 * kHidden* kHidden, kHidden};

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

// A part of a tensor, or all of it.
struct Piece {
  std::size_t first = 0, count = 0;
};

template <class T>
struct State {
  const T* gradient;
  float *master, *first, *second, *root;
  T* weights;
};

constexpr int kSteps = 7;  // and an eighth, which copies
// One arithmetic step on one element. PyTorch: lerp, mul, addcmul, sqrt, div, add, addcdiv.
template <class T>
__device__ void do_step(int step, const State<T>& s, std::size_t i) {
  switch (step) {
    case 0:
      s.first[i] += (1 - kFirstDecay) * (load(s.gradient[i]) - s.first[i]);
      break;
    case 1:
      s.second[i] *= kSecondDecay;
      break;
    case 2: {
      const float slope = load(s.gradient[i]);
      s.second[i] += (1 - kSecondDecay) * slope * slope;
      break;
    }
    case 3:
      s.root[i] = sqrtf(s.second[i]);
      break;
    case 4:
      s.root[i] *= sqrtf(kSecondCorrection);
      break;
    case 5:
      s.root[i] += kEpsilon;
      break;
    case 6:
      s.master[i] -= kRate * kFirstCorrection * s.first[i] / s.root[i];
      break;
    default:
      s.weights[i] = store<T>(s.master[i]);
  }
}

// A block per piece.
template <class T>
__global__ void step_of_pieces(State<T> state, const Piece* pieces, int step) {
  const Piece piece = pieces[blockIdx.x];
  for (std::size_t i = threadIdx.x; i < piece.count; i += kBlock) do_step(step, state, piece.first + i);
}

template <class T>
__global__ void step_of_tensor(State<T> state, Piece tensor, int step) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kBlock + threadIdx.x;
  if (i < tensor.count) do_step(step, state, tensor.first + i);
}

// The tensors of `parameters` parameters, cut into pieces of at most `longest` elements.
std::vector<Piece> pieces_of(std::size_t parameters, std::size_t longest) {
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  for (std::size_t which = 0; begin < parameters; ++which) {
    const std::size_t end = std::min(parameters, begin + kTensors[which % std::size(kTensors)]);
    for (; begin < end; begin += pieces.back().count) pieces.push_back({begin, std::min(longest, end - begin)});
  }
  return pieces;
}

enum class Variant { kFused, kForeach, kSingle };
Variant variant_of(const Kernel& kernel) {
  return kernel.name == "adam" ? Variant::kFused : kernel.name == "adam_foreach" ? Variant::kForeach : Variant::kSingle;
}

template <class T>
class Adam final : public Workload {
 public:
  enum Array : std::size_t { kGradient, kMaster, kFirst, kSecond, kWeights, kRoot, kPieces };

  Adam(const Device& device, const Kernel& kernel)
      : device_(device),
        number_(number_of(kernel.precision)),
        count_(static_cast<std::size_t>(kernel.m)),
        variant_(variant_of(kernel)),
        pieces_(variant_ == Variant::kFused ? std::vector<Piece>{}
                                            : pieces_of(count_, variant_ == Variant::kForeach ? kChunk : count_)),
        arrays_(device, {count_ * sizeof(T), count_ * sizeof(float), count_ * sizeof(float), count_ * sizeof(float),
                         kCopy ? count_ * sizeof(T) : 0, variant_ == Variant::kFused ? 0 : count_ * sizeof(float),
                         pieces_.size() * sizeof(Piece)}) {
    for (int set = 0; set < sets(); ++set) {
      begin(set);
      if (!pieces_.empty())
        check(cudaMemcpy(arrays_.template at<Piece>(set, kPieces), pieces_.data(), pieces_.size() * sizeof(Piece),
                         cudaMemcpyHostToDevice),
              "copying the list of tensors");
    }
    device_.wait();
  }

  int sets() const override { return arrays_.sets(); }

  void launch(int set) override {
    if (variant_ != Variant::kFused) {
      launch_steps(set);
    } else if (count_ % kWidth == 0) {
      launch_with<kWidth>(set);
    } else {
      launch_with<1>(set);
    }
    check(cudaGetLastError(), "Adam");
  }

  // A step changes its inputs, so the check makes one from the initial values.
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
    start_kernel(adam<T, Width>, grid, kBlock, device_.stream(), arrays_.template at<Pack<T, Width>>(set, kGradient),
                 arrays_.template at<Floats>(set, kMaster), arrays_.template at<Floats>(set, kFirst),
                 arrays_.template at<Floats>(set, kSecond),
                 kCopy ? arrays_.template at<Pack<T, Width>>(set, kWeights) : nullptr, packs);
  }

  void launch_steps(int set) {
    const auto floats = [&](Array array) { return arrays_.template at<float>(set, array); };
    const State<T> state{
        arrays_.template at<T>(set, kGradient), floats(kMaster), floats(kFirst), floats(kSecond), floats(kRoot),
        arrays_.template at<T>(set, kWeights)};
    const cudaStream_t stream = device_.stream();
    const int steps = kSteps + (kCopy ? 1 : 0);
    const auto begin_step = [&](const Piece& tensor, int step) {
      start_kernel(step_of_tensor<T>, static_cast<unsigned>((tensor.count + kBlock - 1) / kBlock), kBlock, stream,
                   state, tensor, step);
    };
    for (int step = 0; variant_ == Variant::kForeach && step < steps; ++step)
      start_kernel(step_of_pieces<T>, static_cast<unsigned>(pieces_.size()), kBlock, stream, state,
                   arrays_.template at<Piece>(set, kPieces), step);
    if (variant_ == Variant::kForeach) return;
    for (const Piece& tensor : pieces_) {
      for (int step = 0; step < steps; ++step) begin_step(tensor, step);
    }
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
  const Variant variant_;
  const std::vector<Piece> pieces_;
  const Arrays arrays_;
};

}  // namespace

std::unique_ptr<Workload> make_adam(const Device& device, const Kernel& kernel) {
  return make_of<Adam>(device, kernel);
}

}  // namespace slmsim::calibrate

// Cross entropy as in PyTorch's mixed precision: forward computes the logits' fp32 log-softmax and each row's loss, backward
// the logits' gradient from it.
#include <algorithm>
#include <cfloat>

#include "calibrate/cuda/elementwise.cuh"

namespace slmsim::calibrate {
namespace {

// A vocabulary's size may be odd, so rows are read element by element.
template <class T>
__global__ void loss_forward(const T* logits, const int* labels, float* logarithms, float* losses, int columns) {
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  float2 state = {-FLT_MAX, 0};
  for (int i = threadIdx.x; i < columns; i += kBlock) state = MaximumAndSum{}(state, {load(logits[start + i]), 1});
  state = reduce_block(state, {-FLT_MAX, 0}, MaximumAndSum{});
  const float total = state.x + logf(state.y);
  for (int i = threadIdx.x; i < columns; i += kBlock) logarithms[start + i] = load(logits[start + i]) - total;
  if (threadIdx.x == 0) losses[blockIdx.x] = total - load(logits[start + labels[blockIdx.x]]);
}

template <class T>
__global__ void loss_backward(const float* logarithms, const int* labels, T* gradient, int columns, float scale) {
  const std::size_t start = static_cast<std::size_t>(blockIdx.x) * columns;
  const int label = labels[blockIdx.x];
  for (int i = threadIdx.x; i < columns; i += kBlock)
    gradient[start + i] = store<T>(scale * (__expf(logarithms[start + i]) - (i == label ? 1 : 0)));
}

template <class T>
class Loss final : public Rows {
 public:
  enum Array : std::size_t { kLogits, kLogarithms, kLabels, kLosses };  // backward replaces logits by their gradient

  Loss(const Device& device, const Kernel& kernel) : Rows(device, kernel, bytes_of(kernel)) {
    for (int set = 0; set < sets(); ++set) {
      fill_random_int(device_, labels(set), rows_, columns_, seed(set, kLabels));
      if (backward_) {
        // Loss of random logits: about -log(columns).
        const float usual = std::log(static_cast<float>(columns_));
        fill_random(device_, logarithms(set), Number::kFloat, count(), -usual - 1, -usual + 1, seed(set, kLogarithms));
      }
    }
    if (!backward_) randomise(kLogits, -4, 4);
    device_.wait();
  }

  void launch(int set) override {
    T* const logits = arrays_.template at<T>(set, kLogits);
    if (backward_) {
      start_kernel(loss_backward<T>, blocks(), kBlock, device_.stream(), logarithms(set), labels(set), logits, columns_,
                   kScale);
    } else {
      start_kernel(loss_forward<T>, blocks(), kBlock, device_.stream(), logits, labels(set), logarithms(set),
                   arrays_.template at<float>(set, kLosses), columns_);
    }
    check(cudaGetLastError(), "cross entropy");
  }

  double error() override {
    return worst_row([&](std::size_t at) { return backward_ ? backward_error(at) : forward_error(at); });
  }

 private:
  static constexpr float kScale = 8;  // of the loss, so that fp16 gradients do not vanish

  static std::vector<std::size_t> bytes_of(const Kernel& kernel) {
    const auto rows = static_cast<std::size_t>(kernel.m), count = static_cast<std::size_t>(kernel.elements());
    return {count * sizeof(T), count * sizeof(float), rows * sizeof(int), rows * sizeof(float)};
  }
  float* logarithms(int set) const { return arrays_.template at<float>(set, kLogarithms); }
  int* labels(int set) const { return arrays_.template at<int>(set, kLabels); }

  std::size_t label(std::size_t at) const {
    int value = 0;
    check(cudaMemcpy(&value, labels(0) + at, sizeof value, cudaMemcpyDeviceToHost), "reading a label");
    return static_cast<std::size_t>(value);
  }

  double forward_error(std::size_t at) const {
    const auto logits = row(kLogits, at), got = row(kLogarithms, at, Number::kFloat);
    double sum = 0;
    for (const double value : logits) sum += std::exp(value);
    const double total = std::log(sum);
    const double loss = gather(device_, arrays_.template at<float>(0, kLosses), Number::kFloat, at, 1, 1).front();
    double worst = deviation(loss, total - logits[label(at)], total + 4, Number::kFloat);
    for (std::size_t i = 0; i < logits.size(); ++i)
      worst = std::max(worst, deviation(got[i], logits[i] - total, total + 4, Number::kFloat));
    return worst;
  }

  double backward_error(std::size_t at) const {
    const auto logs = row(kLogarithms, at, Number::kFloat), got = row(kLogits, at);
    const std::size_t right = label(at);
    double worst = 0;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      const double exact = static_cast<double>(kScale) * (std::exp(logs[i]) - (i == right ? 1 : 0));
      worst = std::max(worst, deviation(got[i], exact, std::abs(exact), number_));
    }
    return worst;
  }
};

}  // namespace

std::unique_ptr<Workload> make_loss(const Device& device, const Kernel& kernel) {
  return make_of<Loss>(device, kernel);
}

}  // namespace slmsim::calibrate

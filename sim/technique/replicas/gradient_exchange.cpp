#include "sim/technique/replicas/gradient_exchange.h"

#include <algorithm>

#include <boost/range/adaptor/reversed.hpp>
#include <boost/range/iterator_range.hpp>

#include "sim/compute/operator_graph.h"
#include "sim/technique/common/layer_work.h"

namespace slmsim {

GradientExchange::GradientExchange(ReplicaRun& run, Bytes bucket, const Compression& compression)
    : run_(run), bucket_(bucket), compression_(compression), reduced_(run.none()) {
  if (compression.by != Compressor::kPowerSgd) return;
  tensors_.resize(run.units());
  const OperatorGraph& operators = run.operators();
  for (const auto v : boost::adaptors::reverse(boost::make_iterator_range(boost::vertices(operators)))) {
    const GradientTensors all = gradient_tensors(operators[v]);
    auto& unit = tensors_[operators[v].layer + 1];
    if (all.vectors > 0) unit.push_back({{}, all.vectors});
    for (const GradientMatrix& matrix : all.matrices) unit.push_back({{matrix}, 0});
  }
}

template <class Time>
std::vector<Seconds> GradientExchange::on_each(Time time) const {
  std::vector<Seconds> out;
  for (std::size_t rank = 0; rank < run_.ranks(); ++rank) out.push_back(time(run_.gpu(rank)));
  return out;
}

void GradientExchange::add(std::size_t unit, const Tasks& computed) {
  const bool last = unit == 0;
  const Bytes gradients{run_.parameters(unit) * run_.gradient_element()};
  const Tasks done = run_.copy_buffers(Bytes{copied(gradients.value)}, "grads to bucket", computed);
  added_ += gradients;
  if (compression_.by != Compressor::kPowerSgd) {
    waiting_ += gradients;
    for (; waiting_ > Bytes{0} && (waiting_ >= bucket_ || last); waiting_ -= std::min(waiting_, bucket_))
      exchange(std::min(waiting_, bucket_) / Bytes{run_.gradient_element()}, done);
    return;
  }
  for (const GradientTensors& tensor : tensors_[unit]) {
    matrices_.add(tensor, compression_.rank);
    if (matrices_.elements() * run_.gradient_element() >= bucket_.value) exchange_low_rank();
  }
  if (last && matrices_.elements() > 0) exchange_low_rank();
}

Tasks GradientExchange::finished() {
  if (run_.plan().bucket_views) return reduced_;
  return run_.copy_buffers(Bytes{copied(added_.value)}, "grads from buckets", reduced_);
}

void GradientExchange::exchange(double numbers, const Tasks& done) {
  const double element = run_.gradient_element();
  const Software& software = run_.scenario().software;
  const int ranks = static_cast<int>(run_.ranks());
  if (!compression_.is_any()) {
    reduced_ = run_.collective(Collective::kAllReduce, Bytes{numbers * element}, {}, "all-reduce grads", done);
  } else if (const auto format = format_of(compression_)) {
    const auto encoding =
        on_each([&](const Gpu& gpu) { return encode_time(*format, numbers, gpu, software, element); });
    const Tasks encoded = run_.kernels(encoding, "encode");
    const Bytes size = wire_bytes(*format, numbers);
    const Tasks summed =
        adds_up(*format)
            ? run_.collective(Collective::kAllReduce, size, {}, "all-reduce grads", encoded)
            : run_.sum_by_shares(
                  size, on_each([&](const Gpu& gpu) { return sum_time(*format, numbers, ranks, gpu, software); }),
                  "all-reduce grads", encoded);
    reduced_ = run_.beside(encoding, "decode", summed);
  } else {
    std::vector<Seconds> before, after;
    for (std::size_t rank = 0; rank < run_.ranks(); ++rank) {
      const TopKTimes times = top_k_times(numbers, compression_.density, ranks, element, run_.gpu(rank), software);
      before.push_back(times.before);
      after.push_back(times.after);
    }
    const double all = ranks * kept_numbers(numbers, compression_.density);
    const Tasks chosen = run_.kernels(before, "largest gradients");
    const Tasks values = run_.collective(Collective::kAllGather, Bytes{all * element}, {}, "all-gather grads", chosen);
    const Tasks places =
        run_.collective(Collective::kAllGather, Bytes{all * kIndexBytes}, {}, "all-gather places", values);
    reduced_ = run_.beside(after, "add gradients", places);
  }
}

void GradientExchange::exchange_low_rank() {
  const double element = run_.gradient_element();
  std::vector<Seconds> before, between, after;
  for (std::size_t rank = 0; rank < run_.ranks(); ++rank) {
    const LowRankTimes times = low_rank_times(matrices_, run_.scenario().training.gradient_precision, run_.gpu(rank),
                                              run_.scenario().software);
    before.push_back(times.before);
    between.push_back(times.between);
    after.push_back(times.after);
  }
  const auto sum = [&](double numbers, const char* name, const Tasks& ready) {
    return run_.collective(Collective::kAllReduce, Bytes{numbers * element}, {}, name, ready);
  };
  Tasks now = sum(matrices_.plain, "all-reduce grads", run_.kernels(before, "compute P"));
  now = sum(matrices_.p(), "all-reduce P", now);
  now = sum(matrices_.q(), "all-reduce Q", run_.beside(between, "compute Q", now));
  reduced_ = run_.beside(after, "compute P Q", now);
  matrices_ = {};
}

}  // namespace slmsim

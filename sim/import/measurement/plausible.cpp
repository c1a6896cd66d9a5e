#include "sim/import/measurement/plausible.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/name_in.h"

namespace slmsim {
namespace {

// Only kernels for which the data sheet gives more than this identify the GPU: others are bound by launches or caches, and take
// about this.
constexpr Seconds kLong{20e-6};
// No measured kernel was a hundred times slower than the data sheet; no median comes near 0.4.
constexpr double kFastest = 0.4, kSlowest = 100;
// GPUs that clock above the data sheet reach 1.04 of it, factory-overclocked cards somewhat more. Data in caches is several
// times as fast as memory.
constexpr double kBoost = 1.25, kCache = 10;
// Twice the fastest data sheet in 16 bits, Blackwell's 2.5 PFLOP/s.
constexpr FlopsPerSecond kMostOfAnyGpu{5e15};
// Lower limits of a large product: the slowest GPUs of the last ten years do ten times this per second in any precision.
constexpr double kLargeSide = 512, kLargeFlops = 1e10;
constexpr FlopsPerSecond kLeastOfAnyGpu{0.3e12};
// NVLink 5 carries 0.9 TB/s in each direction, and reduction in the switch nearly doubles its effective rate.
constexpr BytesPerSecond kMostOfAnyLink{2e12};
constexpr double kWild = 3;

Flops product_flops(const KernelShape& shape) {
  if (!is_product(shape.name)) return {};
  return Flops{2.0 * static_cast<double>(shape.batch) * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
               static_cast<double>(shape.k)};
}

Flops product_flops(const KernelTime& one) {
  Flops sum{};
  for (const auto& shape : one.shapes) sum += product_flops(shape);
  return sum;
}

bool is_large(const KernelTime& one) {
  return product_flops(one).value >= kLargeFlops && std::ranges::all_of(one.shapes, [](const KernelShape& shape) {
           return static_cast<double>(std::min({shape.m, shape.n, shape.k})) >= kLargeSide;
         });
}

// "gemm-nn fp16 1x64x64x64 in 3 us"
std::string text_of(const KernelTime& one) {
  const KernelShape& shape = one.shapes.front();
  return fmt::format("{} {} {}x{}x{}x{} in {}", shape.name, name_in(precision_names(), one.precision), shape.batch,
                     shape.m, shape.n, shape.k, to_text(one.time));
}

Seconds ideal_time(const Gpu& gpu, const KernelTime& one) {
  Seconds sum{};
  for (const auto& shape : one.shapes) sum += slmsim::ideal_time(gpu, one.precision, shape, {});
  return sum;
}

bool is_too_fast(const Gpu& gpu, const KernelTime& one) {
  const Flops flops = product_flops(one);
  if (flops.value > 0) return flops / one.time > peak_of(gpu, one.precision) * kBoost;
  return ideal_time(gpu, one) > one.time * kCache;
}

template <class RatioRow>
RatioRow median_of(std::vector<RatioRow> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.ratio, a.row.line) < std::tuple(b.ratio, b.row.line);
  });
  return *middle;
}

// "t4.csv:12"
std::string place_text(const TimedRow& row) { return fmt::format("{}:{}", printable(row.file->path()), row.line); }

// Why no GPU reaches this time; nothing where one may.
std::optional<std::string> impossible(const KernelTime& one) {
  const FlopsPerSecond rate = product_flops(one) / one.time;
  if (rate <= kMostOfAnyGpu) return std::nullopt;
  return fmt::format(
      "{} would be {}, which no GPU reaches; at most {} is expected: are the times in the unit that the "
      "format says?",
      text_of(one), to_text(rate), to_text(kMostOfAnyGpu));
}

std::optional<std::string> impossible(const CollectiveTime& one) {
  const auto ranks = static_cast<double>(one.ranks);
  const bool parted = one.name != "broadcast" && one.name != "send-receive";
  const double part = parted ? (one.name == "all-reduce" ? 2 : 1) * (ranks - 1) / ranks : 1;
  const BytesPerSecond bus = one.size * part / one.time;
  if (bus <= kMostOfAnyLink) return std::nullopt;
  return fmt::format(
      "{} of {:.0f} B over {} GPUs in {} would need {} of each link, which no NVLink carries; at most {} is "
      "expected: are the times in the unit that the format says?",
      one.name, one.size.value, one.ranks, to_text(one.time), to_text(bus), to_text(kMostOfAnyLink));
}

}  // namespace

bool Plausibility::admit(const KernelTime& one, const InputFile& file) {
  const TimedRow row{one.time, &file, one.line};
  if (const auto why = impossible(one)) return errors_.push_back({file.at(one.line), *why}), false;
  if (is_large(one)) rates_.push_back({(product_flops(one) / one.time).value, row});
  if (!gpu_) return true;
  const Seconds ideal = ideal_time(*gpu_, one);
  (ideal > kLong ? ratios_ : short_).push_back({one.time / std::max(ideal, kLong), row});
  if (!is_too_fast(*gpu_, one)) return true;
  if (fast_++ == 0) first_fast_ = fmt::format("{}: {}", place_text(row), text_of(one));
  return false;
}

bool Plausibility::admit(const CollectiveTime& one, const InputFile& file) {
  const auto why = impossible(one);
  if (why) errors_.push_back({file.at(one.line), *why});
  return !why;
}

void Plausibility::check_median() const {
  if (ratios_.empty()) return;
  const RatioRow middle = median_of(ratios_);
  if (middle.ratio >= kFastest && middle.ratio <= kSlowest) return;
  throw InputError(
      middle.row.file->at(middle.row.line),
      fmt::format("the kernels take {:.3g} times the data sheet's time of {} in the median, as this one does, which is "
                  "{}; check the GPU, the precision, and that times are in the unit that the format says",
                  middle.ratio, gpu_->name, middle.ratio < kFastest ? "faster than possible" : "implausibly slow"));
}

void Plausibility::check_short() const {
  if (short_.empty()) return;
  const RatioRow middle = median_of(short_);
  if (middle.ratio <= kSlowest) return;
  throw InputError(
      middle.row.file->at(middle.row.line),
      fmt::format("small kernels take {} in the median, as this one does, which is implausibly slow for {}; "
                  "check that times are in the unit that the format says",
                  to_text(middle.row.time), gpu_->name));
}

void Plausibility::check_slow() const {
  if (rates_.empty()) return;
  const RatioRow middle = median_of(rates_);
  if (middle.ratio >= kLeastOfAnyGpu.value) return;
  throw InputError(middle.row.file->at(middle.row.line),
                   fmt::format("large products reach {} in the median, as this one does, which is implausibly slow for "
                               "any GPU; at least {} is expected: are the times in the unit that the format says?",
                               to_text(FlopsPerSecond{middle.ratio}), to_text(kLeastOfAnyGpu)));
}

std::vector<std::string> Plausibility::finish() const {
  if (!errors_.empty()) throw InputError(errors_);
  check_median();
  check_short();
  check_slow();
  if (fast_ == 0) return {};
  return {fmt::format("{} time{} faster than the data sheet of {} allows, and left out; the first is at {}", fast_,
                      fast_ == 1 ? " is" : "s are", gpu_->name, first_fast_)};
}

void Disagreement::add(const std::string& what, const std::vector<TimedRow>& times) {
  const auto [least, most] =
      std::ranges::minmax_element(times, [](const auto& a, const auto& b) { return a.time < b.time; });
  const double apart = most->time / least->time;
  if (apart <= kWild) return;
  ++sizes_;
  if (apart <= worst_) return;
  worst_ = apart;
  text_ = fmt::format("{} was timed {} times, from {} ({}) to {} ({})", what, times.size(), to_text(least->time),
                      place_text(*least), to_text(most->time), place_text(*most));
}

std::vector<std::string> Disagreement::remarks() const {
  if (sizes_ == 0) return {};
  const std::string others =
      sizes_ == 1 ? "" : fmt::format("; so were {} other sizes, more than threefold apart", sizes_ - 1);
  return {fmt::format("{}: the median is used, though such times hardly belong to one kernel{}", text_, others)};
}

}  // namespace slmsim

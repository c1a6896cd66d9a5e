#include "sim/technique/rounds/compressed.h"

#include <algorithm>

#include <boost/range/iterator_range.hpp>
#include <fmt/format.h>

#include "sim/base/name_in.h"
#include "sim/compute/operator_graph.h"
#include "sim/technique/rounds/rounds.h"

namespace slmsim {
namespace {

constexpr int kUsualRank = 1;           // matrix_approximation_rank of PowerSGDState
constexpr int kUsualWarmUp = 1000;      // its start_powerSGD_iter
constexpr double kUsualDensity = 0.01;  // arXiv 1704.05021, section 4: 99 % dropped

const Option<Compressor> kCompress{choice_option(
    {"compress",
     "Compression of gradients before their exchange: numbers of fewer "
                                                  "bits, products of low rank (PowerSGD), or the largest ones only."},
    compressor_names)};
const Option<int> kRank{count_option(
    {"rank", "With powersgd: rank of the approximation of a matrix of gradients.", "1 with powersgd"}, 4096, 0)};
const Option<double> kDensity{number_option(
    {"density", "With topk: share of the gradients that is exchanged.", "0.01 with topk"}, {1e-6, 1}, 0)};
const Option<int> kWarmUp{count_option(
    {"warm_up", "With powersgd: number of first steps of the job, which exchange whole gradients.", "1000 with powersgd"},
    1'000'000'000, 0, 2)};

const std::string& name_of(Compressor by) { return name_in(compressor_names(), by); }

// An option that belongs to a compressor other than the chosen one.
std::string stray_option(const TechniqueOptions& options) {
  const Compressor by = options.get(kCompress);
  const auto stray = [](const char* key, Compressor of) {
    return fmt::format("{} has no effect: it is for compress: {}", key, name_of(of));
  };
  if (options.get(kRank) > 0 && by != Compressor::kPowerSgd) return stray("rank", Compressor::kPowerSgd);
  if (options.get(kWarmUp) > 0 && by != Compressor::kPowerSgd) return stray("warm_up", Compressor::kPowerSgd);
  if (options.get(kDensity) > 0 && by != Compressor::kTopK) return stray("density", Compressor::kTopK);
  return "";
}

bool compresses_some(const OperatorGraph& operators, int rank) {
  LowRankBucket all;
  for (const auto v : boost::make_iterator_range(boost::vertices(operators)))
    all.add(gradient_tensors(operators[v]), rank);
  return !all.matrices.empty();
}

std::string why_not(const PlanRequest& request, const Compression& compression, int warm_up) {
  const Training& training = request.scenario.training;
  if (request.group.devices.size() < 2)
    return fmt::format("compress: {} has no effect on one GPU, which exchanges no gradients; leave it out",
                       name_of(compression.by));
  const double element = element_bytes(training.gradient_precision);
  if (const auto format = format_of(compression); format && wire_bytes(*format, 1).value >= element)
    return fmt::format("compress: {} has no effect: gradients are already {} (training.gradient_precision)",
                       name_of(compression.by), name_in(precision_names(), training.gradient_precision));
  if (compression.by == Compressor::kPowerSgd && !compresses_some(request.operators, compression.rank))
    return fmt::format("rank {} halves no matrix of {}; choose a smaller one", compression.rank,
                       request.model.name);
  return all_warm_up(request, warm_up);
}

}  // namespace

const std::vector<const OptionSpec*>& compression_options() {
  static const std::vector<const OptionSpec*> kOptions = {&kCompress, &kRank, &kDensity, &kWarmUp};
  return kOptions;
}

std::string all_warm_up(const PlanRequest& request, int warm_up) {
  const double steps = steps_of_job(request.scenario.training, request.options);
  if (warm_up < steps) return "";
  return fmt::format(
      "the job's {:.0f} steps end within the warm-up of {}, so that nothing would be compressed; choose a "
      "smaller warm_up",
      steps, warm_up);
}

CompressionChoice compression_of(const PlanRequest& request) {
  const TechniqueOptions& options = request.options;
  CompressionChoice out{{.by = options.get(kCompress)}, 0, stray_option(options)};
  if (!out.compression.is_any() || !out.reason.empty()) return out;
  const auto or_usual = [](auto value, auto usual) { return value > 0 ? value : usual; };
  if (out.compression.by == Compressor::kPowerSgd) {
    out.compression.rank = or_usual(options.get(kRank), kUsualRank);
    out.warm_up = or_usual(options.get(kWarmUp), kUsualWarmUp);
  }
  if (out.compression.by == Compressor::kTopK) out.compression.density = or_usual(options.get(kDensity), kUsualDensity);
  out.reason = why_not(request, out.compression, out.warm_up);
  return out;
}

// A value is the compressor's number, counted from 1; options of other compressors are removed.
Variation compression_variation() {
  return {.values =
              [](const VariationRequest& r) {
                std::vector<int> allowed;
                for (const int compressor : r.scenario.plan.compress) {
                  if (r.group.gpus > 1 || compressor == 0) allowed.push_back(compressor + 1);
                }
                return with_usual(std::move(allowed), static_cast<int>(r.base.get(kCompress)) + 1);
              },
          .apply =
              [](TechniqueOptions& o, int value, const Scenario&, int) {
                if (value == 0) return;
                o.set(kCompress, static_cast<Compressor>(value - 1));
                o.set(kRank, 0);
                o.set(kDensity, 0);
                o.set(kWarmUp, 0);
              },
          .words = [](const TechniqueOptions& o, int) -> std::string {
            const Compressor by = o.get(kCompress);
            return by == Compressor::kNone ? "" : name_of(by) + " gradients";
          }};
}

std::vector<std::string> compression_remarks(const Plan& plan) {
  if (!plan.replicas().compression.is_any()) return {};
  return {
      "Compressing the exchange of replicas changes the training: state the factor on steps to the same loss "
      "(steps_factor)"};
}

bool compression_changes_training(const TechniqueOptions& options) {
  return options.get(kCompress) != Compressor::kNone;
}

}  // namespace slmsim

// DiLoCo (Douillard et al., arXiv 2311.08105, algorithm 1): each replica makes several steps of AdamW independently;
// the mean of all differences to the round's start is the gradient of an outer step of SGD with Nesterov's momentum.
// Streaming DiLoCo (arXiv 2501.18512, algorithm 2) exchanges the model in fragments, one after the other, while the
// replicas continue.
#include <fmt/format.h>

#include "sim/technique/replicas/replicas.h"
#include "sim/technique/rounds/rounds.h"

namespace slmsim {
namespace {

const std::vector<std::string>& outer_place_names() {
  static const std::vector<std::string> kNames = {"gpu", "host"};
  return kNames;
}

enum class OuterPlace { kGpu, kHost };

const Option<ExchangeFormat> kDifferences{
    choice_option({"format", "The number format in which differences are exchanged."}, exchange_format_names)};
const Option<OuterPlace> kOuter{
    choice_option({"outer", "Place of the outer parameters, their momentum and the outer update."}, outer_place_names)};
const Option<int> kFragments{count_option(
    {"fragments", "Number of parts of the model that are exchanged in turn, each of at least one layer.", "4"}, 1024,
    4)};
const Option<int> kDelay{count_option(
    {"delay", "Number of inner steps that a fragment's update may wait for its exchange.", "1"}, 1'000'000, 1, 0)};

RoundPlan exchange_of_differences(const PlanRequest& request) {
  return {.update = OuterUpdate::kNesterov,
          .format = request.options.get(kDifferences),
          .outer_on_host = request.options.get(kOuter) == OuterPlace::kHost};
}

PlanResult plan_diloco(const PlanRequest& request) { return plan_rounds(request, exchange_of_differences(request)); }

PlanResult plan_streaming(const PlanRequest& request) {
  RoundPlan how = exchange_of_differences(request);
  how.fragments = request.options.get(kFragments);
  how.delay = request.options.get(kDelay);
  return plan_rounds(request, how);
}

std::vector<Variation> streaming_variations() {
  auto out = round_variations();
  out.push_back(
      {.values =
           [](const VariationRequest& r) { return with_usual(r.scenario.plan.fragments, r.base.get(kFragments)); },
       .apply =
           [](TechniqueOptions& o, int value, const Scenario&, int) {
             if (value > 0) o.set(kFragments, value);
           },
       .words =
           [](const TechniqueOptions& o, int) {
             const int count = o.get(kFragments);
             return fmt::format("{} fragment{}", count, count == 1 ? "" : "s");
           },
       .with = 0});
  return out;
}

Technique streaming() {
  Technique out = technique_of_rounds(
      "StreamingDiLoCo", "DiLoCo whose model is exchanged in fragments while the replicas continue",
      {"#85b06a", "#2a5a18", "3 1 0", "-.", "+++"}, plan_streaming, {&kFragments, &kDelay, &kDifferences, &kOuter});
  out.variations = streaming_variations;
  return out;
}

}  // namespace

extern const Technique kDiloco = technique_of_rounds(
    "DiLoCo", "replicas take several steps on their own, then an outer step with the mean of their differences",
    {"#c0dcb0", "#3f7d28", "4 1 0", "--", "+++"}, plan_diloco, {&kDifferences, &kOuter});

extern const Technique kStreamingDiloco = streaming();

}  // namespace slmsim

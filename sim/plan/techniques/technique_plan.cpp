#include "sim/plan/techniques/technique_plan.h"

#include <algorithm>
#include <array>

namespace slmsim {
namespace {

struct Row {
  Technique technique;
  PlanResult (*plan)(const PlanRequest&);
};

constexpr std::array kTable = {
    Row{Technique::kData, plan_data},
    Row{Technique::kZero2, plan_zero2},
    Row{Technique::kShard, plan_shard},
    Row{Technique::kPipeshard, plan_pipeshard},
};

}  // namespace

PlanResult make_plan(const PlanRequest& request) {
  const auto row = std::find_if(kTable.begin(), kTable.end(),
                                [&](const Row& r) { return r.technique == request.options.technique; });
  return row->plan(request);
}

}  // namespace slmsim

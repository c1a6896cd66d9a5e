#include "sim/scenario/scenario.h"

#include <gmock/gmock.h>

#include "tests/scenario/folder.h"

namespace slmsim::plan_rules_test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class PlanRulesOf : public Folder {};

TEST_F(PlanRulesOf, AScenarioWithoutThemAllowNothing) {
  const PlanRules rules = load().plan;
  EXPECT_EQ(rules.objective, PlanObjective::kTime);
  EXPECT_FALSE(rules.nccl || rules.tcp || rules.batch);
}

TEST_F(PlanRulesOf, AScenarioAreRead) {
  const PlanRules rules =
      load({"plan.objective=dollars", "plan.allow=[tcp, batch]", "plan.dollars_per_hour={g: 1.5}"}).plan;
  EXPECT_EQ(rules.objective, PlanObjective::kDollars);
  EXPECT_TRUE(rules.tcp && rules.batch && !rules.nccl);
  EXPECT_EQ(rules.dollars_per_hour.at("g"), 1.5);
}

TEST_F(PlanRulesOf, AScenarioAreCheckedByName) {
  EXPECT_THAT(errors({"plan.allow=[ncll]"}), Contains(HasSubstr("did you mean \"nccl\"")));
  EXPECT_THAT(errors({"plan.dollars_per_hour={h: 1}"}), Contains(HasSubstr("dollars_per_hour")));
  EXPECT_THAT(errors({"plan.objektive=time"}), Contains(HasSubstr("objective")));
}

TEST_F(PlanRulesOf, AScenarioLetStepsAndFragmentsVaryWhereATechniqueHasThem) {
  EXPECT_TRUE(load().plan.inner_steps.empty());
  const PlanRules rules =
      load({"techniques=[StreamingDiLoCo]", "plan.inner_steps=[10, 100]", "plan.fragments=[2]"}).plan;
  EXPECT_EQ(rules.inner_steps, (std::vector{10, 100}));
  EXPECT_EQ(rules.fragments, std::vector{2});
  // Other commands than `slmsim plan` take the scenario with other techniques too.
  const Scenario other = load({"techniques=[Data]", "plan.inner_steps=[10]"});
  EXPECT_THAT(errors_of([&] { check_varied(other.plan, other.techniques); }),
              Contains(HasSubstr("plan.inner_steps has no effect: none of the scenario's techniques has an option")));
  check_varied(rules, load({"techniques=[StreamingDiLoCo]"}).techniques);
  EXPECT_THAT(errors({"techniques=[LocalSGD]", "plan.inner_steps=[ten]"}),
              Contains(HasSubstr("plan.inner_steps: whole numbers from 1 to 1000000 are expected")));
}

TEST_F(PlanRulesOf, AScenarioLetCompressorsVaryByTheirNames) {
  EXPECT_TRUE(load().plan.compress.empty());
  const PlanRules rules = load({"techniques=[DDP]", "plan.compress=[int8, none, powersgd]"}).plan;
  EXPECT_EQ(rules.compress, (std::vector{4, 0, 6}));
  EXPECT_THAT(errors({"techniques=[DDP]", "plan.compress=[powersdg]"}),
              Contains(HasSubstr("did you mean \"powersgd\"")));
  const Scenario other = load({"techniques=[Data]", "plan.compress=[int8]"});
  EXPECT_THAT(errors_of([&] { check_varied(other.plan, other.techniques); }),
              Contains(HasSubstr("plan.compress has no effect: none of the scenario's techniques has an option")));
}

}  // namespace
}  // namespace slmsim::plan_rules_test

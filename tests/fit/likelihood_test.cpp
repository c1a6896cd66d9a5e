#include "sim/fit/sampler.h"

#include <cmath>
#include <map>

#include <gmock/gmock.h>

namespace slmsim::likelihood_test {
namespace {

using testing::DoubleNear;

const Candidate kRun{"m", "Data", {"a"}};

Forecast forecast(double seconds, double share = 0.5) {
  Forecast f;
  f.status = share > 1 ? Status::kOutOfMemory : Status::kOk;
  f.job = f.iteration = seconds;
  f.rate_per_gpu = 1 / seconds;
  f.memory = share * 100;
  f.memory_share = share;
  return f;
}

Pilot pilot(Measure measure, double value, double noise = 0.03) { return {kRun, measure, value, noise}; }

// Student's t with 4 degrees of freedom has at its middle 3/8 = 0.375, divided by the scale.
TEST(Likelihood, OfATimeIsStudentsT) {
  const Discrepancy none{0.04, 1e-6};
  const double scale = 0.05;  // of a noise of 0.03 and a discrepancy of 0.04
  const double fits = std::log(1 - kOtherCause / 2);
  EXPECT_THAT(log_likelihood({pilot(Measure::kJob, 10)}, forecast(10), none),
              DoubleNear(std::log(0.375 / scale) + fits, 1e-9));
  // One scale away: (1 + 1/4)^-2.5.
  EXPECT_THAT(log_likelihood({pilot(Measure::kJob, 10 * std::exp(scale))}, forecast(10), none),
              DoubleNear(std::log(0.375 / scale * std::pow(1.25, -2.5)) + fits, 1e-9));
}

// Values of the table for 4 degrees of freedom in the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
TEST(Likelihood, TailsQuantilesAreThoseOfTables) {
  const std::map<double, double> table = {{0.9, 1.533}, {0.95, 2.132}, {0.975, 2.776}, {0.99, 3.747}, {0.995, 4.604}};
  for (const auto& [probability, quantile] : table) {
    EXPECT_NEAR(tail_quantile(probability), quantile, 0.0005);
    EXPECT_NEAR(tail_quantile(1 - probability), -quantile, 0.0005);
  }
}

TEST(Likelihood, TailsProbabilitiesAreItsQuantilesBack) {
  for (const double p : {0.001, 0.1, 0.25, 0.5, 0.8, 0.95, 0.9999})
    EXPECT_NEAR(tail_probability(tail_quantile(p)), p, 1e-12);
}

TEST(Likelihood, ForgivesAnOutlierMoreThanANormalWould) {
  const Discrepancy d{0.04, 0.01};
  const double near = log_likelihood({pilot(Measure::kJob, 10)}, forecast(10), d);
  const double far = log_likelihood({pilot(Measure::kJob, 10 * std::exp(1.0))}, forecast(10), d);
  // Twenty scales: a normal would say 200.
  EXPECT_LT(near - far, 15);
}

// Time and rate of one run that are both off alike are one discrepancy; off one against the other they contradict the work.
TEST(Likelihood, TimeAndRateOfARunShareItsDiscrepancy) {
  const Discrepancy d{0.2, 0.01};
  const auto run = [&](double time, double rate) {
    return log_likelihood({pilot(Measure::kJob, time), pilot(Measure::kRate, rate)}, forecast(10), d);
  };
  const double alike = run(13, 0.1 / 1.3), apart = run(13, 0.1 * 1.3);
  EXPECT_GT(alike, apart + 5);
  // Two far-off figures of one run are as unlikely as one, but for the noise.
  const double once = log_likelihood({pilot(Measure::kJob, 13)}, forecast(10), d) -
                      log_likelihood({pilot(Measure::kJob, 10)}, forecast(10), d);
  EXPECT_NEAR(alike - run(10, 0.1), once, 0.5);
}

TEST(Likelihood, OfFittingFollowsTheMemory) {
  const Discrepancy d{0.1, 0.1};
  EXPECT_NEAR(probability_fits(forecast(1, 0.5), d), 1 - kOtherCause / 2, 1e-6);
  EXPECT_NEAR(probability_fits(forecast(1, 1.0), d), 0.5, 1e-9);
  EXPECT_NEAR(probability_fits(forecast(1, 2.0), d), kOtherCause / 2, 1e-6);
  // One scale above the limit: a normal's 15.87 %.
  EXPECT_NEAR(probability_fits(forecast(1, std::exp(0.1)), d), kOtherCause / 2 + (1 - kOtherCause) * 0.158655, 1e-5);
  EXPECT_EQ(probability_fits(Forecast{}, d), 0);
  EXPECT_GT(log_likelihood({pilot(Measure::kFits, 0)}, forecast(1, 1.2), d),
            log_likelihood({pilot(Measure::kFits, 1)}, forecast(1, 1.2), d));
}

TEST(Likelihood, IsImpossibleWhereNothingIsPredicted) {
  EXPECT_EQ(log_likelihood({pilot(Measure::kJob, 10)}, Forecast{}, {}), -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace slmsim::likelihood_test

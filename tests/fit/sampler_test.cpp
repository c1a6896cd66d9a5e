// The sampler on distributions whose moments are known without it.
#include "sim/fit/sampler.h"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>

namespace slmsim::sampler_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

double mean_of(const std::vector<Point>& points, std::size_t d) {
  double sum = 0;
  for (const auto& p : points) sum += p[d];
  return sum / static_cast<double>(points.size());
}

double deviation_of(const std::vector<Point>& points, std::size_t d) {
  const double mean = mean_of(points, d);
  double sum = 0;
  for (const auto& p : points) sum += (p[d] - mean) * (p[d] - mean);
  return std::sqrt(sum / static_cast<double>(points.size()));
}

Target target_of(std::size_t dimensions, std::function<double(const Point&)> log_likelihood) {
  Target target;
  target.dimensions = dimensions;
  target.jumps.assign(dimensions, false);
  target.log_likelihood = [log_likelihood = std::move(log_likelihood)](const std::vector<Point>& points, std::size_t) {
    std::vector<double> out;
    for (const auto& p : points) out.push_back(log_likelihood(p));
    return out;
  };
  return target;
}

// A standard normal seen through noise of 0.5 as 2: the posterior has the precisions' sum, 1 + 4, and so a deviation of
// 0.447 and a mean of 4 x 2 / 5 = 1.6. The evidence is a normal of variance 1.25 at 2: log -0.5 log(2 pi 1.25) - 4 / 2.5.
TEST(Sampler, FindsANormalsPosteriorAndItsEvidence) {
  const auto target = target_of(3, [](const Point& p) {
    const double distance = (p[0] - 2) / 0.5;
    return -0.5 * distance * distance - std::log(0.5) - 0.5 * std::log(2 * M_PI);
  });
  const Sample sample = draw(target, {.particles = 1000, .sweeps = 4, .seed = 3});
  EXPECT_EQ(sample.beta, 1);
  // A thousand points, correlated by resampling: some 0.03.
  EXPECT_THAT(mean_of(sample.points, 0), DoubleNear(1.6, 0.06));
  EXPECT_THAT(deviation_of(sample.points, 0), DoubleNear(std::sqrt(0.2), 0.05));
  EXPECT_THAT(mean_of(sample.points, 1), DoubleNear(0, 0.12)) << "nothing was measured of it";
  EXPECT_THAT(deviation_of(sample.points, 1), DoubleNear(1, 0.12));
  EXPECT_THAT(sample.log_evidence, DoubleNear(-0.5 * std::log(2 * M_PI * 1.25) - 1.6, 0.15));
}

TEST(Sampler, KeepsBothOfTwoExplanations) {
  const auto target = target_of(2, [](const Point& p) {
    const double distance = (std::abs(p[0]) - 1) / 0.1;
    return -0.5 * distance * distance;
  });
  const Sample sample = draw(target, {.particles = 400, .sweeps = 2, .seed = 1});
  double above = 0;
  for (const auto& p : sample.points) above += p[0] > 0 ? 1 : 0;
  EXPECT_THAT(above / 400, DoubleNear(0.5, 0.2));
  for (const auto& p : sample.points) EXPECT_THAT(std::abs(p[0]), DoubleNear(1, 0.6));
}

// Two words as likely beforehand, one of which makes what was seen three times as likely.
TEST(Sampler, WeighsWordsByTheirEvidence) {
  auto target = target_of(2, [](const Point& p) { return p[0] < 0 ? std::log(3.0) : 0; });
  target.jumps[0] = true;
  const Sample sample = draw(target, {.particles = 2000, .sweeps = 3, .seed = 5});
  double first = 0;
  for (const auto& p : sample.points) first += p[0] < 0 ? 1 : 0;
  EXPECT_THAT(first / 2000, DoubleNear(0.75, 0.05));
}

// Two normals seen through noise of 0.5, each a part of its own: as if each were alone (above), though both move together.
TEST(Sampler, MovesWhatReachesAPartByThatPart) {
  Target target;
  target.dimensions = target.parts = 2;
  target.jumps.assign(2, false);
  target.blocks = {{{0}, {0}}, {{1}, {1}}};
  target.log_likelihood = [](const std::vector<Point>& points, std::size_t part) {
    std::vector<double> out;
    for (const auto& p : points) {
      const double distance = (p[part] - (part == 0 ? 2 : -1)) / 0.5;
      out.push_back(-0.5 * distance * distance - std::log(0.5) - 0.5 * std::log(2 * M_PI));
    }
    return out;
  };
  const Sample sample = draw(target, {.particles = 1000, .sweeps = 4, .seed = 3});
  EXPECT_THAT(mean_of(sample.points, 0), DoubleNear(1.6, 0.06));
  EXPECT_THAT(mean_of(sample.points, 1), DoubleNear(-0.8, 0.06));
  EXPECT_THAT(deviation_of(sample.points, 1), DoubleNear(std::sqrt(0.2), 0.05));
  EXPECT_THAT(sample.log_evidence, DoubleNear(-std::log(2 * M_PI * 1.25) - 1.6 - 0.4, 0.2));
  for (std::size_t i = 0; i < sample.points.size(); ++i) {
    const double sum =
        target.log_likelihood({sample.points[i]}, 0).front() + target.log_likelihood({sample.points[i]}, 1).front();
    EXPECT_NEAR(sample.log_likelihood[i], sum, 1e-12) << "what is remembered of a point is the point's";
  }
}

TEST(Sampler, SameSeedSamePoints) {
  const auto target = target_of(2, [](const Point& p) { return -p[0] * p[0]; });
  EXPECT_EQ(draw(target, {.particles = 50, .sweeps = 1, .seed = 7}).points,
            draw(target, {.particles = 50, .sweeps = 1, .seed = 7}).points);
  EXPECT_NE(draw(target, {.particles = 50, .sweeps = 1, .seed = 7}).points,
            draw(target, {.particles = 50, .sweeps = 1, .seed = 8}).points);
}

TEST(Sampler, StopsWithWhatItHas) {
  const auto target = target_of(1, [](const Point& p) { return -50 * (p[0] - 3) * (p[0] - 3); });
  int asked = 0;
  const Sample sample = draw(target, {.particles = 50, .sweeps = 1, .seed = 1, .stop = [&] { return ++asked > 2; }});
  EXPECT_LT(sample.beta, 1);
  EXPECT_EQ(sample.points.size(), 50);
}

TEST(Sampler, ImpossiblePointsAreLeft) {
  const auto target =
      target_of(1, [](const Point& p) { return p[0] > 0 ? 0.0 : -std::numeric_limits<double>::infinity(); });
  for (const auto& p : draw(target, {.particles = 64, .sweeps = 1, .seed = 2}).points) EXPECT_GT(p[0], 0);
}

TEST(LatinHypercube, HasAPointInEachSlice) {
  Dice dice(1);
  const auto points = latin_hypercube(4, 2, dice);
  for (std::size_t d = 0; d < 2; ++d) {
    std::vector<int> slices(4, 0);
    for (const auto& p : points) ++slices[static_cast<std::size_t>(normal_probability(p[d]) * 4)];
    EXPECT_THAT(slices, ElementsAre(1, 1, 1, 1));
  }
}

TEST(Resampling, TakesEachByItsWeight) {
  EXPECT_THAT(resampled({1, 0, 2, 1}, 4, 0.5), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(resampled({0, 0, 1}, 2, 0.5), ElementsAre(2, 2));
}

// Sixteen coordinates have narrow data, half of them with jumps; four have no data. With moves of all at once nearly every
// proposal is refused, a few particles' copies are all that is left, and they look as if something were known of the four.
TEST(Sampler, LeavesWideWhatNothingTellsOf) {
  Target target;
  target.dimensions = 20;
  target.jumps.assign(20, false);
  for (std::size_t d = 0; d < 8; ++d) target.jumps[d] = true;
  target.log_likelihood = [](const std::vector<Point>& points, std::size_t) {
    std::vector<double> out;
    for (const auto& point : points) {
      double sum = 0;
      for (std::size_t d = 0; d < 8; ++d) sum -= point[d] > 0 ? 0 : 6;
      for (std::size_t d = 8; d < 16; ++d) sum -= 0.5 * std::pow((point[d] - 0.5) / 0.1, 2);
      out.push_back(sum);
    }
    return out;
  };
  for (const std::uint64_t seed : {1, 2, 3}) {
    Sampling sampling;
    sampling.seed = seed;
    const Sample sample = draw(target, sampling);
    for (std::size_t d = 8; d < 20; ++d) {
      double mean = 0, squares = 0;
      for (const auto& point : sample.points) mean += point[d] / 256, squares += point[d] * point[d] / 256;
      const double deviation = std::sqrt(squares - mean * mean);
      if (d >= 16) {
        EXPECT_NEAR(deviation, 1, 0.25) << d;
        EXPECT_NEAR(mean, 0, 0.3) << d;
      } else {
        EXPECT_NEAR(deviation, 0.1, 0.03) << d;
      }
    }
  }
}

}  // namespace
}  // namespace slmsim::sampler_test

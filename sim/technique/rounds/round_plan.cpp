#include "sim/technique/rounds/round_plan.h"

#include <algorithm>

#include <boost/range/iterator_range.hpp>

#include "sim/compute/operator_graph.h"

namespace slmsim {

const std::vector<std::string>& replica_of_names() {
  static const std::vector<std::string> kNames = {"gpu", "vm", "site"};
  return kNames;
}

const std::vector<std::string>& sum_by_names() {
  static const std::vector<std::string> kNames = {"auto", "nccl", "shares"};
  return kNames;
}

std::vector<double> fragment_parameters(const OperatorGraph& operators, int fragments) {
  const int layers = layer_count(operators);
  std::vector<double> out(static_cast<std::size_t>(fragments), 0.0);
  for (const auto v : boost::make_iterator_range(boost::vertices(operators))) {
    const int layer = operators[v].layer;
    const int fragment = layer < 0 ? 0 : layer >= layers ? fragments - 1 : layer % fragments;
    out[fragment] += operators[v].parameters;
  }
  return out;
}

std::vector<FragmentSteps> fragment_steps(int steps, int fragments, int delay) {
  std::vector<FragmentSteps> out;
  for (int p = 0; p < fragments; ++p) {
    const int end = std::max(1, static_cast<int>(static_cast<long long>(p + 1) * steps / fragments));
    out.push_back({std::max(1, end - delay), end});
  }
  return out;
}

int steps_alone(const std::vector<FragmentSteps>& when, int step) {
  int next = when.back().end;
  for (const FragmentSteps& f : when) {
    if (f.begin >= step) next = std::min(next, f.begin);
  }
  return next - step;
}

}  // namespace slmsim

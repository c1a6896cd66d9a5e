#include "sim/technique/common/pipeline_commands.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>

namespace slmsim {
namespace {

// The tick of each step of each stage, with one tick per step.
std::vector<std::vector<int>> ticks_of(const std::vector<std::vector<Step>>& steps) {
  const std::size_t stages = steps.size();
  std::vector<std::vector<int>> ticks(stages);
  std::map<std::tuple<std::size_t, bool, int>, int> ends;  // by stage, direction and micro-batch
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < stages; ++s) {
      while (ticks[s].size() < steps[s].size()) {
        const Step& step = steps[s][ticks[s].size()];
        int tick = ticks[s].empty() ? 0 : ticks[s].back() + 1;
        if (!step.weights && (step.forward ? s > 0 : s + 1 < stages)) {
          const auto input = ends.find({step.forward ? s - 1 : s + 1, step.forward, step.micro_batch});
          if (input == ends.end()) break;
          tick = std::max(tick, input->second);
        }
        ticks[s].push_back(tick);
        if (!step.weights) ends[{s, step.forward, step.micro_batch}] = tick + 1;
        moved = true;
      }
    }
  }
  return ticks;
}

}  // namespace

std::vector<Step> alternating_steps(int ahead, int micro_batches, bool backward) {
  std::vector<Step> steps;
  int next = 0;
  for (; next < ahead; ++next) steps.push_back({true, next});
  for (int done = 0; done < micro_batches && backward; ++done) {
    steps.push_back({false, done});
    if (next < micro_batches) steps.push_back({true, next++});
  }
  return steps;
}

std::vector<Step> zero_bubble_steps(int ahead, int micro_batches, int delay) {
  std::vector<Step> steps;
  int weights = 0;
  const auto add_weights = [&] { steps.push_back({.forward = false, .micro_batch = weights++, .weights = true}); };
  for (const Step& step : alternating_steps(ahead, micro_batches, true)) {
    steps.push_back(step);
    if (!step.forward && step.micro_batch >= delay) add_weights();
  }
  while (weights < micro_batches) add_weights();
  return steps;
}

std::vector<Step> interleaved_steps(int stage, int stages, int chunks, int micro_batches) {
  const int all = micro_batches * chunks;
  const int ahead = chunks == 1 ? stages - stage - 1 : 2 * (stages - stage - 1) + (chunks - 1) * stages;
  const int warm_up = std::min(all, ahead);
  const auto step = [&](bool forward, int k) -> Step {
    const int chunk = k % (stages * chunks) / stages;
    return {forward, k / (stages * chunks) * stages + k % stages, forward ? chunk : chunks - 1 - chunk};
  };
  // Without chunks, micro-batches are in sequence.
  const auto of = [&](bool forward, int k) { return chunks == 1 ? Step{forward, k} : step(forward, k); };
  std::vector<Step> steps;
  int next = 0;
  for (; next < warm_up; ++next) steps.push_back(of(true, next));
  for (int k = 0; k < all; ++k) {
    if (next < all) steps.push_back(of(true, next++));
    steps.push_back(of(false, k));
  }
  return steps;
}

std::vector<Command> stage_commands(SendOrder order, const std::vector<Step>& steps, int stages, int stage) {
  assert(order == SendOrder::kDeepSpeed || order == SendOrder::kMegatron);
  using Act = Command::Act;
  const auto sends = [&](const Step& step) { return step.forward ? stage + 1 < stages : stage > 0; };
  const auto receives = [&](const Step& step) { return step.forward ? stage > 0 : stage + 1 < stages; };
  // The steady state's first forward pass follows this stage's warm-up passes. With fewer micro-batches there is no
  // steady state.
  const int warm_up = stages - stage - 1;
  std::vector<Command> commands;
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    const Step* before = i > 0 && sends(steps[i - 1]) ? &steps[i - 1] : nullptr;
    const Step* next = i < steps.size() && receives(steps[i]) ? &steps[i] : nullptr;
    const bool turns = before && next && before->forward != next->forward;
    const bool steady = turns && (!before->forward || before->micro_batch >= warm_up);
    if (steady && before->forward && order == SendOrder::kDeepSpeed) {
      commands.push_back({Act::kReceive, *next});
      commands.push_back({Act::kSend, *before});
    } else {
      if (before) commands.push_back({Act::kSend, *before, steady && order == SendOrder::kMegatron});
      if (next) commands.push_back({Act::kReceive, *next});
    }
    if (i < steps.size()) commands.push_back({Act::kCompute, steps[i]});
  }
  return commands;
}

std::vector<std::vector<Step>> boundary_orders(const std::vector<std::vector<Step>>& steps, TickOrder when) {
  const auto ticks = ticks_of(steps);
  std::vector<std::vector<Step>> out;
  for (std::size_t b = 0; b + 1 < steps.size(); ++b) {
    std::vector<std::tuple<int, std::size_t, Step>> posted;  // its tick and stage
    for (const std::size_t stage : {b, b + 1}) {
      // Activations go up and gradients down.
      const bool forward = (stage == b) == (when == TickOrder::kProduced);
      for (std::size_t i = 0; i < steps[stage].size(); ++i) {
        const Step& step = steps[stage][i];
        if (!step.weights && step.forward == forward) posted.emplace_back(ticks[stage][i], stage, step);
      }
    }
    std::stable_sort(posted.begin(), posted.end(), [](const auto& a, const auto& c) {
      return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(c), std::get<1>(c));
    });
    out.emplace_back();
    for (const auto& [tick, stage, step] : posted) out.back().push_back(step);
  }
  return out;
}

}  // namespace slmsim

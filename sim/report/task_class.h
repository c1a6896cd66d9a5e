// What a task is to a person who looks at a timeline.
#pragma once

#include <array>

#include "sim/graph/task_graph.h"

namespace slmsim {

enum class TaskClass {
  kForward,
  kBackward,
  kOptimizer,  // Adam, on the GPU or on its host
  kLaunch,
  kFramework,  // host work that the GPU waits for
  kCollective,
  kSend,   // activations and their gradients between stages
  kCopy,   // between GPU and host memory
  kDrive,  // I/O of drives
};
// The names by which traces tell them ("cat").
inline constexpr std::array kTaskClassNames = {"forward",    "backward", "optimizer", "launch", "framework",
                                               "collective", "send",     "copy",      "drive"};

// Of a computation or a transfer.
TaskClass class_of(const TaskGraph& graph, const Task& task);

}  // namespace slmsim

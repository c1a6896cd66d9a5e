#include "sim/report/task_class.h"

namespace slmsim {

TaskClass class_of(const TaskGraph& graph, const Task& task) {
  const std::string& label = graph.labels()[task.label];
  if (task.kind == TaskKind::kTransfer) {
    switch (graph.connections()[static_cast<std::size_t>(task.place)].traffic) {
      case Traffic::kMessages:
        return label.starts_with("send") ? TaskClass::kSend : TaskClass::kCollective;
      case Traffic::kCopies:
        return TaskClass::kCopy;
      case Traffic::kHostOptimizer:
        return TaskClass::kOptimizer;
      case Traffic::kDrive:
      case Traffic::kMedium:
        return TaskClass::kDrive;
    }
  }
  switch (task.activity) {
    case Activity::kModel:
      return label.starts_with("bwd") ? TaskClass::kBackward : TaskClass::kForward;
    case Activity::kOptimizer:
      return TaskClass::kOptimizer;
    case Activity::kOverhead:
      return label == "launch" ? TaskClass::kLaunch : TaskClass::kFramework;
    case Activity::kCommunication:
    case Activity::kKernels:
      break;
  }
  return TaskClass::kCollective;
}

}  // namespace slmsim

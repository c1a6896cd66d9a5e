#include "sim/report/task_class.h"

namespace slmsim {

std::string_view name_of(TaskClass of) {
  switch (of) {
    case TaskClass::kForward:
      return "forward";
    case TaskClass::kBackward:
      return "backward";
    case TaskClass::kOptimizer:
      return "optimizer";
    case TaskClass::kLaunch:
      return "launch";
    case TaskClass::kFramework:
      return "framework";
    case TaskClass::kCollective:
    case TaskClass::kKernels:
      return "collective";
    case TaskClass::kSend:
      return "send";
    case TaskClass::kCopy:
      return "copy";
    case TaskClass::kDrive:
      return "drive";
    case TaskClass::kBuffer:
      return "buffer";
    case TaskClass::kHost:
      return "host";
  }
  return "";
}

}  // namespace slmsim

// Names of task classes in traces ("cat").
#pragma once

#include <string_view>

#include "sim/engine/task_graph.h"

namespace slmsim {

std::string_view name_of(TaskClass of);

}  // namespace slmsim

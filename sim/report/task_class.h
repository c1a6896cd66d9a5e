// The names by which traces tell classes of tasks ("cat").
#pragma once

#include <string_view>

#include "sim/graph/task_graph.h"

namespace slmsim {

std::string_view name_of(TaskClass of);

}  // namespace slmsim

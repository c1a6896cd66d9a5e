// The result as a file of platforms/paths/: YAML, schema slmsim/path/1, for use by a platform's link and VMs.
#pragma once

#include <string>

#include "calibrate/netprobe/measure.h"

namespace slmsim::calibrate::netprobe {

struct Origin {
  std::string name;     // of the path: letters, digits, - _ .
  std::string date;     // UTC, "2026-01-31T12:00:00Z"
  std::string command;  // as typed
};

std::string to_yaml(const Measurement& measurement, const Hosts& hosts, const Origin& origin);

// A name made of the text's letters, digits, - and _; "path" where no character is left.
std::string name_from(const std::string& text);

}  // namespace slmsim::calibrate::netprobe

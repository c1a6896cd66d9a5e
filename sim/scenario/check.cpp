#include "sim/scenario/check.h"

#include "sim/platform/drive.h"
#include "sim/platform/iperf3.h"
#include "sim/platform/path.h"
#include "sim/scenario/kind.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

std::string check_file(const std::filesystem::path& file) {
  const Node node = read_yaml(file);
  std::string kind = kind_of(node);
  Reading reading;
  if (kind == "platform") {
    read_platform(link_platform(file), "", reading);
  } else if (kind == "path") {
    read_path(as_path(node), "", reading);
  } else if (kind == "GPU profile") {
    read_profile(node, "", reading);
  } else if (kind == "model") {
    read_transformer(node, "", "model", reading);
  } else if (kind == "GPU") {
    read_gpu(node, "", reading);
  } else if (kind == "drive") {
    read_drive(node, "", reading);
  } else if (kind == "software stack") {
    Software software;
    read_stack(node, "", reading, software);
  } else if (kind == "VM type") {
    read_vm_type(node, "", reading);
  } else {
    load_scenario(file);
  }
  reading.check();
  return kind;
}

}  // namespace slmsim

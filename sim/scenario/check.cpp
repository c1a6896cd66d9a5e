#include "sim/scenario/check.h"

#include "sim/platform/drive.h"
#include "sim/platform/iperf3.h"
#include "sim/platform/path.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

std::string check_file(const std::filesystem::path& file) {
  const Node node = read_yaml(file);
  Reading reading;
  std::string kind = "scenario";
  if (node.find("vms")) {
    kind = "platform";
    read_platform(link_platform(file), "", reading);
  } else if (is_path(node)) {
    kind = "path";
    read_path(as_path(node), "", reading);
  } else if (is_profile(node)) {
    kind = "GPU profile";
    read_profile(node, "", reading);
  } else if (node.find("model_type") || node.find("family")) {
    kind = "model";
    read_transformer(node, "", "model", reading);
  } else if (node.find("peak") || node.find("multiprocessors")) {
    kind = "GPU";
    read_gpu(node, "", reading);
  } else if (node.find("read") && node.find("write")) {
    kind = "drive";
    read_drive(node, "", reading);
  } else if (node.find("attention") && node.find("kernels")) {
    kind = "software stack";
    Software software;
    read_stack(node, "", reading, software);
  } else if (node.find("nic")) {
    kind = "VM type";
    read_vm_type(node, "", reading);
  } else {
    load_scenario(file);
  }
  reading.check();
  return kind;
}

}  // namespace slmsim

#include "sim/scenario/kind.h"

#include <fmt/format.h>

#include "sim/platform/path.h"
#include "sim/scenario/scenario.h"

namespace slmsim {

std::string kind_of(const Node& file) {
  if (file.find("axes")) return "sweep";
  if (file.find("vms")) return "platform";
  if (is_path(file)) return "path";
  if (is_profile(file)) return "GPU profile";
  if (file.find("model_type") || file.find("family")) return "model";
  if (file.find("peak") || file.find("multiprocessors")) return "GPU";
  if (file.find("read") && file.find("write")) return "drive";
  if (file.find("attention") && file.find("kernels")) return "software stack";
  return file.find("nic") ? "VM type" : "scenario";
}

void require_scenario(const Node& file) {
  static const std::map<std::string, const char*> kUse = {
      {"sweep", "slmsim sweep runs it"},
      {"platform", "a scenario names it by its key platform; slmsim init writes both"},
      {"model", "a scenario lists it under models"},
      {"GPU", "a platform's VMs list it under gpus"},
      {"VM type", "a platform's VMs name it by type"},
      {"drive", "a VM type names it under inside"},
      {"software stack", "a scenario names it by software.stack"},
      {"GPU profile", "a GPU names it by profile"},
      {"path", "a platform's links name it by path"}};
  const auto use = kUse.find(kind_of(file));
  if (use == kUse.end()) return refuse_foreign_keys(file);
  throw InputError(file.place, fmt::format("this is a {}, but a scenario is expected; {}", use->first, use->second));
}

std::string check_file(const std::filesystem::path& file) {
  const Node node = read_own_yaml(file);
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

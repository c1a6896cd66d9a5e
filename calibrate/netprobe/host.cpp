#include "calibrate/netprobe/host.h"

#include <algorithm>
#include <fstream>
#include <sys/utsname.h>
#include <thread>

#include "calibrate/common/text.h"

namespace slmsim::calibrate::netprobe {
namespace {

constexpr const char* kSettings[] = {"net.ipv4.tcp_rmem",
                                     "net.ipv4.tcp_wmem",
                                     "net.ipv4.tcp_congestion_control",
                                     "net.ipv4.tcp_slow_start_after_idle",
                                     "net.ipv4.tcp_no_metrics_save",
                                     "net.core.rmem_max",
                                     "net.core.wmem_max",
                                     "net.core.default_qdisc"};

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  std::replace(line.begin(), line.end(), '\t', ' ');
  return printable(line);
}

std::string processor(const std::string& proc) {
  std::ifstream stream(proc + "/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return printable(line.substr(colon + 2));
  }
  return "";
}

}  // namespace

HostFacts facts_of_this_host(const std::string& proc) {
  HostFacts facts;
  utsname system{};
  uname(&system);
  facts["host"] = printable(system.nodename);
  facts["kernel"] = printable(format("%s %s %s", system.sysname, system.release, system.machine));
  const std::string model = processor(proc);
  facts["machine"] =
      format("%s%s%u CPUs", model.c_str(), model.empty() ? "" : ", ", std::thread::hardware_concurrency());
  const std::string settings = proc + "/sys/";
  for (const std::string name : kSettings) {
    std::string path = name;
    std::replace(path.begin(), path.end(), '.', '/');
    if (const std::string value = first_line(settings + path); !value.empty()) facts[name] = value;
  }
  return facts;
}

double last_number(const HostFacts& facts, const std::string& name) {
  const auto words = words_of(fact(facts, name));
  return words.empty() ? 0 : parse_number(words.back()).value_or(0);
}

std::string fact(const HostFacts& facts, const std::string& name) {
  const auto found = facts.find(name);
  return found == facts.end() ? "" : found->second;
}

}  // namespace slmsim::calibrate::netprobe

// Where and how a table of measurements was made: its first comment.
#pragma once

#include <ctime>
#include <string>
#include <sys/utsname.h>
#include <thread>

#include <fmt/format.h>

namespace slmsim::wan {

// "measured: 2026-11-20, Linux 6.18.5 x86_64, 2 CPUs, command: LINE"; `library`: ", Gloo 0.5.0" or the like.
inline std::string provenance(const std::string& line, const std::string& library = "") {
  utsname system{};
  uname(&system);
  const std::time_t now = std::time(nullptr);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  return fmt::format("measured: {}, {} {} {}, {} CPUs{}, command: {}", date, system.sysname, system.release,
                     system.machine, std::thread::hardware_concurrency(), library, line);
}

}  // namespace slmsim::wan

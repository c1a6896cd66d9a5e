#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/target.h"

namespace slmsim::fuzz {

std::string as_file(std::string_view text) {
  static int file = memfd_create("fuzz", 0);
  if (ftruncate(file, 0) != 0 || pwrite(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error("no file in memory");
  return "/proc/self/fd/" + std::to_string(file);
}

}  // namespace slmsim::fuzz

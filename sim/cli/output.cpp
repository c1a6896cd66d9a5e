#include "sim/cli/output.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/base/error.h"

namespace slmsim {

void write_result(const std::string& text, const std::string& file) {
  if (file.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  const Place place{std::make_shared<Source>(Source{file, ""}), 0, 0};
  const std::filesystem::path partial = fmt::format("{}.{}.tmp", file, getpid());
  std::error_code failed;
  {
    std::ofstream out(partial, std::ios::binary);
    out << text;
    out.close();
    if (!out) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) std::filesystem::rename(partial, file, failed);
  if (!failed) return;
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  throw InputError(place, "the result cannot be written there; check the folder and its permissions");
}

}  // namespace slmsim

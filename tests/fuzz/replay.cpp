// Goes through files of a corpus with any compiler: what once was a finding stays mended. Usage: fuzz_replay TARGET FILE|FOLDER...
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/base/error.h"
#include "tests/fuzz/target.h"

namespace {

namespace fs = std::filesystem;

bool holds(const slmsim::fuzz::TryInput& try_input, const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  try {
    try_input(text.str());
  } catch (const slmsim::InputError&) {
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", file.c_str(), error.what());
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const auto& all = slmsim::fuzz::targets();
  const auto target = argc > 1 ? all.find(argv[1]) : all.end();
  if (target == all.end()) {
    std::fprintf(stderr, "fuzz_replay: there is no target \"%s\"\n", argc > 1 ? argv[1] : "");
    return 2;
  }
  int count = 0, failed = 0;
  for (int i = 2; i < argc; ++i) {
    const auto one = [&](const fs::path& file) { ++count, failed += holds(target->second, file) ? 0 : 1; };
    if (!fs::is_directory(argv[i])) {
      one(argv[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) one(entry.path());
    }
  }
  std::printf("%d inputs, %d findings\n", count, failed);
  return count == 0 || failed > 0;
}

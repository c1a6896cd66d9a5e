// Entry points of libFuzzer. SLMSIM_FUZZ_TARGET names the target.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "sim/base/error.h"
#include "tests/fuzz/target.h"

namespace {

const slmsim::fuzz::TryInput* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("SLMSIM_FUZZ_TARGET");
  const auto& all = slmsim::fuzz::targets();
  const auto found = all.find(name ? name : "");
  if (found == all.end()) {
    std::fprintf(stderr, "fuzz: SLMSIM_FUZZ_TARGET is \"%s\", which is no target\n", name ? name : "");
    std::exit(2);
  }
  target = &found->second;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (*target)({reinterpret_cast<const char*>(data), size});
  } catch (const slmsim::InputError&) {
  }
  return 0;
}

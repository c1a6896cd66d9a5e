// What libFuzzer calls.
#include <cstddef>
#include <cstdint>

#include "sim/base/error.h"
#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    slmsim::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  } catch (const slmsim::InputError&) {
  }
  return 0;
}

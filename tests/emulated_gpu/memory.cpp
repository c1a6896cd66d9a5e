#include "tests/emulated_gpu/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace emulated {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr int kFresh = 0xff, kGuard = 0xa5;  // of floats, halves and bfloats no number; a label far out of range

struct GuardedRange {
  char* from = nullptr;
  std::size_t bytes = 0;
};
std::map<char*, std::vector<GuardedRange>> allocations;
int overwrites = 0;

}  // namespace

void* allocate(std::size_t bytes) {
  const std::size_t whole = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  auto* const memory = static_cast<char*>(std::aligned_alloc(kAlignment, whole));
  std::memset(memory, kFresh, whole);
  allocations[memory];
  guard(memory + bytes, whole - bytes);
  return memory;
}

void guard(void* from, std::size_t bytes) {
  const auto of = std::prev(allocations.upper_bound(static_cast<char*>(from)));
  std::memset(from, kGuard, bytes);
  ASAN_POISON_MEMORY_REGION(from, bytes);
  of->second.push_back({static_cast<char*>(from), bytes});
}

void release(void* memory) {
  const auto found = allocations.find(static_cast<char*>(memory));
  if (found == allocations.end()) return;
  for (const auto& [from, bytes] : found->second) {
    ASAN_UNPOISON_MEMORY_REGION(from, bytes);
    if (std::any_of(from, from + bytes, [](char c) { return c != static_cast<char>(kGuard); })) ++overwrites;
  }
  allocations.erase(found);
  std::free(memory);
}

int overwritten() { return overwrites; }

}  // namespace emulated

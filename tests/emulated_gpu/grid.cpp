#include "tests/emulated_gpu/grid.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/emulated_gpu/switch.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define SLMSIM_ASAN 1
#else
#define SLMSIM_ASAN 0
#endif

namespace emulated {

uint3 thread_index, block_index;
dim3 block_size, grid_size;

namespace {

constexpr std::size_t kStack = std::size_t{64} << 10;
constexpr unsigned kWarp = 32, kMostThreads = 1024, kMostBlocks = 0x7fffffffU, kMostOther = 65535;

enum class Wait { kNothing, kBlock, kShuffle, kLeft };

// A stack. It runs one thread after the other, until one of them waits; that one keeps it until it has left.
struct Fiber {
  Context context{};
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStack);
  void* fake_stack = nullptr;
};

struct Thread {
  uint3 index;
  Wait waits = Wait::kLeft;
  Fiber* fiber = nullptr;
  // Words of alternate shuffles, so that a word stays until all have read it.
  std::uint32_t words[2] = {}, mask = 0;
  unsigned shuffles = 0;
};

Context scheduler;
void* scheduler_fake = nullptr;
const void* scheduler_stack = nullptr;
std::size_t scheduler_size = 0;
std::vector<Thread> threads;
std::vector<std::size_t> order_of_threads;
std::size_t begun = 0;    // threads begun, in order_of_threads
bool any_waited = false;  // in this block
std::vector<std::unique_ptr<Fiber>> fibers;
std::vector<Fiber*> idle;
Fiber* current = nullptr;
Thread* running = nullptr;
const std::function<void()>* work = nullptr;
Order order = Order::kUpwards;
std::string error;

void note(const std::string& text) {
  if (error.empty()) error = text;
}

// The sanitizer must know which stack is in use.
void leave(void** fake, const void* stack, std::size_t size) {
#if SLMSIM_ASAN
  __sanitizer_start_switch_fiber(fake, stack, size);
#else
  (void)fake, (void)stack, (void)size;
#endif
}
void enter(void* fake, const void** stack, std::size_t* size) {
#if SLMSIM_ASAN
  __sanitizer_finish_switch_fiber(fake, stack, size);
#else
  (void)fake, (void)stack, (void)size;
#endif
}

void to_scheduler() {
  Fiber& self = *current;
  leave(&self.fake_stack, scheduler_stack, scheduler_size);
  change(self.context, scheduler);
  enter(self.fake_stack, &scheduler_stack, &scheduler_size);
}

void to_fiber(Fiber& fiber) {
  current = &fiber;
  leave(&scheduler_fake, fiber.stack.get(), kStack);
  change(scheduler, fiber.context);
  enter(scheduler_fake, nullptr, nullptr);
  current = nullptr;
  running = nullptr;
}

void wait_for(Wait what) {
  Thread& self = *running;
  self.waits = what;
  any_waited = true;
  to_scheduler();
}

void run_threads() {
  enter(nullptr, &scheduler_stack, &scheduler_size);
  for (;;) {
    while (begun < order_of_threads.size()) {
      running = &threads[order_of_threads[begun++]];
      *running = {running->index, Wait::kNothing, current};
      thread_index = running->index;
      (*work)();
      running->waits = Wait::kLeft;
    }
    idle.push_back(current);
    to_scheduler();
  }
}

Fiber& idle_fiber() {
  if (idle.empty()) {
    fibers.push_back(std::make_unique<Fiber>());
    Fiber& fresh = *fibers.back();
    make(fresh.context, fresh.stack.get(), kStack, run_threads);
    return fresh;
  }
  Fiber& fiber = *idle.back();
  idle.pop_back();
  return fiber;
}

std::vector<std::size_t> turns(std::size_t count) {
  std::vector<std::size_t> which(count);
  std::iota(which.begin(), which.end(), std::size_t{0});
  if (order == Order::kDownwards) std::reverse(which.begin(), which.end());
  if (order == Order::kMixed) {
    // Any fixed mixture does.
    std::uint32_t state = 1;
    for (std::size_t i = count; i > 1; --i) {
      state = state * 1664525U + 1013904223U;
      std::swap(which[i - 1], which[(state >> 8) % i]);
    }
  }
  return which;
}

// Warps all of whose named threads wait in a shuffle go on.
bool release_warps() {
  bool any = false;
  for (std::size_t first = 0; first < threads.size(); first += kWarp) {
    const std::size_t end = std::min(threads.size(), first + kWarp);
    std::uint32_t mask = 0;
    for (std::size_t i = first; i < end; ++i) mask |= threads[i].waits == Wait::kShuffle ? threads[i].mask : 0;
    bool all = mask != 0;
    for (unsigned lane = 0; lane < kWarp && all; ++lane) {
      if (!((mask >> lane) & 1U)) continue;
      all = first + lane < end && threads[first + lane].waits == Wait::kShuffle && threads[first + lane].mask == mask;
    }
    for (unsigned lane = 0; lane < kWarp && all; ++lane) {
      if ((mask >> lane) & 1U) threads[first + lane].waits = Wait::kNothing;
    }
    any = any || all;
  }
  return any;
}

bool release_block() {
  const bool all =
      std::all_of(threads.begin(), threads.end(), [](const Thread& thread) { return thread.waits == Wait::kBlock; });
  if (!all) return false;
  for (auto& thread : threads) thread.waits = Wait::kNothing;
  return true;
}

// False where threads wait for what never comes.
bool run_block() {
  begun = 0;
  any_waited = false;
  while (begun < order_of_threads.size()) to_fiber(idle_fiber());
  if (!any_waited) return true;
  for (;;) {
    bool any = false;
    for (const std::size_t one : order_of_threads) {
      if (threads[one].waits != Wait::kNothing) continue;
      any = true;
      running = &threads[one];
      thread_index = running->index;
      to_fiber(*running->fiber);
    }
    if (any || release_warps() || release_block()) continue;
    return std::all_of(threads.begin(), threads.end(),
                       [](const Thread& thread) { return thread.waits == Wait::kLeft; });
  }
}

}  // namespace

void set_order(Order wanted) { order = wanted; }

void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel) {
  const std::size_t count = std::size_t{block.x} * block.y * block.z;
  if (count < 1 || count > kMostThreads || block.z > 64) return note("a block has at least 1 and at most 1024 threads");
  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > kMostBlocks || grid.y > kMostOther || grid.z > kMostOther)
    return note("a grid has at least 1 and at most 2^31 - 1, 65535 and 65535 blocks");
  if (running) return note("a kernel starts a kernel");
  work = &kernel;
  grid_size = grid;
  block_size = block;
  threads.resize(count);
  for (unsigned i = 0; i < count; ++i) threads[i].index = {i % block.x, i / block.x % block.y, i / (block.x * block.y)};
  order_of_threads = turns(count);
  bool whole = true;
  for (block_index.z = 0; block_index.z < grid.z && whole; ++block_index.z) {
    for (block_index.y = 0; block_index.y < grid.y && whole; ++block_index.y) {
      for (block_index.x = 0; block_index.x < grid.x && whole; ++block_index.x) whole = run_block();
    }
  }
  if (!whole) {
    note("threads of a block wait at a barrier or in a shuffle that others have passed or left");
    idle.clear();
    fibers.clear();  // stacks in the middle of something
  }
}

std::string take_error() { return std::exchange(error, ""); }

void wait_for_block() { wait_for(Wait::kBlock); }

unsigned own_lane() { return static_cast<unsigned>(running - threads.data()) % kWarp; }

std::uint32_t exchange_in_warp(std::uint32_t mask, std::uint32_t value, unsigned lane) {
  Thread& self = *running;
  const unsigned own = own_lane(), turn = self.shuffles++ % 2;
  self.words[turn] = value;
  self.mask = mask;
  if (!((mask >> own) & 1U)) note("a thread shuffles that its mask does not name");
  wait_for(Wait::kShuffle);
  const bool there = lane < kWarp && ((mask >> lane) & 1U);
  if (!there) note("a shuffle reads a thread that its mask does not name");
  return there ? (&self - own)[lane].words[turn] : ~std::uint32_t{0};
}

}  // namespace emulated

// A GPU's grid of threads on the host: the threads of a block run in turns, each on a stack of its own, and change at the
// barriers of block and warp; blocks run one after the other. Undefined behaviour ends the launch with an error:
// a barrier that not all threads reach, a shuffle with a thread that has left, a launch beyond the limits.
//
// It does not model time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}  // NOLINT: as CUDA's
};

namespace emulated {

// Order in which a block's runnable threads run. A kernel without races is correct in every order.
enum class Order { kUpwards, kDownwards, kMixed };
void set_order(Order order);

// Indices of the running thread.
extern uint3 thread_index, block_index;
extern dim3 block_size, grid_size;

// Runs `kernel` for every thread. Errors are kept for take_error.
void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel);
// Error of the first failed launch since the last call; "" if none failed.
std::string take_error();

void wait_for_block();
// All threads of the warp give a word; what the thread `lane` of the warp gave.
std::uint32_t exchange_in_warp(std::uint32_t mask, std::uint32_t value, unsigned lane);
unsigned own_lane();

}  // namespace emulated

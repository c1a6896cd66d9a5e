// A GPU's grid of threads on the host: the threads of a block run in turns, each on a stack of its own, and change at the
// barriers of block and warp; blocks run one after the other. What a real GPU leaves undefined ends the launch with an error:
// a barrier that not all threads reach, a shuffle with a thread that has left, a launch beyond the limits.
//
// It tells nothing about times.
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

// Which of a block's threads that may run runs first. What is right without a race is so in every order.
enum class Order { kUpwards, kDownwards, kMixed };
void set_order(Order order);

// Of the thread that runs.
extern uint3 thread_index, block_index;
extern dim3 block_size, grid_size;

// Runs `kernel` for every thread. What went wrong is kept for take_error.
void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel);
// Of the first launch since the last call that went wrong; "" where none did.
std::string take_error();

void wait_for_block();
// All threads of the warp give a word; what the thread `lane` of the warp gave.
std::uint32_t exchange_in_warp(std::uint32_t mask, std::uint32_t value, unsigned lane);
unsigned own_lane();

}  // namespace emulated

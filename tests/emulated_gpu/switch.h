// Changing from one stack to another. By hand on x86-64, since swapcontext asks the kernel for the signals' mask each time,
// and the address sanitizer goes through the whole stack; elsewhere by swapcontext.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ucontext.h>

namespace emulated {

#if defined(__x86_64__)

struct Context {
  void* stack_pointer = nullptr;
};

// Keeps what a function must keep on the one stack, and takes it from the other.
extern "C" void slmsim_emulated_switch(void** from, void* to);
asm(R"(
.text
.type slmsim_emulated_switch, @function
slmsim_emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size slmsim_emulated_switch, .-slmsim_emulated_switch
)");

inline void make(Context& context, char* stack, std::size_t size, void (*entry)()) {
  const std::uintptr_t top = (reinterpret_cast<std::uintptr_t>(stack) + size) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<std::uintptr_t*>(top);
  *--words = 0;  // where `entry`, which never returns, would return to
  *--words = reinterpret_cast<std::uintptr_t>(entry);
  for (int i = 0; i < 6; ++i) *--words = 0;
  context.stack_pointer = words;
}
inline void change(Context& from, Context& to) { slmsim_emulated_switch(&from.stack_pointer, to.stack_pointer); }

#else

using Context = ucontext_t;

inline void make(Context& context, char* stack, std::size_t size, void (*entry)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = size;
  context.uc_link = nullptr;
  makecontext(&context, entry, 0);
}
inline void change(Context& from, Context& to) { swapcontext(&from, &to); }

#endif

}  // namespace emulated

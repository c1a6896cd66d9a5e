// Independent pieces of work on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace slmsim {

// work(0), ..., work(count - 1), each once, on this thread and at most `threads` - 1 further ones: fewer where the system gives
// no more. Once one throws none is begun any more; what is thrown is what the first of them, in their order, threw.
template <class Work>
void in_parallel(std::size_t count, std::size_t threads, Work work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> thrown(count);
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        thrown[i] = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      while (others.size() + 1 < std::min(threads, count)) others.emplace_back(take);
    } catch (const std::system_error&) {  // no more threads
    }
    take();
  }
  for (const auto& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

}  // namespace slmsim

// Work on several threads.
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/work.h"

namespace slmsim::in_parallel_test {
namespace {

TEST(InParallel, DoesEachOnce) {
  for (const std::size_t threads : {0, 1, 2, 7, 300}) {
    std::vector<std::atomic<int>> done(200);
    in_parallel(done.size(), threads, [&](std::size_t i) { ++done[i]; });
    for (const auto& times : done) EXPECT_EQ(times, 1);
  }
  in_parallel(0, 4, [](std::size_t) { FAIL(); });
}

TEST(InParallel, ThrowsWhatTheFirstThatThrewDid) {
  for (const std::size_t threads : {1, 4}) {
    std::atomic<bool> second = threads == 1;  // where there is one thread it never comes to another
    try {
      in_parallel(100, threads, [&](std::size_t i) {
        if (i == 0) {
          while (!second) std::this_thread::yield();
          throw std::runtime_error("0");
        }
        if (i == 1) {
          second = true;
          throw std::runtime_error("1");
        }
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("0"));
    }
  }
}

TEST(InParallel, BeginsNoMoreOnceOneThrows) {
  int done = 0;
  EXPECT_THROW(in_parallel(100, 1, [&](std::size_t i) { ++done, i == 9 ? throw std::runtime_error("9") : void(); }),
               std::runtime_error);
  EXPECT_EQ(done, 10);
}

}  // namespace
}  // namespace slmsim::in_parallel_test

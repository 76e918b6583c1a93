#include "runtime/cpu/thread_pool.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace stax {
namespace {

TEST(ThreadPool, EveryInstanceRunsExactlyOnce) {
  for (int threads : {1, 2, 7}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 2, 5, 1000, 12345}) {
      std::vector<std::atomic<int>> runs(count);
      pool.ParallelFor(count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) runs[i].fetch_add(1);
      });
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(runs[i].load(), 1) << threads << " " << i;
    }
  }
}

TEST(ThreadPool, CallersFromSeveralThreadsDoNotMix) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::vector<int64_t> sums(4, 0);
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&pool, &sums, c] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        std::atomic<int64_t> sum = 0;
        pool.ParallelFor(100, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) sum.fetch_add(i);
        });
        sums[c] += sum.load();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (int64_t sum : sums) EXPECT_EQ(sum, 200 * 4950);
}

// As another user than root, whom the limit does not hold for; in a process of its own.
TEST(ThreadPool, WorksWithoutFurtherThreads) {
  auto sum_alone = [] {
    rlimit none = {};
    const bool limited =
        setrlimit(RLIMIT_NPROC, &none) == 0 && (getuid() != 0 || setuid(65534) == 0);
    ThreadPool pool(4);
    std::atomic<int64_t> sum = 0;
    pool.ParallelFor(1000, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sum += i;
    });
    _exit(limited && sum == 499500 ? 0 : 1);
  };
  EXPECT_EXIT(sum_alone(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stax

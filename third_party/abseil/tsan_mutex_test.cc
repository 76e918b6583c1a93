// Each case hands x from one thread to another; ThreadSanitizer must see why that is no race.

#include <thread>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace {

TEST(TsanMutexTest, Lock) {
  int x = 0;
  absl::Mutex mutex;
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) {
      absl::MutexLock lock(&mutex);
      ++x;
    }
  };
  std::thread thread(add);
  add();
  thread.join();
  EXPECT_EQ(x, 2000);
}

TEST(TsanMutexTest, ReaderLock) {
  int x = 0;
  absl::Mutex mutex;
  std::thread thread([&] {
    absl::WriterMutexLock lock(&mutex);
    x = 1;
  });
  {
    absl::ReaderMutexLock lock(&mutex);
    EXPECT_LE(x, 1);
  }
  thread.join();
}

TEST(TsanMutexTest, Conditions) {
  int x = 0;
  bool done = false;
  absl::Mutex mutex;
  std::thread thread([&] {
    x = 1;
    absl::MutexLock lock(&mutex);
    done = true;
  });
  {
    absl::MutexLock lock(&mutex, absl::Condition(&done));
    mutex.Await(absl::Condition(&done));
    EXPECT_TRUE(mutex.AwaitWithTimeout(absl::Condition(&done), absl::Seconds(1)));
    EXPECT_EQ(x, 1);
  }
  thread.join();
}

TEST(TsanMutexTest, CondVar) {
  int x = 0;
  bool done = false;
  absl::Mutex mutex;
  absl::CondVar changed;
  std::thread thread([&] {
    x = 1;
    absl::MutexLock lock(&mutex);
    done = true;
    changed.Signal();
  });
  {
    absl::MutexLock lock(&mutex);
    while (!done) changed.Wait(&mutex);
    EXPECT_EQ(x, 1);
  }
  thread.join();
}

TEST(TsanMutexTest, Notification) {
  int x = 0;
  absl::Notification done;
  std::thread thread([&] {
    x = 1;
    done.Notify();
  });
  done.WaitForNotification();
  EXPECT_EQ(x, 1);
  thread.join();
}

TEST(TsanMutexTest, BlockingCounter) {
  int x = 0;
  absl::BlockingCounter counter(1);
  std::thread thread([&] {
    x = 1;
    counter.DecrementCount();
  });
  counter.Wait();
  EXPECT_EQ(x, 1);
  thread.join();
}

}  // namespace

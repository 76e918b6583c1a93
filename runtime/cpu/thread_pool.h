// A fixed set of threads that share the program instances of one launch at a time.
#ifndef STAX_RUNTIME_CPU_THREAD_POOL_H_
#define STAX_RUNTIME_CPU_THREAD_POOL_H_

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace stax {

// The cores that this process may use.
int UsableCores();

class ThreadPool {
 public:
  // `threads` >= 1 in all, the caller of ParallelFor being one of them.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(begin, end) on disjoint ranges that cover [0, count), and returns when all are
  // done. Ranges are handed out dynamically. One call at a time: callers wait for each other.
  void ParallelFor(int64_t count, const std::function<void(int64_t, int64_t)>& body);

 private:
  struct Job {
    const std::function<void(int64_t, int64_t)>* body = nullptr;
    int64_t count = 0;
    int64_t chunk = 1;
    int64_t next = 0;  // first instance not handed out
    int busy = 0;      // threads inside body
  };

  void Work();
  void RunChunks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex launch_mutex_;
  absl::Mutex mutex_;
  Job job_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> workers_;
};

}  // namespace stax

#endif  // STAX_RUNTIME_CPU_THREAD_POOL_H_

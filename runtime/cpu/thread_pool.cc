#include "runtime/cpu/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <system_error>

namespace stax {
namespace {

// Chunks handed out per thread: enough that an unlucky thread does not delay the end by much.
constexpr int64_t kChunksPerThread = 8;

}  // namespace

int UsableCores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

ThreadPool::ThreadPool(int threads) {
  workers_.reserve(threads);
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // The system grants no more (ulimit -u): the work takes longer then.
  }
}

ThreadPool::~ThreadPool() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::RunChunks() {
  ++job_.busy;
  while (job_.next < job_.count) {
    int64_t begin = job_.next;
    int64_t end = std::min(job_.count, begin + job_.chunk);
    job_.next = end;
    const auto& body = *job_.body;
    mutex_.Unlock();
    body(begin, end);
    mutex_.Lock();
  }
  --job_.busy;
}

void ThreadPool::Work() {
  absl::MutexLock lock(&mutex_);
  while (true) {
    auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return stop_ || job_.next < job_.count;
    };
    mutex_.Await(absl::Condition(&ready));
    if (stop_) return;
    RunChunks();
  }
}

void ThreadPool::ParallelFor(int64_t count, const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  if (workers_.empty() || count == 1) {
    body(0, count);
    return;
  }
  absl::MutexLock launch(&launch_mutex_);
  absl::MutexLock lock(&mutex_);
  job_.body = &body;
  job_.count = count;
  job_.chunk = std::max<int64_t>(1, count / (threads() * kChunksPerThread));
  job_.next = 0;
  RunChunks();
  auto done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return job_.busy == 0; };
  mutex_.Await(absl::Condition(&done));
}

}  // namespace stax

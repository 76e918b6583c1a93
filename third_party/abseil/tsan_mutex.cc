// Tells ThreadSanitizer of the locks of absl::Mutex. Debian's archives are not instrumented, so
// without this every datum that such a lock guards looks like a race. Linked under --config=tsan
// only; the linker's --wrap (see BUILD) sends calls of the functions below here, also those that
// Abseil's own Notification and BlockingCounter make.

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace {

using absl::Condition;
using absl::CondVar;
using absl::Mutex;

constexpr unsigned kWrite = 0;
constexpr unsigned kRead = __tsan_mutex_read_lock;

template <typename Function>
void Locking(Mutex* mutex, unsigned flags, Function lock) {
  __tsan_mutex_pre_lock(mutex, flags);
  lock();
  __tsan_mutex_post_lock(mutex, flags, 0);
}

template <typename Function>
bool TryLocking(Mutex* mutex, unsigned flags, Function try_lock) {
  flags |= __tsan_mutex_try_lock;
  __tsan_mutex_pre_lock(mutex, flags);
  const bool locked = try_lock();
  __tsan_mutex_post_lock(mutex, locked ? flags : flags | __tsan_mutex_try_lock_failed, 0);
  return locked;
}

template <typename Function>
void Unlocking(Mutex* mutex, unsigned flags, Function unlock) {
  __tsan_mutex_pre_unlock(mutex, flags);
  unlock();
  __tsan_mutex_post_unlock(mutex, flags);
}

// A wait gives the lock away and takes it back.
template <typename Function>
auto Waiting(Mutex* mutex, Function wait) {
  __tsan_mutex_pre_unlock(mutex, kWrite);
  __tsan_mutex_post_unlock(mutex, kWrite);
  __tsan_mutex_pre_lock(mutex, kWrite);
  const auto result = wait();
  __tsan_mutex_post_lock(mutex, kWrite, 0);
  return result;
}

}  // namespace

extern "C" {

#define STAX_WRAP(result, symbol, ...) \
  result __real_##symbol(__VA_ARGS__); \
  result __wrap_##symbol(__VA_ARGS__)

STAX_WRAP(void, _ZN4absl7debian35MutexD1Ev, Mutex* mutex) {
  __tsan_mutex_destroy(mutex, __tsan_mutex_not_static);
  __real__ZN4absl7debian35MutexD1Ev(mutex);
}

STAX_WRAP(void, _ZN4absl7debian35Mutex4LockEv, Mutex* mutex) {
  Locking(mutex, kWrite, [&] { __real__ZN4absl7debian35Mutex4LockEv(mutex); });
}

STAX_WRAP(void, _ZN4absl7debian35Mutex6UnlockEv, Mutex* mutex) {
  Unlocking(mutex, kWrite, [&] { __real__ZN4absl7debian35Mutex6UnlockEv(mutex); });
}

STAX_WRAP(bool, _ZN4absl7debian35Mutex7TryLockEv, Mutex* mutex) {
  return TryLocking(mutex, kWrite, [&] { return __real__ZN4absl7debian35Mutex7TryLockEv(mutex); });
}

STAX_WRAP(void, _ZN4absl7debian35Mutex10ReaderLockEv, Mutex* mutex) {
  Locking(mutex, kRead, [&] { __real__ZN4absl7debian35Mutex10ReaderLockEv(mutex); });
}

STAX_WRAP(void, _ZN4absl7debian35Mutex12ReaderUnlockEv, Mutex* mutex) {
  Unlocking(mutex, kRead, [&] { __real__ZN4absl7debian35Mutex12ReaderUnlockEv(mutex); });
}

STAX_WRAP(bool, _ZN4absl7debian35Mutex13ReaderTryLockEv, Mutex* mutex) {
  return TryLocking(mutex, kRead,
                    [&] { return __real__ZN4absl7debian35Mutex13ReaderTryLockEv(mutex); });
}

STAX_WRAP(void, _ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE, Mutex* mutex,
          const Condition& condition) {
  Locking(mutex, kWrite,
          [&] { __real__ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE(mutex, condition); });
}

STAX_WRAP(void, _ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE, Mutex* mutex,
          const Condition& condition) {
  Waiting(mutex, [&] {
    return __real__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(mutex, condition), true;
  });
}

STAX_WRAP(bool, _ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE,
          Mutex* mutex, const Condition& condition, absl::Duration timeout) {
  return Waiting(mutex, [&] {
    return __real__ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE(
        mutex, condition, timeout);
  });
}

STAX_WRAP(void, _ZN4absl7debian37CondVar4WaitEPNS0_5MutexE, CondVar* condition, Mutex* mutex) {
  Waiting(mutex, [&] {
    return __real__ZN4absl7debian37CondVar4WaitEPNS0_5MutexE(condition, mutex), true;
  });
}

STAX_WRAP(bool, _ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE,
          CondVar* condition, Mutex* mutex, absl::Duration timeout) {
  return Waiting(mutex, [&] {
    return __real__ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE(
        condition, mutex, timeout);
  });
}

STAX_WRAP(bool, _ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE,
          CondVar* condition, Mutex* mutex, absl::Time deadline) {
  return Waiting(mutex, [&] {
    return __real__ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE(
        condition, mutex, deadline);
  });
}

// A waiter that comes late takes no lock.
STAX_WRAP(void, _ZN4absl7debian312Notification6NotifyEv, absl::Notification* notification) {
  __tsan_release(notification);
  __real__ZN4absl7debian312Notification6NotifyEv(notification);
}

STAX_WRAP(void, _ZNK4absl7debian312Notification19WaitForNotificationEv,
          const absl::Notification* notification) {
  __real__ZNK4absl7debian312Notification19WaitForNotificationEv(notification);
  __tsan_acquire(const_cast<absl::Notification*>(notification));
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

// STAX_CHECK(condition, message): ends the program with the place, the condition and the message
// when a programmer broke a contract. What a user can cause is an absl::Status instead. (Abseil's
// own CHECK is not in the releases that distributions ship.) The message, a std::string or a
// literal, is only evaluated on failure.
#ifndef STAX_IR_CHECK_H_
#define STAX_IR_CHECK_H_

#include <cstdio>
#include <cstdlib>
#include <string>

namespace stax {

[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition,
                                     const std::string& message) {
  std::fprintf(stderr, "%s:%d: Check failed: %s: %s\n", file, line, condition, message.c_str());
  std::abort();
}

}  // namespace stax

#define STAX_CHECK(condition, message)                                              \
  do {                                                                              \
    if (!(condition)) ::stax::CheckFailed(__FILE__, __LINE__, #condition, message); \
  } while (false)

#endif  // STAX_IR_CHECK_H_

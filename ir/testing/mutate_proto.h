// Random changes to protobuf messages that keep them well-formed, for fuzz targets of messages:
// bytes changed at random are mostly no message, or one that differs in a string.
#ifndef STAX_IR_TESTING_MUTATE_PROTO_H_
#define STAX_IR_TESTING_MUTATE_PROTO_H_

#include <random>
#include <string>
#include <vector>

#include "google/protobuf/message.h"

namespace stax {

// Changes one field of `message` or of a message inside it: numbers become others that tend to
// matter (0, -1, 2^31, 2^62 ...), elements of repeated fields are added, taken away, doubled or
// swapped, fields cleared. Strings become one of `texts`, or are edited.
void MutateProto(const std::vector<std::string>& texts, std::mt19937_64& random,
                 google::protobuf::Message* message);

// What libFuzzer's LLVMFuzzerCustomMutator is to do for a target that parses `message`'s type: some
// changes to the message in data[0..size), or to one of `seeds` if there is none. Returns the new
// size, at most `max_size`.
size_t MutateSerialized(const std::vector<std::string>& seeds,
                        const std::vector<std::string>& texts, unsigned seed, uint8_t* data,
                        size_t size, size_t max_size, google::protobuf::Message* message);

}  // namespace stax

#endif  // STAX_IR_TESTING_MUTATE_PROTO_H_

// --size NAME=N: values of a program's size symbols, the same in every tool that takes them.
#ifndef STAX_TOOLS_CLI_SIZES_H_
#define STAX_TOOLS_CLI_SIZES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/artifact/program.pb.h"

namespace stax {

// `pairs`: the values of the option. InvalidArgument for a pair that is not NAME=NUMBER, a symbol
// that the program lacks (lists those it has) or that is given twice, and a value outside its
// range.
absl::StatusOr<std::map<std::string, int64_t>> ParseSizes(const std::vector<std::string>& pairs,
                                                          const Program& program);

}  // namespace stax

#endif  // STAX_TOOLS_CLI_SIZES_H_

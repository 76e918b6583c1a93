// The PTX files under testdata.
#ifndef STAX_RUNTIME_EMULATOR_PTX_TESTDATA_FILES_H_
#define STAX_RUNTIME_EMULATOR_PTX_TESTDATA_FILES_H_

#include <map>
#include <string>

namespace stax::ptx {

// Texts by name, "reduce_sm_80.ptx".
std::map<std::string, std::string> ReadTestdata();

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_TESTDATA_FILES_H_

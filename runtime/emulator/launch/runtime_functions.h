// What translated code calls while a launch runs.
#ifndef STAX_RUNTIME_EMULATOR_LAUNCH_RUNTIME_FUNCTIONS_H_
#define STAX_RUNTIME_EMULATOR_LAUNCH_RUNTIME_FUNCTIONS_H_

#include "runtime/emulator/translate/translate.h"

namespace stax::emulator {

// For contexts whose `block` is a ClusterRunner's.
const RuntimeFunctions& LaunchFunctions();

}  // namespace stax::emulator

#endif  // STAX_RUNTIME_EMULATOR_LAUNCH_RUNTIME_FUNCTIONS_H_

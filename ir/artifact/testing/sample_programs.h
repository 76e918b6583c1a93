// Small programs written by hand, as tests and fuzz targets of artifacts need them. They pass
// VerifyProgram; their code is never run, only carried along.
#ifndef STAX_IR_ARTIFACT_TESTING_SAMPLE_PROGRAMS_H_
#define STAX_IR_ARTIFACT_TESTING_SAMPLE_PROGRAMS_H_

#include <string>
#include <vector>

#include "google/protobuf/message.h"
#include "ir/artifact/device.pb.h"
#include "ir/artifact/program.pb.h"
#include "ir/artifact/report.pb.h"

namespace stax {

// For the cpu, of symbolic size: two launches, a temporary, a constant, a specialised input,
// outputs that are an input and a constant.
Program SymbolicSampleProgram();
// For cuda, of constant sizes: one launch, a tuning record.
Program TunedSampleProgram();

DeviceSpec SampleDevice();
ProfileReport SampleReport();

// Every string in a message, each once, sorted.
std::vector<std::string> TextsOf(const google::protobuf::Message& message);

}  // namespace stax

#endif  // STAX_IR_ARTIFACT_TESTING_SAMPLE_PROGRAMS_H_

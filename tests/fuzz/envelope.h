// What the fuzz targets of artifacts and their tests share.
#ifndef STAX_TESTS_FUZZ_ENVELOPE_H_
#define STAX_TESTS_FUZZ_ENVELOPE_H_

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ir/artifact/artifact_io.h"
#include "ir/artifact/program.pb.h"

namespace stax {

// A file of `kind` with a right checksum, whatever the payload.
std::string Envelope(ArtifactKind kind, std::string_view payload);

// Payloads of good programs, and strings that may matter somewhere in a program: those in the good
// ones, and formulas that have no value, a negative or a huge one.
std::vector<std::string> ProgramSeeds();
std::vector<std::string> ProgramTexts();

// Gives a dim of a buffer another formula.
void ChangeShape(std::mt19937_64& random, Program* program);
// Makes the stated sizes and the constants' data fit the shapes, where these have values: a search
// that changes a shape would seldom change them in step.
void RepairSizes(Program* program);

}  // namespace stax

#endif  // STAX_TESTS_FUZZ_ENVELOPE_H_

// PTX as written: what ParsePtx makes of a file, before anybody asks what an instruction means.
//
// Names are resolved: an operand that is a register holds its number, one that is a label or a
// symbol holds the number of what it names, so scopes are gone. Opcodes and modifiers stay text;
// the translator decides which it knows. PTX ISA 9.0 is the reference for all section numbers in
// this folder.
#ifndef STAX_RUNTIME_EMULATOR_PTX_MODULE_H_
#define STAX_RUNTIME_EMULATOR_PTX_MODULE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace stax::ptx {

// Fundamental types (section 5.2). Other packed types (e4m3x2, ...) occur in modifiers only.
enum class Type : uint8_t {
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBF16,
  kBF16x2,
  kF32,
  kF64,
};
constexpr int kTypeCount = static_cast<int>(Type::kF64) + 1;

// Of a value in memory; kPred has none (0).
int SizeBytes(Type type);
// "b32", "pred" ...
const char* TypeName(Type type);

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

enum class Linkage : uint8_t { kNone, kVisible, kExtern, kWeak, kCommon };

// A register of a function. Of a range "%r<10>" those are here that the function uses, in the order
// of their first use; a vector register "%v" of .v4 becomes "%v.x", "%v.y", "%v.z" and "%v.w", one
// after the other. Names of different scopes may be equal.
struct Register {
  std::string name;  // "%r3"
  Type type = Type::kB32;
};

// A piece of an initializer. Between the pieces, and behind them, a variable is zero.
struct Initializer {
  int64_t offset = 0;  // in bytes from the start of the variable
  std::string bytes;   // as they lie in memory; empty if an address follows
  // An address, `size` bytes of (address of `symbol` + addend) >> shift. The symbol is a variable
  // or a function of the module.
  std::string symbol;
  int64_t addend = 0;
  int size = 0;
  int shift = 0;         // in bits, of 0xFF00(symbol): 8
  bool generic = false;  // generic(symbol): a generic address; else one of the symbol's own space
};

// A variable of any space but registers: module scope, function scope, or a parameter.
struct Variable {
  std::string name;  // of function scope: made unique, "name#2" for the second one
  Space space = Space::kGeneric;
  Type type = Type::kB8;   // of an element
  int64_t size_bytes = 0;  // of the whole array; 0 for `extern .shared .b8 x[]`
  int64_t align_bytes = 1;
  Linkage linkage = Linkage::kNone;
  bool is_managed = false;  // .attribute(.managed)
  // Of a parameter of an entry: `.ptr .global .align 16`. The space is kGeneric when not given.
  bool is_pointer = false;
  Space pointer_space = Space::kGeneric;
  int64_t pointer_align_bytes = 1;
  std::vector<Initializer> initial;
  int line = 0;

  bool IsExtern() const { return linkage == Linkage::kExtern; }
};

// What a name of an operand is; Operand::index counts in the vector given here.
enum class SymbolKind : uint8_t {
  kNone,
  kModuleVariable,  // Module::variables
  kFunction,        // Module::functions
  kParameter,       // Function::parameters
  kReturned,        // Function::returned
  kVariable,        // Function::variables
  kLabel,           // Function::labels
  kBranchTargets,   // Function::branch_targets
  kCallTargets,     // Function::call_targets
  kPrototype,       // Function::prototypes
};

struct Operand {
  enum class Kind : uint8_t {
    kRegister,  // %r1, also !%p1 (negated): `reg`; of video instructions %r1.b0: `name` is "b0"
    kSpecial,   // %tid.x, %laneid, %clock64, WARP_SZ: `name`
    kInteger,   // 7, 0x1F, -3: `integer`
    kFloat,     // 0f3F800000 (single), 0d3FF0000000000000, 1.5 (double): `integer` holds the bits
    kAddress,   // [%rd1+4], [symbol+4], [16]: `reg` or `name` (or neither), `integer` the offset
    kSymbol,    // a variable, a function or a table as a value: `name`, `integer` the offset
    kVector,    // {%r1, %r2}, a vector register: `elements`; [map, {coordinates}]: see is_memory
    kPair,      // %p1|%p2 as destinations: `elements`, two
    kSink,      // _
    kLabel,     // a branch target: `name`
  };
  Kind kind = Kind::kSink;
  SymbolKind symbol = SymbolKind::kNone;  // of kAddress, kSymbol and kLabel: what `name` is ...
  bool negated = false;                   // !%p1
  bool is_double = false;                 // of kFloat: integer holds bits of a double
  // Of kVector: it was written within [ ]. The first element is the kAddress, the others are
  // kVector or kAddress.
  bool is_memory = false;
  int reg = -1;    // number in Function::registers
  int index = -1;  // ... and its number there
  int64_t integer = 0;
  std::string name;
  std::vector<Operand> elements;
};

// `call` has its operands as: callee (kSymbol, or kRegister for an indirect call), kVector of
// returned parameters, kVector of arguments, and for an indirect call the kSymbol of its prototype
// or target list.
struct Instruction {
  std::string opcode;                  // "ld"
  std::vector<std::string> modifiers;  // "global", "nc", "v4", "f32"
  int guard = -1;                      // number of the predicate register; -1: none
  bool guard_negated = false;          // @!%p1
  std::vector<Operand> operands;       // as written; of `call`: above
  int line = 0;                        // in the PTX, from 1
  int loc_file = 0;                    // of the last .loc (number of .file), 0: none
  int loc_line = 0;

  bool Has(const char* modifier) const;
  std::string Name() const;  // "ld.global.nc.v4.f32"
};

// A label stands before instructions[position]; position may be their number.
struct Label {
  std::string name;  // unique, "DONE#2" for the second one
  int position = 0;
};

// `name: .branchtargets L1, L2;`, what brx.idx goes to.
struct BranchTargets {
  std::string name;
  std::vector<int> labels;  // numbers in Function::labels
};

// `name: .calltargets f, g;`
struct CallTargets {
  std::string name;
  std::vector<int> functions;  // numbers in Module::functions
};

// `name: .callprototype (.param .b32 _) _ (.param .b64 _);`
struct Prototype {
  std::string name;
  std::vector<Variable> parameters;
  std::vector<Variable> returned;
  bool no_return = false;
};

// Module::functions has one of each name: of a declaration and a definition the definition.
struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;  // no body here
  std::string alias_of;         // .alias: the function that this one stands for
  Linkage linkage = Linkage::kNone;
  std::vector<Variable> parameters;  // Space::kParam, in order; offsets by their alignment
  std::vector<Variable> returned;    // of .func
  std::vector<Register> registers;
  // Of its scopes, with names made unique: .local and .param (arguments of calls) for each thread,
  // .shared for each block, .global and .const once for all.
  std::vector<Variable> variables;
  std::vector<Instruction> instructions;
  std::vector<Label> labels;
  std::vector<BranchTargets> branch_targets;
  std::vector<CallTargets> call_targets;
  std::vector<Prototype> prototypes;
  // Of entries; 0: not given. Of one or two numbers the others are 1.
  int64_t max_threads[3] = {0, 0, 0};       // .maxntid
  int64_t required_threads[3] = {0, 0, 0};  // .reqntid
  int64_t cluster[3] = {0, 0, 0};           // .reqnctapercluster
  bool explicit_cluster = false;            // .explicitcluster
  bool blocks_are_clusters = false;         // .blocksareclusters
  bool no_return = false;                   // .noreturn
  int64_t max_cluster_rank = 0;             // .maxclusterrank
  int64_t max_registers = 0;                // .maxnreg
  int64_t min_blocks = 0;                   // .minnctapersm
  int64_t max_blocks = 0;                   // .maxnctapersm
  int line = 0;
};

struct Module {
  int version_major = 0;  // .version 8.6
  int version_minor = 0;
  std::string target;           // "sm_90a"
  bool has_debug_info = false;  // .target sm_90a, debug
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<std::string> files;  // [n]: name of .file n; empty when not given

  // By name, through aliases; nullptr if there is none.
  const Function* FindFunction(const std::string& name) const;
};

}  // namespace stax::ptx

#endif  // STAX_RUNTIME_EMULATOR_PTX_MODULE_H_

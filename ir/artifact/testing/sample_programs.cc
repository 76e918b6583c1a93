#include "ir/artifact/testing/sample_programs.h"

#include <set>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"
#include "ir/check.h"

namespace stax {
namespace {

// (x / row sums of x) * two, for x of [n, 8].
constexpr char kSymbolic[] = R"text(
schema_version: 1
identity { content_hash: "0123456789abcdef0123456789abcdef" compiler_version: "0.1.0" }
name: "symbolic"
target { kind: "cpu" arch: "x86-64-v3" }
symbols { name: "n" lower: 2 upper: 4096 hint: 64 }
buffers { name: "x" kind: INPUT dtype: "f32" dims: "n" dims: "8" size_bytes { string_value: "32*n" } }
buffers { name: "two" kind: CONSTANT dtype: "f32" dims: "2" size_bytes { number_value: 8 }
          data: "\000\000\000@\000\000\000@" }
buffers { name: "sums" kind: TEMPORARY dtype: "f32" dims: "n" size_bytes { string_value: "4*n" } }
buffers { name: "y" kind: OUTPUT dtype: "f32" dims: "n" dims: "8" size_bytes { string_value: "32*n" } }
buffers { name: "shape" kind: INPUT dtype: "i32" dims: "2" size_bytes { number_value: 8 }
          required_value: "\001\000\000\000\010\000\000\000" is_specialised: true }
kernels {
  name: "per_fused_sum_0"
  loop_nest: "nest sum_0 {\n  size n in [2, 4096] hint 64\n  buffer x: f32[8*n] in\n"
             "  buffer sums: f32[n] out\n  loop i0: n\n  reduce r0: 8\n  %0 = load x[8*i0 + r0] : f32\n"
             "  %1 = reduce.sum %0 : f32\n  store sums[i0], %1\n}\n"
  tile { name: "x" dims: 0 } tile { name: "r" dims: 1 }
  read_bytes { string_value: "32*n" } write_bytes { string_value: "4*n" } flops { string_value: "8*n" }
  config_space { parameters { name: "XBLOCK" values: 1 values: 2 values: 4 values: 8 }
                 parameters { name: "RBLOCK" values: 8 } constraints: "XBLOCK*RBLOCK - 8" constraints: "256 - XBLOCK*RBLOCK" }
  candidates { values { key: "XBLOCK" value: 4 } values { key: "RBLOCK" value: 8 } }
  candidates { values { key: "XBLOCK" value: 1 } values { key: "RBLOCK" value: 8 } }
  variant { config { values { key: "XBLOCK" value: 4 } values { key: "RBLOCK" value: 8 } }
            target { kind: "cpu" arch: "x86-64-v3" } entry: "per_fused_sum_0" object: "code"
            grid_x: "floordiv(n + 3, 4)" block_threads: 1 registers: -1 spill_bytes: -1 kernel_hash: "aa" }
  hash: "aa" origins: "s (sum)" explanation: "sum_0 alone"
}
kernels {
  name: "poi_fused_div_mul_1"
  loop_nest: "nest div_1 {\n  size n in [2, 4096] hint 64\n  buffer x: f32[8*n] in\n"
             "  buffer sums: f32[n] in\n  buffer two: f32[2] in\n  buffer y: f32[8*n] out\n"
             "  loop i0: 8*n\n  %0 = load x[i0] : f32\n  %1 = load sums[floordiv(i0, 8)] : f32\n"
             "  %2 = div %0, %1 : f32\n  %3 = load two[mod(i0, 2)] : f32\n  %4 = mul %2, %3 : f32\n"
             "  store y[i0], %4\n}\n"
  tile { name: "x" dims: 0 }
  read_bytes { string_value: "36*n + 8" } write_bytes { string_value: "32*n" } flops { string_value: "16*n" }
  config_space { parameters { name: "XBLOCK" values: 16 values: 32 values: 64 } }
  candidates { values { key: "XBLOCK" value: 16 } }
  variant { config { values { key: "XBLOCK" value: 16 } } target { kind: "cpu" arch: "x86-64-v3" }
            entry: "poi_fused_div_mul_1" object: "code" grid_x: "floordiv(n + 1, 2)" block_threads: 1
            registers: -1 spill_bytes: -1 kernel_hash: "bb" }
  hash: "bb" origins: "d (div)" origins: "y (mul)"
}
launches { kernel: 0 buffers: 0 buffers: 2 }
launches { kernel: 1 buffers: 0 buffers: 2 buffers: 1 buffers: 3 }
inputs: 0 inputs: 4
outputs { name: "y" buffer: 3 } outputs { name: "x again" buffer: 0 } outputs { name: "two" buffer: 1 }
)text";

// y = x transposed.
constexpr char kTuned[] = R"text(
schema_version: 1
identity { content_hash: "00" compiler_version: "0.1.0" }
name: "tuned"
target { kind: "cuda" arch: "sm_90a" }
buffers { name: "x" kind: INPUT dtype: "bf16" dims: "64" dims: "32" size_bytes { number_value: 4096 } }
buffers { name: "y" kind: OUTPUT dtype: "bf16" dims: "32" dims: "64" size_bytes { number_value: 4096 } }
kernels {
  name: "poi_fused_transpose_0"
  loop_nest: "nest t {\n  buffer x: bf16[2048] in\n  buffer y: bf16[2048] out\n  loop i0: 32\n"
             "  loop i1: 64\n  %0 = load x[i0 + 32*i1] : bf16\n  store y[64*i0 + i1], %0\n}\n"
  tile { name: "y" dims: 0 } tile { name: "x" dims: 1 }
  read_bytes { number_value: 4096 } write_bytes { number_value: 4096 } flops { number_value: 0 }
  config_space { parameters { name: "XBLOCK" values: 1 values: 2 values: 4 values: 8 values: 16 values: 32 values: 64 }
                 parameters { name: "YBLOCK" values: 1 values: 2 values: 4 values: 8 values: 16 values: 32 }
                 parameters { name: "WARPS" values: 1 values: 2 values: 4 }
                 constraints: "XBLOCK*YBLOCK - 32*WARPS" }
  candidates { values { key: "XBLOCK" value: 64 } values { key: "YBLOCK" value: 32 } values { key: "WARPS" value: 4 } }
  candidates { values { key: "XBLOCK" value: 32 } values { key: "YBLOCK" value: 32 } values { key: "WARPS" value: 2 } }
  variant { config { values { key: "XBLOCK" value: 64 } values { key: "YBLOCK" value: 32 } values { key: "WARPS" value: 4 } }
            target { kind: "cuda" arch: "sm_90a" } entry: "poi_fused_transpose_0" ptx: ".version 8.0" cubin: "ELF"
            grid_x: "1" block_threads: 128 registers: 40 kernel_hash: "cc" bytes_in_flight_per_thread: 64 }
  hash: "cc"
}
launches { kernel: 0 buffers: 0 buffers: 1 }
inputs: 0
outputs { name: "y" buffer: 1 }
tuning { kernel: 0 kernel_hash: "cc" device: "NVIDIA H200" driver_version: "580" compiler_version: "0.1.0"
  strategy: "candidates"
  measurements { config { values { key: "XBLOCK" value: 64 } } status: "ok" median_ns: 2100.5 samples_ns: 2100 samples_ns: 2101 }
  measurements { config { values { key: "XBLOCK" value: 32 } } status: "spill" message: "8 bytes of registers" }
  winner { values { key: "XBLOCK" value: 64 } } }
)text";

constexpr char kDevice[] = R"text(
schema_version: 1 name: "NVIDIA H200" kind: "cuda" driver_version: "580" date: "2026-11-30T00:00:00Z"
multiprocessors: 132 l2_bytes: 62914560 dram_read_bytes_per_s: 4.4e12 dram_write_bytes_per_s: 4.6e12
dram_copy_bytes_per_s: 4.2e12 latency_ns: 600 f32_flops_per_s: 6e13 launch_ns: 1500
)text";

constexpr char kReport[] = R"text(
schema_version: 1 program { content_hash: "00" compiler_version: "0.1.0" } program_name: "tuned"
date: "2026-11-30T00:00:00Z" method: "CUPTI activity records" sizes { key: "n" value: 64 }
kernels { name: "red_0" config { values { key: "XBLOCK" value: 64 } } read_bytes: 4096 write_bytes: 4096
  flops: 8192 intensity_flops_per_byte: 1 predicted_ns: 1500 measured_ns: 2100 interval_low_ns: 2000
  interval_high_ns: 2200 samples_ns: 2000 samples_ns: 2050 samples_ns: 2090 samples_ns: 2100 samples_ns: 2110
  samples_ns: 2150 samples_ns: 2200 achieved_bytes_per_s: 3.9e9 error: 0.4
  bound: "latency" verdict: "1.4 times the cost of a launch" hash: "cc" }
)text";

template <typename Message>
Message FromText(const char* text) {
  Message message;
  STAX_CHECK(google::protobuf::TextFormat::ParseFromString(text, &message), text);
  return message;
}

void Collect(const google::protobuf::Message& message, std::set<std::string>* texts) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool text = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    if (!text && field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (text) texts->insert(reflection->GetString(message, field));
      if (!text) Collect(reflection->GetMessage(message, field), texts);
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
      if (text) texts->insert(reflection->GetRepeatedString(message, field, i));
      if (!text) Collect(reflection->GetRepeatedMessage(message, field, i), texts);
    }
  }
}

}  // namespace

Program SymbolicSampleProgram() { return FromText<Program>(kSymbolic); }
Program TunedSampleProgram() { return FromText<Program>(kTuned); }
DeviceSpec SampleDevice() { return FromText<DeviceSpec>(kDevice); }

ProfileReport SampleReport() {
  ProfileReport report = FromText<ProfileReport>(kReport);
  *report.mutable_device() = SampleDevice();
  return report;
}

std::vector<std::string> TextsOf(const google::protobuf::Message& message) {
  std::set<std::string> texts;
  Collect(message, &texts);
  return {texts.begin(), texts.end()};
}

}  // namespace stax

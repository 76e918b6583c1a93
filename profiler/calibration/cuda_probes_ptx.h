// The calibration's kernels in PTX, written by hand: what is measured is the chip and nothing else.
// Each block has 256 threads, but for the chase.
#ifndef STAX_PROFILER_CALIBRATION_CUDA_PROBES_PTX_H_
#define STAX_PROFILER_CALIBRATION_CUDA_PROBES_PTX_H_

namespace stax {

inline constexpr char kCudaProbesPtx[] = R"(
.version 7.0
.target sm_80
.address_size 64

.visible .entry stax_probe_empty() { ret; }

// to[i] = from[i], 16 bytes a thread.
.visible .entry stax_probe_copy(.param .u64 to, .param .u64 from)
{
  .reg .b32 %i<3>, %v<4>;
  .reg .b64 %a<4>;
  mov.u32 %i0, %ctaid.x;
  mov.u32 %i1, %tid.x;
  mad.lo.u32 %i2, %i0, 256, %i1;
  mul.wide.u32 %a0, %i2, 16;
  ld.param.u64 %a1, [from];
  ld.param.u64 %a2, [to];
  add.u64 %a1, %a1, %a0;
  add.u64 %a2, %a2, %a0;
  ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a1];
  st.global.v4.u32 [%a2], {%v0, %v1, %v2, %v3};
  ret;
}

.visible .entry stax_probe_write(.param .u64 to)
{
  .reg .b32 %i<3>;
  .reg .b64 %a<2>;
  mov.u32 %i0, %ctaid.x;
  mov.u32 %i1, %tid.x;
  mad.lo.u32 %i2, %i0, 256, %i1;
  mul.wide.u32 %a0, %i2, 16;
  ld.param.u64 %a1, [to];
  add.u64 %a1, %a1, %a0;
  st.global.v4.u32 [%a1], {%i2, %i2, %i0, %i1};
  ret;
}

// Four 16-byte loads a thread, 4 KiB apart; their exclusive or is stored only if it is a value
// that does not occur.
.visible .entry stax_probe_read(.param .u64 from, .param .u64 to)
{
  .reg .pred %p;
  .reg .b32 %i<3>, %v<16>, %x<3>;
  .reg .b64 %a<4>;
  mov.u32 %i0, %ctaid.x;
  mov.u32 %i1, %tid.x;
  mul.wide.u32 %a0, %i0, 16384;
  mul.wide.u32 %a1, %i1, 16;
  ld.param.u64 %a2, [from];
  add.u64 %a2, %a2, %a0;
  add.u64 %a2, %a2, %a1;
  ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a2];
  ld.global.v4.u32 {%v4, %v5, %v6, %v7}, [%a2+4096];
  ld.global.v4.u32 {%v8, %v9, %v10, %v11}, [%a2+8192];
  ld.global.v4.u32 {%v12, %v13, %v14, %v15}, [%a2+12288];
  xor.b32 %x0, %v0, %v1;
  xor.b32 %x0, %x0, %v2;
  xor.b32 %x0, %x0, %v3;
  xor.b32 %x0, %x0, %v4;
  xor.b32 %x0, %x0, %v5;
  xor.b32 %x0, %x0, %v6;
  xor.b32 %x0, %x0, %v7;
  xor.b32 %x0, %x0, %v8;
  xor.b32 %x0, %x0, %v9;
  xor.b32 %x0, %x0, %v10;
  xor.b32 %x0, %x0, %v11;
  xor.b32 %x0, %x0, %v12;
  xor.b32 %x0, %x0, %v13;
  xor.b32 %x0, %x0, %v14;
  xor.b32 %x0, %x0, %v15;
  setp.eq.u32 %p, %x0, 0x9e3779b9;
  ld.param.u64 %a3, [to];
  @%p st.global.u32 [%a3], %x0;
  ret;
}

// count dependent loads: each word holds the byte offset of the next. One thread.
.visible .entry stax_probe_chase(.param .u64 cycle, .param .u64 to, .param .u64 count)
{
  .reg .pred %p;
  .reg .b64 %a<5>;
  ld.param.u64 %a0, [cycle];
  ld.param.u64 %a3, [count];
  mov.u64 %a1, 0;
LOOP:
  add.u64 %a2, %a0, %a1;
  ld.global.u64 %a1, [%a2];
  sub.u64 %a3, %a3, 1;
  setp.ne.u64 %p, %a3, 0;
  @%p bra LOOP;
  ld.param.u64 %a4, [to];
  st.global.u64 [%a4], %a1;
  ret;
}

// steps times four rounds of eight independent FMA chains: the loop itself costs little.
.visible .entry stax_probe_fma(.param .u64 to, .param .u64 steps)
{
  .reg .pred %p;
  .reg .b32 %i<2>;
  .reg .b64 %a<2>;
  .reg .f32 %f<10>;
  mov.u32 %i0, %tid.x;
  cvt.rn.f32.u32 %f0, %i0;
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f2, 0f40000000;
  mov.f32 %f3, 0f40400000;
  mov.f32 %f4, 0f40800000;
  mov.f32 %f5, 0f40A00000;
  mov.f32 %f6, 0f40C00000;
  mov.f32 %f7, 0f40E00000;
  mov.f32 %f8, 0f3F000000;
  ld.param.u64 %a0, [steps];
LOOP:
  fma.rn.f32 %f0, %f0, %f8, %f8;
  fma.rn.f32 %f1, %f1, %f8, %f8;
  fma.rn.f32 %f2, %f2, %f8, %f8;
  fma.rn.f32 %f3, %f3, %f8, %f8;
  fma.rn.f32 %f4, %f4, %f8, %f8;
  fma.rn.f32 %f5, %f5, %f8, %f8;
  fma.rn.f32 %f6, %f6, %f8, %f8;
  fma.rn.f32 %f7, %f7, %f8, %f8;
  fma.rn.f32 %f0, %f0, %f8, %f8;
  fma.rn.f32 %f1, %f1, %f8, %f8;
  fma.rn.f32 %f2, %f2, %f8, %f8;
  fma.rn.f32 %f3, %f3, %f8, %f8;
  fma.rn.f32 %f4, %f4, %f8, %f8;
  fma.rn.f32 %f5, %f5, %f8, %f8;
  fma.rn.f32 %f6, %f6, %f8, %f8;
  fma.rn.f32 %f7, %f7, %f8, %f8;
  fma.rn.f32 %f0, %f0, %f8, %f8;
  fma.rn.f32 %f1, %f1, %f8, %f8;
  fma.rn.f32 %f2, %f2, %f8, %f8;
  fma.rn.f32 %f3, %f3, %f8, %f8;
  fma.rn.f32 %f4, %f4, %f8, %f8;
  fma.rn.f32 %f5, %f5, %f8, %f8;
  fma.rn.f32 %f6, %f6, %f8, %f8;
  fma.rn.f32 %f7, %f7, %f8, %f8;
  fma.rn.f32 %f0, %f0, %f8, %f8;
  fma.rn.f32 %f1, %f1, %f8, %f8;
  fma.rn.f32 %f2, %f2, %f8, %f8;
  fma.rn.f32 %f3, %f3, %f8, %f8;
  fma.rn.f32 %f4, %f4, %f8, %f8;
  fma.rn.f32 %f5, %f5, %f8, %f8;
  fma.rn.f32 %f6, %f6, %f8, %f8;
  fma.rn.f32 %f7, %f7, %f8, %f8;
  sub.u64 %a0, %a0, 1;
  setp.ne.u64 %p, %a0, 0;
  @%p bra LOOP;
  add.f32 %f0, %f0, %f1;
  add.f32 %f2, %f2, %f3;
  add.f32 %f4, %f4, %f5;
  add.f32 %f6, %f6, %f7;
  add.f32 %f0, %f0, %f2;
  add.f32 %f4, %f4, %f6;
  add.f32 %f0, %f0, %f4;
  setp.eq.f32 %p, %f0, 0f00000000;
  ld.param.u64 %a1, [to];
  @%p st.global.f32 [%a1], %f0;
  ret;
}
)";

}  // namespace stax

#endif  // STAX_PROFILER_CALIBRATION_CUDA_PROBES_PTX_H_

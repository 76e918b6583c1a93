/* libstax.so: what a host program needs to run a tuned program on its own stream.
 *
 *   StaxProgram* p;
 *   if (stax_program_load("softmax.stax", &p)) puts(stax_last_error());
 *   stax_program_run(p, 1, &x, 1, &y, stream);
 *
 * Every function returns 0, or a StaxError and sets the calling thread's stax_last_error().
 * Tensors are DLPack's DLTensor, dense row-major, on the device that the program was compiled for:
 * host pointers for cpu, for cuda device pointers of the primary context of the first tensor's
 * device. Calls are asynchronous on `cu_stream` (a CUstream; NULL is the default stream); on the
 * CPU, which ignores it, they return when the outputs are there. After the first run with some
 * sizes, nothing is allocated on the device. One program may be used by one thread at a time.
 */
#ifndef STAX_RUNTIME_C_API_H_
#define STAX_RUNTIME_C_API_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STAX_EXPORT __attribute__((visibility("default")))

/* NOLINTBEGIN(modernize-use-using): C. */
typedef struct StaxProgram StaxProgram;

/* Layout of DLTensor, https://dmlc.github.io/dlpack (v0.8). */
typedef struct {
  void* data;
  int32_t device_type; /* 1 CPU, 2 CUDA */
  int32_t device_id;
  int32_t ndim;
  uint8_t code; /* 0 int, 1 unsigned, 2 float, 4 bfloat, 6 bool */
  uint8_t bits;
  uint16_t lanes;   /* 1 */
  int64_t* shape;   /* ndim values */
  int64_t* strides; /* in elements; NULL for row-major contiguous */
  uint64_t byte_offset;
} StaxTensor;

typedef enum {
  STAX_OK = 0,
  STAX_FAILED = 1,      /* a kernel failed, no memory */
  STAX_BAD_REQUEST = 2, /* file, shapes, types, strides, device of a tensor, null pointers */
  STAX_MISSING = 3      /* device or driver */
} StaxError;
/* NOLINTEND(modernize-use-using) */

/* Reads a program written by stax-compile or stax-tune; *out is NULL after an error. The device is
 * opened on the first run. */
STAX_EXPORT int stax_program_load(const char* path, StaxProgram** out);

/* Checks every tensor before it writes any output. Without inputs (outputs), num_inputs is 0 and
 * inputs may be NULL. */
STAX_EXPORT int stax_program_run(StaxProgram* program, int num_inputs, const StaxTensor* inputs,
                                 int num_outputs, StaxTensor* outputs, void* cu_stream);

/* What was wrong with the calling thread's last load or run; "" when nothing was. Valid until its
 * next one. */
STAX_EXPORT const char* stax_last_error(void);

/* NULL does nothing. On a GPU, all runs must have ended. */
STAX_EXPORT void stax_program_free(StaxProgram* program);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* STAX_RUNTIME_C_API_H_ */

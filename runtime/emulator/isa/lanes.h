// Makes warp functions of scalar ones: the one place with the loop over the lanes.
//
//   uint32_t Popc(uint32_t a);
//   constexpr WarpOperation kPopc = MakeOperation<&Popc>();
//
// Modifiers that are known when a kernel is translated are template parameters of the scalar
// function, packed into one number; PickOperation chooses among the instances:
//
//   struct Shift { template <unsigned kVariant> static uint32_t Apply(uint32_t a, uint32_t b); };
//   PickOperation<Shift, 4>(variant)
#ifndef STAX_RUNTIME_EMULATOR_ISA_LANES_H_
#define STAX_RUNTIME_EMULATOR_ISA_LANES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "runtime/emulator/isa/warp_operation.h"

namespace stax::isa {

// Calls `body(lane)` for the lanes of the mask, the lowest first.
template <typename Body>
inline void ForEachLane(uint32_t lanes, const Body& body) {
  if (lanes == kAllLanes) {  // by far the most frequent; the compiler may use vectors
    for (int lane = 0; lane < kWarpLanes; ++lane) body(lane);
    return;
  }
  for (; lanes != 0; lanes &= lanes - 1) body(__builtin_ctz(lanes));
}

template <typename T>
inline T Lane(const void* array, int lane) {
  return static_cast<const T*>(array)[lane];
}

template <auto kScalar>
struct WarpCall;

template <typename R, typename A, R (*kScalar)(A)>
struct WarpCall<kScalar> {
  static void Run(uint32_t lanes, const void* a, const void* /*b*/, const void* /*c*/, void* d) {
    ForEachLane(lanes, [&](int i) { static_cast<R*>(d)[i] = kScalar(Lane<A>(a, i)); });
  }
  static constexpr WarpOperation kOperation = {
      &Run, nullptr, 1, {sizeof(A), 0, 0, 0}, sizeof(R), std::is_signed_v<R>};
};

template <typename R, typename A, typename B, R (*kScalar)(A, B)>
struct WarpCall<kScalar> {
  static void Run(uint32_t lanes, const void* a, const void* b, const void* /*c*/, void* d) {
    ForEachLane(lanes,
                [&](int i) { static_cast<R*>(d)[i] = kScalar(Lane<A>(a, i), Lane<B>(b, i)); });
  }
  static constexpr WarpOperation kOperation = {
      &Run, nullptr, 2, {sizeof(A), sizeof(B), 0, 0}, sizeof(R), std::is_signed_v<R>};
};

template <typename R, typename A, typename B, typename C, R (*kScalar)(A, B, C)>
struct WarpCall<kScalar> {
  static void Run(uint32_t lanes, const void* a, const void* b, const void* c, void* d) {
    ForEachLane(lanes, [&](int i) {
      static_cast<R*>(d)[i] = kScalar(Lane<A>(a, i), Lane<B>(b, i), Lane<C>(c, i));
    });
  }
  static constexpr WarpOperation kOperation = {
      &Run, nullptr, 3, {sizeof(A), sizeof(B), sizeof(C), 0}, sizeof(R), std::is_signed_v<R>};
};

template <typename R, typename A, typename B, typename C, typename E, R (*kScalar)(A, B, C, E)>
struct WarpCall<kScalar> {
  static void Run(uint32_t lanes, const void* a, const void* b, const void* c, const void* e,
                  void* d) {
    ForEachLane(lanes, [&](int i) {
      static_cast<R*>(d)[i] = kScalar(Lane<A>(a, i), Lane<B>(b, i), Lane<C>(c, i), Lane<E>(e, i));
    });
  }
  static constexpr WarpOperation kOperation = {
      nullptr,   &Run,
      4,         {sizeof(A), sizeof(B), sizeof(C), sizeof(E)},
      sizeof(R), std::is_signed_v<R>};
};

template <auto kScalar>
constexpr WarpOperation MakeOperation() {
  return WarpCall<kScalar>::kOperation;
}

template <typename Family, size_t... kVariants>
WarpOperation PickOperationFrom(size_t variant, std::index_sequence<kVariants...> /*all*/) {
  static constexpr std::array<WarpOperation, sizeof...(kVariants)> kOperations = {
      MakeOperation<&Family::template Apply<kVariants>>()...};
  return kOperations[variant];
}

// Family::Apply<variant> for 0 <= variant < kCount.
template <typename Family, size_t kCount>
WarpOperation PickOperation(size_t variant) {
  return PickOperationFrom<Family>(variant, std::make_index_sequence<kCount>());
}

// `bool (*)(A, A)` or `bool (*)(A)` as a CompareFunction.
template <auto kScalar>
struct CompareCall;

template <typename A, bool (*kScalar)(A, A)>
struct CompareCall<kScalar> {
  static uint32_t Run(uint32_t lanes, const void* a, const void* b) {
    uint32_t holds = 0;
    ForEachLane(lanes, [&](int i) {
      holds |= static_cast<uint32_t>(kScalar(Lane<A>(a, i), Lane<A>(b, i))) << i;
    });
    return holds;
  }
};

template <typename A, bool (*kScalar)(A)>
struct CompareCall<kScalar> {
  static uint32_t Run(uint32_t lanes, const void* a, const void* /*b*/) {
    uint32_t holds = 0;
    ForEachLane(lanes, [&](int i) { holds |= static_cast<uint32_t>(kScalar(Lane<A>(a, i))) << i; });
    return holds;
  }
};

}  // namespace stax::isa

#endif  // STAX_RUNTIME_EMULATOR_ISA_LANES_H_

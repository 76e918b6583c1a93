// Arguments of rows.textproto, and what it must make of them, computed here in double.
#ifndef STAX_TESTS_C_API_ROWS_PROBLEM_H_
#define STAX_TESTS_C_API_ROWS_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "runtime/c_api.h"
#include "tests/c_api/host.h"

namespace stax {

struct RowsProblem {
  // Normally distributed inputs; outputs hold a number that no run gives.
  RowsProblem(int64_t batch_in, int64_t seq_in, uint32_t seed);

  std::vector<StaxTensor> Inputs() { return {x.View(), mask.View()}; }
  std::vector<StaxTensor> Outputs() {
    return {p.View(), columns.View(), where.View(), copy.View()};
  }

  void ClearOutputs();
  void ExpectUntouched() const;
  void ExpectRight() const;

  int64_t batch;
  int64_t seq;
  Array<float> x, mask;
  Array<float> p, columns;
  Array<int64_t> where;
  Array<float> copy;
};

}  // namespace stax

#endif  // STAX_TESTS_C_API_ROWS_PROBLEM_H_

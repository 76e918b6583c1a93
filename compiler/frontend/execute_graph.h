// For the fuzz targets of the frontends: a graph that a frontend gives can be executed.
#ifndef STAX_COMPILER_FRONTEND_EXECUTE_GRAPH_H_
#define STAX_COMPILER_FRONTEND_EXECUTE_GRAPH_H_

#include "ir/graph.h"

namespace stax {

// Interprets the graph on zeros at the hints of its sizes, if it is small. An error ends the
// process.
void ExecuteIfSmall(const Graph& graph);

}  // namespace stax

#endif  // STAX_COMPILER_FRONTEND_EXECUTE_GRAPH_H_

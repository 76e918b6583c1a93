// Text in HTML and SVG: names of models and kernels are whatever their authors wrote.
#ifndef STAX_PROFILER_REPORT_HTML_ESCAPE_H_
#define STAX_PROFILER_REPORT_HTML_ESCAPE_H_

#include <string>

namespace stax {

// For content of elements and for attributes in double quotes.
std::string EscapeHtml(const std::string& text);

}  // namespace stax

#endif  // STAX_PROFILER_REPORT_HTML_ESCAPE_H_

// Text in XML: names of models and kernels are whatever their authors wrote.
#ifndef STAX_PROFILER_REPORT_XML_ESCAPE_H_
#define STAX_PROFILER_REPORT_XML_ESCAPE_H_

#include <string>

namespace stax {

// UTF-8 text for an element's content or a quoted attribute: EscapeXml("a<b") is "a&lt;b". What
// XML 1.0 cannot hold (2.2: control characters, U+FFFE, U+FFFF) becomes U+FFFD.
std::string EscapeXml(const std::string& text);

}  // namespace stax

#endif  // STAX_PROFILER_REPORT_XML_ESCAPE_H_

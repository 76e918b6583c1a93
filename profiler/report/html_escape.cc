#include "profiler/report/html_escape.h"

#include "absl/strings/str_replace.h"

namespace stax {

std::string EscapeHtml(const std::string& text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace stax

// How long a PTX file takes: `parser_benchmark FILE...`, one line a file.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/string_view.h"
#include "runtime/emulator/ptx/parser.h"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::stringstream buffer;
    buffer << file.rdbuf();
    const std::string text = buffer.str();
    double best_ms = 1e9;
    size_t instructions = 0;
    for (int run = 0; run < 50; ++run) {
      const auto start = std::chrono::steady_clock::now();
      const auto module = stax::ptx::ParsePtx(text, argv[i]);
      const std::chrono::duration<double, std::milli> spent =
          std::chrono::steady_clock::now() - start;
      if (!module.ok()) {
        std::printf("%s\n", std::string(module.status().message()).c_str());
        break;
      }
      best_ms = std::min(best_ms, spent.count());
      instructions = 0;
      for (const auto& function : module->functions) instructions += function.instructions.size();
    }
    std::printf("%s: %zu bytes, %zu instructions, %.3f ms\n", argv[i], text.size(), instructions,
                best_ms);
  }
}

#include "runtime/emulator/ptx/testdata_files.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace stax::ptx {

std::map<std::string, std::string> ReadTestdata() {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator("runtime/emulator/ptx/testdata")) {
    if (entry.path().extension() != ".ptx") continue;
    const std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    texts[entry.path().filename().string()] = text.str();
  }
  return texts;
}

}  // namespace stax::ptx

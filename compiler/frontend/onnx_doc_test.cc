// docs/onnx.md lists the operators that are supported, all of them.
#include <fstream>
#include <sstream>
#include <string>

#include "compiler/frontend/onnx.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::HasSubstr;

TEST(OnnxDocTest, ListsEveryOperator) {
  std::ifstream file("docs/onnx.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string doc = text.str();
  const size_t begin = doc.find("## Supported operators");
  const size_t end = doc.find("## What is not supported");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string section = doc.substr(begin, end - begin);
  for (const std::string& name : OnnxOperatorNames())
    EXPECT_THAT(section, HasSubstr("`" + name + "`"));
}

}  // namespace
}  // namespace stax

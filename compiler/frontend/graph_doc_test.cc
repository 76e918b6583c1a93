// docs/graph.md says what is true: it lists every operator, and its example is a graph.
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/frontend/textproto.h"
#include "compiler/frontend/textproto_ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stax {
namespace {

using ::testing::HasSubstr;

std::string Doc() {
  std::ifstream file("docs/graph.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(GraphDocTest, ListsEveryOperator) {
  const std::string doc = Doc();
  for (const auto& [name, unused] : TextOps()) {
    EXPECT_THAT(doc, HasSubstr(absl::StrCat("`", name, "`")));
  }
}

TEST(GraphDocTest, ExampleIsAGraph) {
  const std::string doc = Doc();
  const std::string open = "```textproto\n";
  const size_t start = doc.find(open);
  ASSERT_NE(start, std::string::npos);
  const size_t end = doc.find("```", start + open.size());
  const auto graph = GraphFromTextProto(doc.substr(start + open.size(), end - start - open.size()));
  EXPECT_TRUE(graph.ok()) << graph.status();
}

}  // namespace
}  // namespace stax

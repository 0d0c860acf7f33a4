#include "runtime/expression.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace warpladder::runtime {
namespace {

TEST(Expression, IsTakenAsItIs) {
  for (const char* good :
       {"x", "x > 0 ? x : 0.1f*x", "fmaxf(x, 0)", "((x))", "-x*-x", "x<0||!(x>1)",
        "pow(x, 2.0f) - 1e-3f", "tanhf(0.79788456f*(x + 0.044715f*x*x*x))"}) {
    const Status status = check_expression("epilogue", good);
    EXPECT_TRUE(status.ok()) << good << ": " << status.sentence;
  }
}

TEST(Expression, RefusesWhatCouldEndItOrBeginSomethingElse) {
  const struct {
    const char* expression;
    const char* words;
  } cases[] = {{"", "is empty"},
               {"   ", "is empty"},
               {"x; exit()", "has ';' at character 2"},
               {"x); (x", "has an unbalanced bracket"},
               {"x)", "has an unbalanced bracket at character 2"},
               {"(x]", "has an unbalanced bracket"},
               {"((x)", "lacks a ')'"},
               {"a[0", "lacks a ']'"},
               {"({ x; })", "has '{'"},
               {"[]{return x}()", "has '{'"},
               {"x // y", "has '//'"},
               {"x /* y", "has '/*'"},
               {"x */ y", "has '*/'"},
               {"\"x\"", "has '\"'"},
               {"'x'", "has '''"},
               {"x \\ y", "has '\\'"},
               {"#define", "has '#'"},
               {"<% x %>", "has '<%'"},
               {"%:define", "has '%:'"},
               {"x\n+ 1", "not plain ASCII at character 2"},
               {"x + α", "not plain ASCII"},
               {"x, 3", "has a comma outside of parentheses at character 2"}};
  for (const auto& [expression, words] : cases) {
    const Status status = check_expression("epilogue", expression);
    const std::string_view sentence = status.sentence;
    EXPECT_EQ(status.code, Code::invalid_argument) << expression;
    EXPECT_NE(sentence.find(words), std::string_view::npos) << expression << ": " << sentence;
    EXPECT_TRUE(sentence.starts_with("epilogue: ")) << sentence;
  }
  EXPECT_FALSE(check_expression("epilogue", nullptr).ok());
  EXPECT_FALSE(check_expression("epilogue", std::string(4001, 'x').c_str()).ok());
  EXPECT_FALSE(check_expression("epilogue", std::string(300, '(').c_str()).ok());
}

TEST(Expression, NamesItsOwnLine) {
  const std::string text = function_object("const float x", "x + 1");
  EXPECT_NE(text.find("#line 1 \"expression\"\nx + 1\n"), std::string::npos);
}

}  // namespace
}  // namespace warpladder::runtime

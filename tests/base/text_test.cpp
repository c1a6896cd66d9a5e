#include "sim/base/text.h"

#include <cstdio>

#include <gtest/gtest.h>

namespace slmsim::text_test {
namespace {

// The words that a shell reads from it.
std::string taken(const std::string& text) {
  std::FILE* shell = popen(("printf %s " + shell_word(text)).c_str(), "r");
  std::string out;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) out += static_cast<char>(c);
  pclose(shell);
  return out;
}

TEST(Text, IsOneWordOfAShell) {
  EXPECT_EQ(shell_word("training.batch=8"), "training.batch=8");  // as people write it
  for (const char* text :
       {"", "a b", "groups=[[gat, amst]]", "{a: \"b\"}", "it's", "$HOME;`ls`", "*", "~", "a\\b", "#x", "!1"})
    EXPECT_EQ(taken(text), text) << shell_word(text);
}

}  // namespace
}  // namespace slmsim::text_test

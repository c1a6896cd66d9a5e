#include "sim/serve/folder.h"

#include <gmock/gmock.h>

#include "tests/errors_of.h"
#include "tests/serve/world.h"

namespace slmsim::web::folder_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string problem(const std::function<void()>& call) {
  const auto errors = errors_of(call);
  return errors.empty() ? "" : errors.front();
}

using PageFiles = PageFolder;

TEST_F(PageFiles, ListsScenariosBelowItAndNothingElse) {
  EXPECT_THAT(Folder(root_).list(), ElementsAre("below/deep.yaml", "two.yaml"));
}

TEST_F(PageFiles, ReadsWhatIsBelow) {
  EXPECT_EQ(Folder(root_).read("two.yaml"), kTwoSites);
  EXPECT_EQ(Folder(root_).read("below/deep.yaml"), kTwoSites);
}

TEST_F(PageFiles, LeadsNowhereElse) {
  const Folder folder(root_);
  for (const std::string& path :
       {std::string("../outside.yaml"), std::string("below/../../outside.yaml"), (outer_ / "outside.yaml").string(),
        std::string("link.yaml"), std::string("up/outside.yaml"), std::string(".hidden.yaml"),
        std::string("./two.yaml"), std::string("notes.txt"), std::string(""), std::string("two.yaml\n"),
        std::string(500, 'a') + ".yaml", std::string("..\\outside.yaml"), std::string("/etc/passwd")}) {
    EXPECT_NE(problem([&] { folder.read(path); }), "") << path;
    EXPECT_NE(problem([&] { folder.write(path, "x", true); }), "") << path;
  }
  EXPECT_EQ(Folder(outer_).read("outside.yaml"), kTwoSites);  // nobody wrote there
}

TEST_F(PageFiles, WritesWholeFilesAndReplacesOnlyWhereAsked) {
  const Folder folder(root_);
  folder.write("new.yaml", "a: 1\n", false);
  EXPECT_EQ(folder.read("new.yaml"), "a: 1\n");
  EXPECT_THAT(problem([&] { folder.write("new.yaml", "a: 2\n", false); }), HasSubstr("already exists"));
  EXPECT_EQ(folder.read("new.yaml"), "a: 1\n");
  folder.write("new.yaml", "a: 2\n", true);
  EXPECT_EQ(folder.read("new.yaml"), "a: 2\n");
  EXPECT_THAT(problem([&] { folder.write("none/new.yaml", "a: 2\n", false); }), HasSubstr("no such folder"));
  EXPECT_THAT(folder.list(), ElementsAre("below/deep.yaml", "new.yaml", "two.yaml"));
}

TEST_F(PageFiles, AreOfAFolder) {
  EXPECT_THAT(problem([&] { Folder(root_ / "two.yaml"); }), HasSubstr("is not a folder"));
}

}  // namespace
}  // namespace slmsim::web::folder_test

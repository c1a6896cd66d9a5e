#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sim/base/error.h"
#include "sim/base/file.h"

namespace slmsim::pending_file_test {
namespace {

namespace fs = std::filesystem;

class PendingFileTest : public testing::Test {
 protected:
  PendingFileTest() {
    std::string pattern = testing::TempDir() + "slmsim-pending-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~PendingFileTest() override { fs::remove_all(folder_); }
  static std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  fs::path folder_;
};

TEST_F(PendingFileTest, IsThereOnceItIsCommitted) {
  const fs::path place = folder_ / "result";
  std::ofstream(place) << "old";
  {
    PendingFile file(place, ".tmp");
    file.write("one ");
    file.write("two");
    EXPECT_EQ(text_of(place), "old");
    file.complete();
    EXPECT_EQ(text_of(place), "old");
    file.commit();
    EXPECT_EQ(text_of(place), "one two");
  }
  EXPECT_EQ(files(), 1);
}

TEST_F(PendingFileTest, LeavesNothingWithoutACommit) {
  {
    PendingFile file(folder_ / "result", ".tmp");
    file.write("text");
    file.complete();
    EXPECT_EQ(files(), 1);
  }
  EXPECT_EQ(files(), 0);
}

TEST_F(PendingFileTest, DoesNotFollowALinkUnderItsTemporaryName) {
  const fs::path other = folder_ / "other";
  std::ofstream(other) << "kept";
  fs::create_symlink(other, folder_ / "result.tmp");
  PendingFile file(folder_ / "result", ".tmp");
  file.write("text");
  file.complete();
  file.commit();
  EXPECT_EQ(text_of(other), "kept");
  EXPECT_EQ(text_of(folder_ / "result"), "text");
}

TEST_F(PendingFileTest, SaysWhereItCannotBeWritten) {
  PendingFile file(folder_ / "missing" / "result", ".tmp");
  file.write("text");
  EXPECT_THROW(file.complete(), InputError);
}

}  // namespace
}  // namespace slmsim::pending_file_test

#include <gmock/gmock.h>

#include "sim/base/csv.h"

namespace slmsim::csv_text_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> cells(std::string_view text) {
  std::vector<std::string> out;
  for (const auto& record : csv_records(text)) {
    std::string line = std::to_string(record.line) + ":";
    for (const auto& cell : record.cells) line += "[" + cell + "]";
    out.push_back(line);
  }
  return out;
}

TEST(CsvText, HasCellsBetweenCommas) {
  EXPECT_THAT(cells("a,b\n1,\n"), ElementsAre("1:[a][b]", "2:[1][]"));
  EXPECT_THAT(cells(""), IsEmpty());
  EXPECT_THAT(cells("a"), ElementsAre("1:[a]"));
}

TEST(CsvText, DropsEmptyLinesCarriageReturnsAndTheByteOrderMark) {
  EXPECT_THAT(cells("\xef\xbb\xbf"
                    "a,b\r\n\r\n\n1,2\r\n"),
              ElementsAre("1:[a][b]", "4:[1][2]"));
}

TEST(CsvText, QuotesCommasQuotesAndLineEnds) {
  EXPECT_THAT(cells("\"a,b\",\"say \"\"so\"\"\",\"\"\n\"x\ny\",2\nz,3\n"),
              ElementsAre("1:[a,b][say \"so\"][]", "2:[x\ny][2]", "4:[z][3]"));
}

TEST(CsvText, HoldsTheRestInAQuoteThatNothingCloses) { EXPECT_THAT(cells("a,\"b\nc,d"), ElementsAre("1:[a][b\nc,d]")); }

TEST(CsvColumn, IsWhereACellBegins) {
  const std::string_view text = "a,b\n\"x,y\",2,3\n";
  EXPECT_EQ(csv_column(text, 2, 0), 1);
  EXPECT_EQ(csv_column(text, 2, 1), 7);
  EXPECT_EQ(csv_column(text, 2, 2), 9);
  EXPECT_EQ(csv_column(text, 2, 5), 1);
  EXPECT_EQ(csv_column(text, 9, 0), 1);
}

}  // namespace
}  // namespace slmsim::csv_text_test

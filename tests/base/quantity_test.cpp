#include "sim/base/quantity.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slmsim::quantity_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Cases = std::vector<std::pair<std::string, double>>;

void expect_values(const Cases& cases, Dimension dimension) {
  for (const auto& [text, value] : cases) {
    const auto parsed = parse_quantity(text, dimension);
    EXPECT_THAT(parsed.problem, IsEmpty()) << text;
    EXPECT_DOUBLE_EQ(parsed.value, value) << text;
  }
}

std::string problem_of(const std::string& text, Dimension dimension) { return parse_quantity(text, dimension).problem; }

TEST(Quantity, ReadsEveryUnitOfTime) {
  expect_values({{"2 ns", 2e-9},
                 {"2 us", 2e-6},
                 {"2 \u00b5s", 2e-6},  // both micro signs of Unicode
                 {"2 \u03bcs", 2e-6},
                 {"2 ms", 2e-3},
                 {"2 s", 2},
                 {"2 min", 120},
                 {"2 h", 7200},
                 {"2 d", 172800}},  // 2 x 24 x 3600
                Dimension::kTime);
}

TEST(Quantity, ReadsDecimalAndBinaryUnitsOfData) {
  expect_values({{"3 B", 3},
                 {"3 kB", 3e3},
                 {"3 MB", 3e6},
                 {"3 GB", 3e9},
                 {"3 TB", 3e12},
                 {"3 KiB", 3072},            // 3 x 1024
                 {"3 MiB", 3145728},         // 3 x 1024^2
                 {"3 GiB", 3221225472},      // 3 x 1024^3
                 {"1 TiB", 1099511627776}},  // 1024^4
                Dimension::kData);
}

TEST(Quantity, ReadsEveryUnitOfDataPerSecond) {
  for (const char* unit : {"B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"}) {
    const double size = parse_quantity(std::string("5 ") + unit, Dimension::kData).value;
    expect_values({{std::string("5 ") + unit + "/s", size}}, Dimension::kDataRate);
  }
}

TEST(Quantity, CountsEightBitsToAByte) {
  expect_values({{"8 bps", 1},
                 {"8 kbps", 1e3},
                 {"8 Mbps", 1e6},
                 {"8 Gbps", 1e9},
                 {"8 Tbps", 1e12},
                 {"8 kbit/s", 1e3},
                 {"8 Mbit/s", 1e6},
                 {"8 Gbit/s", 1e9},
                 {"8 kb/s", 1e3},
                 {"8 Mb/s", 1e6},
                 {"8 Gb/s", 1e9},
                 {"8 Tb/s", 1e12},
                 {"8 Tbit/s", 1e12},
                 {"100 Gbps", 12.5e9}},  // 100 / 8
                Dimension::kDataRate);
}

TEST(Quantity, ReadsUnitsOfWorkPerSecond) {
  expect_values({{"300 W", 300}, {"1.2 kW", 1200}}, Dimension::kPower);
  expect_values({{"4 GFLOP/s", 4e9}, {"4 TFLOP/s", 4e12}, {"4 PFLOP/s", 4e15}}, Dimension::kWorkRate);
}

TEST(Quantity, NeedsNoBlankAndMindsNone) {
  expect_values({{"57.4ms", 0.0574}, {"  5   s  ", 5}, {"1e3 ms", 1}, {"1e-1s", 0.1}, {"-2 s", -2}}, Dimension::kTime);
}

TEST(Quantity, RefusesANumberWithoutAUnit) {
  EXPECT_EQ(problem_of("103", Dimension::kTime),
            "\"103\" has no unit; expected a time such as \"103 ms\" (ns, us, ms, s, min, h, d)");
}

TEST(Quantity, RefusesAUnitOfAnotherDimension) {
  EXPECT_EQ(problem_of("12 GB", Dimension::kDataRate), "\"12 GB\" has the unit \"GB\"; did you mean \"12 GB/s\"?");
  EXPECT_EQ(problem_of("65 GB/s", Dimension::kWorkRate),
            "\"65 GB/s\" has the unit \"GB/s\"; expected a rate such as \"65 TFLOP/s\"");
  EXPECT_EQ(problem_of("24 Gbps", Dimension::kData),
            "\"24 Gbps\" has the unit \"Gbps\"; expected a size such as \"24 GiB\" (B, kB, MB, GB, TB, KiB, "
            "MiB, GiB, TiB)");
}

TEST(Quantity, MindsTheCaseOfUnits) {
  // Gb (bits) and GB (bytes) differ by eight: no guess is made.
  EXPECT_THAT(problem_of("5 Gb", Dimension::kData), HasSubstr("has the unit \"Gb\""));
  EXPECT_THAT(problem_of("5 gbps", Dimension::kDataRate), HasSubstr("has the unit \"gbps\""));
  EXPECT_THAT(problem_of("5 MS", Dimension::kTime), HasSubstr("has the unit \"MS\""));
}

TEST(Quantity, RefusesTextThatDoesNotStartWithANumber) {
  for (const char* text : {"", " ", "fast", "ms 5", "inf s", "nan s", "-inf s", "."})
    EXPECT_THAT(problem_of(text, Dimension::kTime), HasSubstr("does not start with a number")) << text;
}

TEST(Quantity, RefusesANumberThatIsTooLarge) {
  EXPECT_THAT(problem_of("1e999 s", Dimension::kTime), HasSubstr("is out of range for a number"));
}

TEST(Quantity, RefusesWhatFollowsTheNumberAndIsNoUnit) {
  for (const char* text : {"5 s s", "5 5 s", "0x10 s", "5 s;", "5 seconds", "1/2 s", "5 \ts"})
    EXPECT_THAT(problem_of(text, Dimension::kTime), HasSubstr("has the unit")) << text;
}

TEST(Quantity, RefusesACommaAndGuessesNoMeaning) {
  for (const char* text : {"1,5 s", "1,500 ms"})
    EXPECT_THAT(problem_of(text, Dimension::kTime),
                HasSubstr("has a comma; write a point for decimals, and thousands without a mark"))
        << text;
}

TEST(Quantity, RefusesAValueTooLargeForANumber) {
  // 1e300 x 1e12 is more than a double holds; an infinite size is no size.
  EXPECT_THAT(problem_of("1e300 TB", Dimension::kData), Not(IsEmpty()));
}

TEST(Number, ReadsDecimalsAndExponents) {
  EXPECT_EQ(parse_number("42"), 42.0);
  EXPECT_EQ(parse_number(" -0.5 "), -0.5);
  EXPECT_EQ(parse_number("+3"), 3.0);
  EXPECT_EQ(parse_number("3.0e-6"), 3e-6);
}

TEST(Number, RefusesWhatIsNotOneFiniteNumber) {
  for (const char* text : {"", " ", "+", "+-3", "-+3", "1 2", "1x", "1,5", "0x10", "inf", "nan", "1e999"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(Quantity, PrintsThreeDigitsAndAFittingUnit) {
  EXPECT_EQ(to_text(Seconds{0.103}), "103 ms");
  EXPECT_EQ(to_text(Seconds{0}), "0 s");
  EXPECT_EQ(to_text(Seconds{2e-5}), "20 us");
  EXPECT_EQ(to_text(Seconds{90}), "1.5 min");
  EXPECT_EQ(to_text(Seconds{7200}), "2 h");
  EXPECT_EQ(to_text(Bytes{0}), "0 B");
  EXPECT_EQ(to_text(Bytes{1536}), "1.5 KiB");  // 1.5 x 1024
  EXPECT_EQ(to_text(Bytes{22.4 * kGibi}), "22.4 GiB");
  EXPECT_EQ(to_text(BytesPerSecond{12.5e9}), "12.5 GB/s");  // 100 Gbps
  EXPECT_EQ(to_text(FlopsPerSecond{65e12}), "65 TFLOP/s");
}

TEST(Quantity, NeverPrintsAPowerOfTen) {
  // 1000 to 1023 of a binary unit, a rounding up to 1000, and what lies above the largest unit.
  for (const auto& text : {to_text(Bytes{1000 * kMebi}), to_text(Bytes{1023 * kKibi}), to_text(Bytes{16384 * kGibi}),
                           to_text(Seconds{0.9999}), to_text(Seconds{1000 * 3600}), to_text(BytesPerSecond{1e14})})
    EXPECT_THAT(text, Not(HasSubstr("e+")));
}

TEST(Quantity, AUnitThatIsNearlyOneIsSuggested) {
  const auto said = [](const char* text, Dimension dimension) { return parse_quantity(text, dimension).problem; };
  EXPECT_THAT(said("10gbps", Dimension::kDataRate), testing::EndsWith("did you mean \"10 Gbps\"?"));
  EXPECT_THAT(said("10GBit/s", Dimension::kDataRate), testing::EndsWith("did you mean \"10 Gbit/s\"?"));
  EXPECT_THAT(said("10GB", Dimension::kDataRate), testing::EndsWith("did you mean \"10 GB/s\"?"));
  EXPECT_THAT(said("10Gb", Dimension::kDataRate), testing::EndsWith("did you mean \"10 Gbps\"?"));
  EXPECT_THAT(said("165TFLOPS", Dimension::kWorkRate), testing::EndsWith("did you mean \"165 TFLOP/s\"?"));
  EXPECT_THAT(said("16M", Dimension::kData), testing::EndsWith("did you mean \"16 MB\" or \"MiB\"?"));
  EXPECT_THAT(said("24GB/s", Dimension::kData), testing::HasSubstr("expected a size"));
  EXPECT_THAT(said("3 furlongs", Dimension::kTime), testing::HasSubstr("expected a time"));
}

// Bits and bytes differ by eight: b counts bits, B bytes, and where the case of the letters says nothing, both are offered.
TEST(Quantity, ASuggestionKeepsBitsAndBytesApart) {
  const auto meant = [](const char* text, Dimension dimension) {
    const std::string problem = parse_quantity(text, dimension).problem;
    const std::size_t at = problem.find("did you mean ");
    return at == std::string::npos ? "" : problem.substr(at + 13);
  };
  const std::pair<const char*, const char*> rates[] = {{"1 GBps", "\"1 GB/s\"?"},
                                                       {"1 MBps", "\"1 MB/s\"?"},
                                                       {"1 gbit/s", "\"1 Gbit/s\"?"},
                                                       {"1 mbps", "\"1 Mbps\"?"},
                                                       {"1 Mb", "\"1 Mbps\"?"},
                                                       {"1 MB", "\"1 MB/s\"?"},
                                                       {"1 Gbit", "\"1 Gbit/s\"?"},
                                                       {"1 GIB/s", "\"1 GiB/s\"?"},
                                                       {"1 KB/s", "\"1 kB/s\"?"},
                                                       {"1 Kb/s", "\"1 kb/s\"?"},
                                                       {"1 gb/s", "\"1 GB/s\" or \"Gb/s\"?"}};
  for (const auto& [text, unit] : rates) EXPECT_EQ(meant(text, Dimension::kDataRate), unit) << text;
  EXPECT_THAT(meant("1 Gib/s", Dimension::kDataRate), Not(HasSubstr("GiB")));
  EXPECT_THAT(meant("1 GBPS", Dimension::kDataRate), AllOf(HasSubstr("Gbps"), HasSubstr("GB/s")));
  EXPECT_EQ(meant("1 Gb", Dimension::kData), "");
  EXPECT_EQ(meant("1 gb", Dimension::kData), "\"1 GB\"?");
  EXPECT_EQ(meant("24 gib", Dimension::kData), "\"24 GiB\"?");
}

}  // namespace
}  // namespace slmsim::quantity_test

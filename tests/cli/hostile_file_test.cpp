// Files that are too big, too deep or too strange to be committed: each is made in a folder of its own.
#include <sys/stat.h>

#include <fmt/format.h>

#include "tests/cli/refusal.h"

namespace slmsim::hostile_file_test {
namespace {

const std::string kBase = "extends: " SLMSIM_SOURCE_DIR "/scenarios/gat-amst.yaml\n";

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

class HostileFile : public testing::Test {
 protected:
  void expect_refused_as(const std::string& text, const std::vector<ExpectedError>& errors) {
    const std::string file = folder_.write("x.yaml", text);
    expect_refused({"run", file}, file, errors);
    expect_refused({"check", file}, file, errors);
    expect_no_file_written({"run", file});
  }
  TemporaryFolder folder_;
};

TEST_F(HostileFile, OfAHundredMegabytesIsNotRead) {
  expect_refused_as(std::string(100'000'000, '#'), {{"", "the file has 100000000 bytes; at most 1048576"}});
}

TEST_F(HostileFile, WithA200MegabyteHoleIsNotRead) {
  const std::string file = folder_.write("hole.yaml", "");
  std::filesystem::resize_file(file, 200'000'000);
  expect_refused({"run", file}, file, {{"", "the file has 200000000 bytes; at most 1048576"}});
}

TEST_F(HostileFile, ThatNeverEndsIsNotRead) {
  const std::string pipe = folder_.file("pipe.yaml");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& file : {std::string("/dev/zero"), std::string("/dev/stdin"), pipe})
    expect_refused({"run", file}, file, {{"", "not a regular file"}});
}

TEST_F(HostileFile, ThatIsAFolderIsNotRead) {
  const std::string file = folder_.file("");
  expect_refused({"check", file}, file, {{"", "this is a folder; name a file in it"}});
}

TEST_F(HostileFile, WithoutReadPermissionIsToldSo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const std::string file = folder_.write("x.yaml", kBase);
  chmod(file.c_str(), 0);
  expect_refused({"run", file}, file, {{"", "the file cannot be read; check its permissions"}});
}

TEST_F(HostileFile, ThatIsALinkToItselfIsToldSo) {
  const std::string file = folder_.file("ring.yaml");
  std::filesystem::create_symlink("ring.yaml", file);
  expect_refused({"run", file}, file, {{"", ""}});
}

TEST_F(HostileFile, OfBytesIsNoText) {
  const std::string text_expected = "not a text file; a YAML file in UTF-8 is expected";
  expect_refused_as(
      "\x7f"
      "ELF\x02\x01\x01" +
          std::string(9, '\0'),
      {{"", "this is a program, not a scenario"}});
  expect_refused_as(std::string("GGUF\x03\0\0\0", 8) + std::string(2 << 20, '\0'),
                    {{"", "this is a GGUF file of a model's weights, not a scenario"}});
  // The second line's third byte.
  expect_refused_as(std::string("a: b\nc:\0 d\n", 11), {{"2:3", text_expected}});
  expect_refused_as("name: caf\xe9\n", {{"1:10", text_expected}});     // Latin-1
  expect_refused_as("\xff\xfen\0a\0", {{"1:1", text_expected}});       // UTF-16 with its mark
  expect_refused_as("name: \xc3", {{"1:7", text_expected}});           // half a character
  expect_refused_as("name: \x1b[31mred\n", {{"1:7", text_expected}});  // a terminal's escape
  std::string noise;
  for (unsigned i = 0, state = 1; i < 4096; ++i) noise += static_cast<char>((state = state * 69069 + 1) >> 24);
  expect_refused_as(noise, {{"*", text_expected}});
}

TEST_F(HostileFile, OfDeepNestingIsRefused) {
  expect_refused_as(repeated("- ", 100'000), {{"1:97", "nested deeper than 48 levels"}});  // the 49th dash
  expect_refused_as(repeated("[", 100'000) + repeated("]", 100'000), {{"1:49", "nested deeper than 48 levels"}});
  expect_refused_as(repeated("{a: ", 100'000), {});
  expect_refused_as(repeated("[", 100'000), {});
  expect_refused_as(repeated("? ", 100'000), {{"1:3", "a map or list used as a key"}});
  std::string stairs;
  for (std::size_t i = 0; i < 1000; ++i) stairs += std::string(i, ' ') + "a:\n";
  expect_refused_as(stairs, {{"49:49", "nested deeper than 48 levels"}});
}

TEST_F(HostileFile, OfMultiplyingAliasesIsRefused) {
  std::string lists = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n", maps = "a0: &a0 {a: x, b: x, c: x, d: x}\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = fmt::format("*a{}", i - 1);
    lists += fmt::format("a{0}: &a{0} [{1}{2}]\n", i, repeated(before + ", ", 9), before);
    maps += fmt::format("a{0}: &a{0} {{a: {1}, b: {1}, c: {1}}}\n", i, before);
  }
  // 11 values, 111, 1 111, 11 111: the fifth line passes 100 000.
  expect_refused_as(lists, {{"5", "more than 100000 values, aliases included"}});
  expect_refused_as(maps, {{"*", "more than 100000 values, aliases included"}});
}

TEST_F(HostileFile, OfAnchorsInAnchorsTakesLittleMemory) {
  std::string text = kBase + "models: ";
  for (int i = 0; i < 40; ++i) text += fmt::format("&a{} [", i);
  expect_refused_as(text + repeated("1,", 99'000) + std::string(40, ']') + "\n", {{"2", ""}});
}

TEST_F(HostileFile, NamedOftenTakesLittleMemory) {
  folder_.write("big.yaml", "x: [" + repeated("1,", 99'000) + "]\n");
  const std::string file = folder_.write("x.yaml", kBase + "models: [" + repeated("./big.yaml,", 400) + "]\n");
  expect_refused({"run", file}, file, {});
}

TEST_F(HostileFile, WithThousandsOfErrorsTellsABoundedNumberQuickly) {
  std::string keys;
  for (int i = 0; i < 40'000; ++i) keys += fmt::format("k{}: 1\n", i);
  expect_refused_as(kBase + keys, {});
  expect_refused_as(kBase + repeated("~: 1\n", 3000), {});
  expect_refused_as(kBase + repeated("<<: 1\n", 3000), {});
  expect_refused_as(kBase + repeated("name: 1\n", 3000), {});
  expect_refused_as(kBase + "models: [" + repeated("gpt3, ", 3000) + "]\n", {});
  expect_refused_as(kBase + "techniques: [" + repeated("Horovod, ", 3000) + "]\n", {});
  expect_refused_as(kBase + "groups: [" + repeated("mars, ", 3000) + "]\n", {});
}

// 40 000 keys laid over another file's: every key is looked up once.
TEST_F(HostileFile, OfManyKeysOverAnotherFileTakesLittleTime) {
  folder_.write("base.yaml", kBase);
  std::string keys = "extends: base.yaml\n";
  for (int i = 0; i < 60'000; ++i) keys += fmt::format("k{}: 1\n", i);
  const std::string file = folder_.write("x.yaml", keys);
  expect_refused({"run", file}, file, {});
}

TEST_F(HostileFile, OfLongWordsIsToldInShortOnes) {
  const std::string word(400'000, 'k');
  expect_refused_as(kBase + word + ": 1\n", {});
  expect_refused_as(kBase + "? " + word + "\n: 1\n", {{"2:3", "unknown key \"kkk"}});
  expect_refused_as(kBase + "? " + word + "\n: 1\n? " + word + "\n: 1\n", {{"4:3", "duplicate key \"kkk"}});
  expect_refused_as(kBase + "name: " + word + "\n", {{"2:7", "name: \"kkk"}});
  expect_refused_as(kBase + "techniques: [" + word + "]\n", {{"2:14", "unknown technique \"kkk"}});
  expect_refused_as(kBase + "groups: [" + word + "]\n", {{"2:10", "there is no VM, GPU or site \"kkk"}});
  expect_refused_as(kBase + "training: {batch: " + word + "}\n", {{"2:19", "not a whole number"}});
  expect_refused_as(kBase + "models: [" + word + "]\n", {{"2:10", "model \"kkk"}});
  expect_refused_as(kBase + "platform: ./" + word + "\n", {{"2:11", "platform \"./kkk"}});
  expect_refused_as("extends: " + word + "\n", {{"1:10", "kkk"}});
}

TEST_F(HostileFile, WithACarriageReturnBeforeEachLineFeedOrAByteOrderMarkIsRead) {
  for (const std::string& text :
       {kBase.substr(0, kBase.size() - 1) + "\r\nmodels: [gpt2m]\r\nselection:\r\n  delta: 0.2\r\n",
        "\xef\xbb\xbf" + kBase + "models: [gpt2m]\nselection:\n  delta: 0.2\n"}) {
    const std::string file = folder_.write("x.yaml", text);
    const RunOutcome run = slmsim_run({"run", file});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, testing::HasSubstr("gpt2m"));
  }
  const std::string model = folder_.write("config.json", "\xef\xbb\xbf{\n \"model_type\": \"gpt2\"\n}");
  EXPECT_EQ(slmsim_run({"shapes", model}).err, "");
}

}  // namespace
}  // namespace slmsim::hostile_file_test

// slmsim schema: what it prints is what docs/reference.md holds. The schemas themselves: tests/schema/schema_test.py.
#include <nlohmann/json.hpp>

#include "sim/scenario/technique.h"
#include "tests/cli/process.h"

namespace slmsim::schema_test {
namespace {

TEST(Schema, IsTheReferenceInTheDocumentation) {
  const RunOutcome run = slmsim_run({"schema", "--format", "markdown"});
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(run.out == contents(SLMSIM_SOURCE_DIR "/docs/reference.md"))
      << "run build/slmsim schema --format markdown --output docs/reference.md";
}

TEST(Schema, KnowsEveryTechniqueAndItsOptions) {
  const RunOutcome run = slmsim_run({"schema", "scenario"});
  ASSERT_EQ(run.status, 0);
  const auto schema = nlohmann::json::parse(run.out);
  const auto& techniques = schema["$defs"]["scenario"]["properties"]["techniques"]["anyOf"][0];
  EXPECT_EQ(techniques["additionalProperties"], false);
  for (const Technique* technique : technique_table()) {
    ASSERT_TRUE(techniques["properties"].contains(technique->name)) << technique->name;
    const auto& options = techniques["properties"][technique->name]["anyOf"][0]["properties"];
    for (const OptionSpec* option : options_of(*technique)) {
      ASSERT_TRUE(options.contains(option->key)) << technique->name << " " << option->key;
      EXPECT_TRUE(std::string(options[option->key]["description"]).starts_with(option->what));
    }
  }
}

TEST(Schema, PrintsOneFilesKeysAlone) {
  const RunOutcome run = slmsim_run({"schema", "drive", "--format", "markdown"});
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(run.out.starts_with("## drive\n")) << run.out.substr(0, 200);
  EXPECT_NE(run.out.find("\n| `capacity` | size | 1 MB to 1000000 TB | required |"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace slmsim::schema_test

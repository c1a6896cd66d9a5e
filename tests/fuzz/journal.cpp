// Journals and parts: the lines that a sweep, a shard or a search left.
#include "sim/crew/journal.h"

#include "tests/fuzz/target.h"

namespace slmsim {
namespace {

struct AnyAnswer {
  Texts texts;
};
void from_texts(const Texts& texts, AnyAnswer& any) { any.texts = texts; }

}  // namespace
}  // namespace slmsim

namespace slmsim::fuzz {
namespace {

void try_journal(std::string_view text) {
  const Journal journal = Journal::read(as_file(text), {"sweep", "--output", "its file"});
  std::uint64_t held = 0;
  for (std::uint64_t question = 0; question < journal.of().questions; ++question) {
    if (!journal.holds(question)) continue;
    ++held;
    journal.answer<AnyAnswer>(question);
  }
  if (held != journal.count()) __builtin_trap();
}

const Target kJournal("journal", try_journal);

}  // namespace
}  // namespace slmsim::fuzz

#include "sim/report/phrases.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.h"

namespace slmsim {

std::string wrapped(const std::string& first, const std::string& text) {
  std::string out, line = first;
  bool empty = true;  // the line has no word yet
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    if (text.compare(end, 2, " %") == 0) end = std::min(text.find(' ', end + 1), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!empty && line.size() + 1 + word.size() > kTextWidth) {
      out += line + "\n";
      line.assign(first.size(), ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    begin = end + 1;
  }
  out += line + "\n";
  std::replace(out.begin(), out.end(), kNoBreak, ' ');
  return out;
}

std::string duration(Seconds time) {
  const double minutes = time.value / 60;
  if (minutes < 1) return fmt::format("{:.1f} s", time.value);
  if (minutes < 600) return fmt::format("{:.1f} min", minutes);
  return minutes < 60 * 72 ? fmt::format("{:.1f} h", minutes / 60) : fmt::format("{:.1f} d", minutes / 1440);
}

std::string picked(const Selection& s) {
  return s.technique ? fmt::format("{} on {}", s.technique->name, group_text(s.group))
                     : "nothing runs; slmsim plan searches for a way";
}

std::string place_of(const Prediction& prediction) {
  return fmt::format("{} on {}", prediction.technique->name, group_text(prediction.group));
}

std::string count_of(double count, const std::string& thing) {
  return fmt::format("{:.0f} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string round_text(const RoundTimes& round) {
  const std::string steps = round.steps == 1 ? "step" : "steps";
  if (round.count == 0)
    return fmt::format("the job is one round of {}, {}; a full one of {} takes {}", count_of(round.rest, "step"),
                       to_text(round.rest_time), round.steps, to_text(round.time));
  std::string out =
      fmt::format("rounds of {} {} take {}; the job has {:.0f}", round.steps, steps, to_text(round.time), round.count);
  if (round.rest > 0)
    out += fmt::format(", and one of {} step{}, {}", round.rest, round.rest == 1 ? "" : "s", to_text(round.rest_time));
  return out;
}

std::string warm_up_text(const WarmUp& warm_up) {
  return fmt::format("the first {} steps exchange whole gradients and take {} each", warm_up.steps,
                     to_text(warm_up.iteration));
}

std::string extent_text(const Training& training) {
  std::string pass = count_of(training.blocks_per_epoch, "sequence");
  switch (training.extent) {
    case Extent::kSamples:
      return pass;
    case Extent::kTokens:
      return fmt::format("{:.12g} tokens in {}", training.tokens, pass);
    case Extent::kEpochs:
      break;
  }
  return fmt::format("{} of {}", count_of(training.epochs, "epoch"), pass);
}

std::string basis_text(const TimeBasis& basis) {
  const double whole = basis.total().value;
  const auto percent = [&](Seconds part) { return whole > 0 ? 100 * part.value / whole : 0.0; };
  return fmt::format("{:.1f} % measured, {:.1f} % interpolated, {:.1f} % roofline", percent(basis.measured),
                     percent(basis.interpolated), percent(basis.roofline));
}

}  // namespace slmsim

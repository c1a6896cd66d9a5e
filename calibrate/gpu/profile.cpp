#include "calibrate/gpu/profile.h"

#include "calibrate/common/text.h"

namespace slmsim::calibrate {
namespace {

std::string spread_of(const Measurement& measured) {
  const Summary& s = measured.seconds;
  std::string text =
      format("time: %s, low: %s, high: %s, least: %s, most: %s, samples: %d, launches: %d, outliers: %d",
             time_text(s.median).c_str(), time_text(s.low).c_str(), time_text(s.high).c_str(),
             time_text(s.least).c_str(), time_text(s.most).c_str(), s.count, measured.launches, s.outliers);
  if (!measured.precise) text += ", imprecise: yes";
  if (s.drift) text += ", drift: yes";
  if (measured.clock_most > 0) text += format(", clock: %.0f to %.0f MHz", measured.clock_least, measured.clock_most);
  if (const std::string reasons = throttle_text(measured.throttle); reasons != "none")
    text += ", throttled: " + quoted(reasons);
  return text;
}

void section(std::string& out, const std::string& name, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out += name + ":\n";
  for (const auto& line : lines) out += "  - " + line + "\n";
}

}  // namespace

std::string kernel_line(const Kernel& kernel, const Measurement& measured, double error) {
  const auto number = [](std::int64_t value) { return static_cast<long long>(value); };
  return format("{kernel: %s, precision: %s, batch: %lld, m: %lld, n: %lld, k: %lld, %s, error: %.2g}",
                kernel.name.c_str(), kernel.precision.c_str(), number(kernel.batch), number(kernel.m), number(kernel.n),
                number(kernel.k), spread_of(measured).c_str(), error);
}

std::string transfer_line(const std::string& kind, const std::string& memory, double bytes,
                          const Measurement& measured) {
  return format("{kind: %s, memory: %s, size: %s, %s}", kind.c_str(), memory.c_str(), size_text(bytes).c_str(),
                spread_of(measured).c_str());
}

std::string launch_line(const std::string& kind, const Measurement& measured) {
  return format("{kind: %s, %s}", kind.c_str(), spread_of(measured).c_str());
}

std::string to_yaml(const Profile& profile) {
  std::string out =
      "# A GPU's kernels and transfers as slmsim-calibrate measured them. time: median of the samples, each the time "
      "of\n"
      "# one launch in a row of `launches`, on random data beyond the L2 cache; low to high: 95 % interval of the "
      "median;\n"
      "# error: of the result against a reference in double precision, in units of the expected rounding error.\n"
      "schema: slmsim/gpu-profile/1\n";
  out += "name: " + profile.name + "\n";
  out += "date: " + quoted(profile.date) + "\n";
  out += "command: " + quoted(profile.command) + "\n";
  for (const auto& [key, value] : profile.facts) out += key + ": " + quoted(value) + "\n";
  section(out, "kernels", profile.kernels);
  section(out, "launches", profile.launches);
  section(out, "transfers", profile.transfers);
  section(out, "collectives", profile.collectives);
  std::vector<std::string> sentences;
  for (const auto& text : profile.left_out) sentences.push_back(quoted(text));
  section(out, "left_out", sentences);
  return out;
}

}  // namespace slmsim::calibrate

// What a reader sees first: four tiles, and one line for each further fact.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/page/markup.h"
#include "sim/report/page/page.h"
#include "sim/report/phrases.h"

namespace slmsim {
namespace {

struct Tile {
  std::string name, value, note;
  double used = -1;  // share of a limit, drawn as a bar, if not negative
};

std::string html_tile(const Tile& tile) {
  std::string bar;
  if (tile.used >= 0)
    bar = fmt::format(
        "<svg width=\"100%\" height=\"8\" aria-hidden=\"true\"><rect x=\"0\" y=\"1\" width=\"100%\" height=\"6\" "
        "class=\"room\"/><rect x=\"0\" y=\"1\" width=\"{:.3f}%\" height=\"6\" class=\"{}\"/></svg>",
        100 * std::min(1.0, tile.used), tile.used > 1 ? "full" : "best");
  return fmt::format(
      "<div class=\"tile\"><span class=\"name\">{}</span><span class=\"value\">{}</span>{}<span "
      "class=\"note\">{}</span></div>\n",
      escaped(tile.name), escaped(tile.value), bar, escaped(tile.note));
}

// Of the verdict, or of the run's own intervals.
struct Sureness {
  double level = 0;
  std::optional<Interval> job;
  std::optional<double> right, fits;
};

Sureness sureness_of(const ModelReport& report, const Prediction& pick) {
  Sureness out;
  if (const auto& verdict = report.verdict) out = {verdict->level, verdict->job, verdict->right, verdict->fits};
  if (const auto& uncertainty = report.result.uncertainty) {
    const auto& cell = uncertainty->cells[&pick - report.result.predictions.data()];
    out = {uncertainty->level, std::nullopt, uncertainty->picks[report.index].right, cell.fits};
    if (cell.job.high > 0) out.job = cell.job;
  }
  return out;
}

std::string probability_text(double probability) {
  if (probability > 0.995) return "over 99 %";
  return probability < 0.005 ? "under 1 %" : fmt::format("{:.0f} %", 100 * probability);
}

Tile time_tile(const ModelReport& report, const Prediction& pick, const Sureness& sure, const std::string& missing) {
  Tile tile{"Time of the best choice", duration(pick.job), missing};
  if (sure.job) tile.note = fmt::format("{:.0f} % interval: {}", 100 * sure.level, between_text(*sure.job));
  if (const JobOutcome* job = drawn_job(report.result, pick)) {
    tile.value = job_duration(job->length.median);
    tile.note = fmt::format("80 % of the jobs drawn: {} to {}; {} without failures", job_duration(job->length.low),
                            job_duration(job->length.high), duration(pick.job));
    if (sure.job) tile.note += fmt::format(", {:.0f} % interval {}", 100 * sure.level, between_text(*sure.job));
  }
  return tile;
}

Tile memory_tile(const Prediction& p, const Sureness& sure) {
  const DeviceMemory* memory = fullest(p.memory);
  if (!memory) return {"Memory", "not known", p.reason};
  if (const Store* store = lacking_store(p); store && memory->fits())
    return {store->drive ? "Room on a drive" : "Memory of a host",
            fmt::format("{:.1f} of {:.1f} GiB", store->used.value / kGibi, store->limit.value / kGibi),
            fmt::format("{} does not hold it", store->name), store->used / store->limit};
  Tile tile{"Memory, fullest GPU",
            fmt::format("{:.1f} of {:.1f} GiB", memory->total().value / kGibi, memory->limit.value / kGibi), "",
            memory->total() / memory->limit};
  tile.note = memory->fits() ? "fits" : "does not fit";
  if (sure.fits) tile.note += fmt::format(", {} sure", probability_text(memory->fits() ? *sure.fits : 1 - *sure.fits));
  tile.note += ", mostly " + largest_part(*memory);
  return tile;
}

Tile sure_tile(const ModelReport& report, const Sureness& sure, const std::string& missing) {
  if (!sure.right) return {"How sure", "\u2013", missing};
  return {"How sure", probability_text(*sure.right),
          fmt::format("that nothing is better by more than {:.3g} %", 100 * report.result.scenario.selection.delta)};
}

Tile cost_tile(const ModelReport& report, const Prediction& pick) {
  const std::string hours = fmt::format("{:.3g} GPU-hours", pick.gpu_hours());
  const JobOutcome* job = drawn_job(report.result, pick);
  const std::string energy = job && job->energy ? fmt::format("{:.3g} kWh", job->energy->median / kJoulesPerKwh)
                             : pick.bill.energy
                                 ? fmt::format("at most {:.3g} kWh", pick.bill.energy->value / kJoulesPerKwh)
                                 : "";
  const auto listed = [](const std::string& a, const std::string& b) {
    return a.empty() || b.empty() ? a + b : a + ", " + b;
  };
  const std::string price = price_text(report.result, pick);
  if (!price.empty()) return {"Cost", price, listed(hours, energy)};
  return {"Cost", hours, listed(energy, pick.bill.cost ? "free of charge" : "no price is stated")};
}

std::string fact(const char* name, const std::string& html) {
  return html.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html);
}

std::string suggestion_html(const Suggestion& one) {
  return fmt::format("<code>{}</code> about {} with {}", escaped(one.command), escaped(duration(one.job)),
                     escaped(one.choice));
}

std::string assumption_html(const KeyAssumption& one) {
  std::string out = fmt::format("{}: then the job takes {}", escaped(one.value), escaped(between_text(one.job)));
  return out +
         (one.measure.empty() ? "; state yours" : fmt::format("; measure with <code>{}</code>", escaped(one.measure)));
}

std::string nearest_html(const NearestValidated& one) {
  std::string out =
      fmt::format("{} ({}), {:.0f} % off in the median", escaped(one.name), escaped(one.page), 100 * one.error);
  if (!one.outside.empty())
    out += fmt::format("; beyond it: {}", escaped(fmt::format("{}", fmt::join(one.outside, ", "))));
  return out;
}

}  // namespace

std::string tiles_section(const ModelReport& report, const std::string& missing) {
  std::string out = "<div class=\"tiles\">\n";
  if (const Prediction* pick = report.pick()) {
    const Sureness sure = sureness_of(report, *pick);
    for (const Tile& tile : {time_tile(report, *pick, sure, missing), memory_tile(*pick, sure),
                             sure_tile(report, sure, missing), cost_tile(report, *pick)})
      out += html_tile(tile);
  } else {
    out += html_tile({"Time of the best choice", "nothing runs", "no technique works on any group of GPUs"});
    if (const Prediction* nearest = nearest_misfit(report)) {
      Tile tile = memory_tile(*nearest, {});
      tile.note = fmt::format("{}, the nearest: {}", place_of(report.platform(), *nearest), tile.note);
      out += html_tile(tile);
    }
  }
  return out + "</div>\n";
}

std::string facts_section(const ModelReport& report) {
  const Prediction* misfit = report.pick() ? nullptr : nearest_misfit(report);
  std::string out =
      misfit ? fact("Nearest", escaped(fmt::format("{}: {}", place_of(report.platform(), *misfit), misfit->reason)))
             : "";
  out += fact("As good", escaped(near_text(report))) + fact("GPUs", escaped(alternative_text(report)));
  if (const auto& verdict = report.verdict) {
    if (verdict->faster) out += fact("Faster", suggestion_html(*verdict->faster));
    if (verdict->would_fit) out += fact("Would fit", suggestion_html(*verdict->would_fit));
    if (verdict->key_assumption) out += fact("Assumed most", assumption_html(*verdict->key_assumption));
    if (verdict->nearest) out += fact("Nearest validated", nearest_html(*verdict->nearest));
  }
  for (const auto& remark : remarks_of(report.predictions)) out += fact("Remark", escaped(remark));
  return out.empty() ? "" : "<dl class=\"facts\">\n" + out + "</dl>\n";
}

}  // namespace slmsim

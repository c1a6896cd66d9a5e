#include "sim/serve/app.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/report/page/page.h"
#include "sim/scenario/data_root.h"

namespace slmsim::web {
namespace {

constexpr const char* kApi = "/api/";

// Only its own files, no frames in other pages, nothing inline but the positions of drawn elements (style attributes).
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; "
     "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"}};

std::string text_of(const Json& body, const char* key) {
  const auto at = body.find(key);
  if (at == body.end() || !at->is_string()) throw InputError({}, fmt::format("\"{}\" is missing", key));
  return at->get<std::string>();
}

std::uint64_t number_of(const Json& body) {
  const auto at = body.find("job");
  if (at == body.end() || !at->is_number_unsigned()) throw InputError({}, "\"job\" is missing");
  return at->get<std::uint64_t>();
}

std::string media_type(const std::string& name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  return "text/plain; charset=utf-8";
}

// The page's parts are files, except the report's style sheet and patterns, which come from the techniques' looks.
Response part(std::string name) {
  if (name.empty()) name = "index.html";
  if (name == "report.css") return {.type = media_type(name), .body = page_style()};
  const Asset* asset = find_asset(name);
  if (!asset) return refusal(404, "there is no such page");
  Response out{.type = media_type(name), .body = std::string(asset->text)};
  constexpr std::string_view kHatchesHere = "<!-- hatches -->";
  if (const auto at = out.body.find(kHatchesHere); name == "index.html" && at != std::string::npos)
    out.body.replace(at, kHatchesHere.size(), page_hatches());
  return out;
}

// A shipped scenario in one piece, as it would read below the folder.
Json shipped(const std::filesystem::path& folder, const std::string& name) {
  for (const auto& file : files_below(data_roots(folder / "x"), "scenarios")) {
    if (file.stem() == name) return tree_json(ScenarioFile(file).self_contained(folder));
  }
  throw InputError({}, "there is no such scenario");
}

}  // namespace

App::App(AppOptions options, Answerer answerer)
    : options_(std::move(options)), folder_(options_.folder), answerer_(answerer), jobs_(std::move(answerer)) {}

Response App::handle(const Request& request) {
  Response out;
  if (auto refused = refuse(request)) {
    out = std::move(*refused);
  } else if (request.method == "GET") {
    out = part(request.path.substr(std::min<std::size_t>(1, request.path.size())));
  } else if (!request.path.starts_with(kApi)) {
    out = refusal(404, "requests go to /api/");
  } else {
    try {
      out = ask(request.path.substr(std::string_view(kApi).size()), request.body);
    } catch (const InputError& error) {
      out = refusal(422, error.errors().empty() ? "bad input" : printable(error.errors().front().text));
    } catch (const std::exception& error) {
      out = refusal(500, fmt::format("internal error: {}", error.what()));
    }
  }
  // An understood question has status 200; a browser would report 422 on its console as an error of the page.
  if (out.status == 422) out.status = 200;
  for (const auto& [name, value] : kHeaders) out.headers.emplace_back(name, value);
  return out;
}

Response App::ask(const std::string& what, const std::string& body) {
  if (const Verb* verb = find_verb(what))
    return verb->pace == Pace::kQuick ? answerer_({.verb = what, .body = body, .seconds = kMostSeconds})
                                      : jobs_.start(*verb, body);
  const Json asked = Json::parse(body, nullptr, false);
  if (!asked.is_object()) return refusal(400, "a JSON object is expected");
  if (what == "job") return jobs_.state(number_of(asked));
  if (what == "job/cancel") return jobs_.cancel(number_of(asked));
  if (what == "catalog") {
    Json out = catalog_of(folder_.root());
    out["version"] = options_.version;
    out["open"] = options_.open;
    return json_response(out);
  }
  if (what == "files/list") return json_response({{"folder", folder_.root().string()}, {"files", folder_.list()}});
  if (what == "files/read") {
    const std::string path = text_of(asked, "path");
    return json_response({{"path", path}, {"text", folder_.read(path)}});
  }
  if (what == "files/shipped") {
    const std::string name = text_of(asked, "name");
    return json_response({{"path", name + ".yaml"}, {"whole", shipped(folder_.root(), name)}});
  }
  if (what == "files/write") {
    const std::string path = text_of(asked, "path");
    const auto replace = asked.find("replace");
    folder_.write(path, text_of(asked, "text"), replace != asked.end() && *replace == true);
    return json_response({{"path", path}});
  }
  return refusal(404, "there is no such request");
}

const Asset* find_asset(const std::string& name) {
  const auto& all = assets();
  const auto at = std::ranges::find_if(all, [&](const Asset& asset) { return asset.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace slmsim::web

#include "sim/base/error.h"
#include "sim/serve/answer.h"

namespace slmsim::web {
namespace {

bool builds_on_files(const Node& root) {
  const Node* platform = root.find("platform");
  return root.find(kExtends.name) != nullptr || (platform && platform->kind == Node::Kind::kScalar);
}

}  // namespace

Json error_json(const Error& error, const std::filesystem::path& file) {
  const std::string name = error.place.source ? error.place.source->name : "";
  return {{"text", printable(error.text)},
          {"message", to_string(error)},
          {"file", printable(name)},
          {"line", error.place.line},
          {"column", letter_column(error.place)},
          {"own", !name.empty() && name == file.string()}};
}

Json tree_json(const Node& node) {
  Json out = {{"k", ""}, {"l", node.place.line}, {"c", letter_column(node.place)}};
  switch (node.kind) {
    case Node::Kind::kNull:
      out["k"] = "null";
      break;
    case Node::Kind::kScalar:
      out["k"] = "text";
      out["v"] = node.scalar;
      break;
    case Node::Kind::kSequence:
      out["k"] = "list";
      out["i"] = Json::array();
      for (const auto& item : node.items) out["i"].push_back(tree_json(item));
      break;
    case Node::Kind::kMap:
      out["k"] = "map";
      out["e"] = Json::array();
      for (const auto& entry : node.entries)
        out["e"].push_back({entry.key, entry.place.line, letter_column(entry.place), tree_json(entry.value)});
      break;
  }
  return out;
}

void add_trees(const Question& question, Json& out) {
  try {
    const Node root = parse_yaml(question.text.text, question.text.file.string());
    out["tree"] = tree_json(root);
    if (builds_on_files(root))
      out["whole"] = tree_json(ScenarioFile(question.text).self_contained(question.text.file.parent_path()));
  } catch (const InputError&) {  // reported to the caller
  }
}

}  // namespace slmsim::web

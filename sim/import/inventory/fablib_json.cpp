#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.h"
#include "sim/base/yaml.h"
#include "sim/import/inventory/fablib.h"

namespace slmsim {
namespace {

SliceRecord record_of(const Node& node) {
  SliceRecord record;
  record.place = node.place;
  for (const auto& entry : node.entries) {
    if (entry.value.kind == Node::Kind::kScalar) record.cells[plain_key(entry.key)] = entry.value.scalar;
    if (entry.value.kind == Node::Kind::kNull) record.cells[plain_key(entry.key)] = "";
  }
  return record;
}

bool is_record(const Node& node) { return node.kind == Node::Kind::kMap && node.find("name") != nullptr; }

// Gathers lists, and maps by name, of records, and the records inside them (a node's components).
void gather(const Node& node, const std::string& parent, SliceTables& tables) {
  if (node.kind == Node::Kind::kSequence) {
    for (const auto& item : node.items) gather(item, parent, tables);
    return;
  }
  if (node.kind != Node::Kind::kMap) return;
  SliceRecord record = record_of(node);
  const bool is_one = record.cells.contains("name");
  const std::string name = is_one ? record.cells["name"] : parent;
  if (is_one) {
    if (!parent.empty() && (record.cells.contains("model") || record.cells.contains("pci_address")))
      record.cells.try_emplace("node", parent);
    tables.add(std::move(record));
  }
  for (const auto& entry : node.entries) {
    if (entry.value.kind == Node::Kind::kScalar || entry.value.kind == Node::Kind::kNull) continue;
    // Lists of references by name add nothing.
    gather(entry.value, is_one ? name : "", tables);
  }
}

}  // namespace

std::string plain_key(const std::string& text) {
  std::string out = lower_case(text);
  std::ranges::replace(out, ' ', '_');
  return out;
}

void read_fablib_json(const std::string& file, SliceTables& tables) {
  const Node root = read_yaml(file);
  const SliceRecord record = root.kind == Node::Kind::kMap ? record_of(root) : SliceRecord{};
  if (is_record(root) && record.cells.contains("lease_end") && !record.cells.contains("site"))
    throw InputError(
        root.place,
        "these are a slice's own attributes (toJson), which hold no nodes; export it by "
        "slice.save(\"slice.graphml\"), or by list_nodes, list_components, list_networks and list_interfaces "
        "with output=\"json\"");
  const Node* cells = root.kind == Node::Kind::kMap ? root.find("cells") : nullptr;
  if (cells && cells->kind == Node::Kind::kSequence) return read_fablib_notebook(file, root, tables);
  gather(root, "", tables);
}

}  // namespace slmsim

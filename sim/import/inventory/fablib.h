// Readers of a FABRIC slice as FABlib (fabrictestbed-extensions) exports it, in these forms:
//
// - JSON: lists of records as list_nodes(output="json"), list_components, list_networks and list_interfaces print them, or a
//   map with nodes, components, networks and interfaces, as Slice.get_template_context() returns it. Keys may be the pretty
//   names of tables ("Site") or the plain ones ("site"). Slice.toJson() alone holds no machines, and is an error.
// - text: tables of tabulate, with a header (list_nodes()) or of one item each (print(node)), amid other lines.
// - a Jupyter notebook with its outputs, or one such table as HTML: list_nodes(), list_networks(), show() of a slice or node.
// - GraphML: the output of Slice.save(), the graph of FABRIC's information model (FIM).
//
// All become the same four tables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/yaml.h"
#include "sim/import/inventory/inventory.h"

namespace slmsim {

struct SliceRecord {
  std::map<std::string, std::string> cells;  // by key in lower case, "_" between words: "pci_address"
  Place place;

  std::string at(const std::string& key) const {
    const auto found = cells.find(key);
    return found == cells.end() || found->second == "None" ? "" : found->second;
  }
};

// nodes: name, site. components: name, node, type, model, details. networks: name, type. interfaces: node, network, bandwidth (Gbps).
struct SliceTables {
  std::vector<SliceRecord> nodes, components, networks, interfaces;

  // Adds a record to the table that its keys identify; drops it where none fits.
  void add(SliceRecord record);
};

// Each adds a file's records. Throws InputError where the file is invalid.
void read_fablib_json(const std::string& file, SliceTables& tables);
void read_fablib_text(const std::string& file, const std::string& text, SliceTables& tables);
void read_fablib_html(const Place& place, const std::string& text, SliceTables& tables);
void read_fablib_graph(const std::string& file, const std::string& text, SliceTables& tables);

// Round trip between two of FABRIC's sites from the distance of their cities: light in fibre (2e8 m/s) over 1.5 times the great
// circle, within 16 % of ping between the sites of arXiv 2602.02632, Table I. Nothing where a site is unknown.
std::optional<Seconds> fabric_rtt(const std::string& site, const std::string& other);

}  // namespace slmsim

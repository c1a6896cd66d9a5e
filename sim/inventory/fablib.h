// What FABRIC's FABlib (fabrictestbed-extensions) exports of a slice, in the forms it has:
//
// - JSON: lists of records as list_nodes(output="json"), list_components, list_networks and list_interfaces print them, or a
//   map with nodes, components, networks and interfaces, as Slice.get_template_context() returns it. Keys may be the pretty
//   names of tables ("Site") or the plain ones ("site"). Slice.toJson() alone holds no machines, and is an error.
// - text: tables of tabulate, with a head (list_nodes()) or of one thing each (print(node)), amid other lines.
// - a Jupyter notebook with its outputs, or one such table as HTML: list_nodes(), list_networks(), show() of a slice or node.
// - GraphML: what Slice.save() writes, the graph of FABRIC's information model (FIM).
//
// All become the same four tables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/base/yaml.h"
#include "sim/inventory/inventory.h"

namespace slmsim {

struct SliceRecord {
  std::map<std::string, std::string> cells;  // by key in small letters, "_" between words: "pci_address"
  Place place;

  std::string at(const std::string& key) const {
    const auto found = cells.find(key);
    return found == cells.end() || found->second == "None" ? "" : found->second;
  }
};

// nodes: name, site. components: name, node, model. networks: name, type. interfaces: node, network, bandwidth (Gbps).
struct SliceTables {
  std::vector<SliceRecord> nodes, components, networks, interfaces;

  // To the table that its keys tell; dropped where it is of none of them.
  void add(SliceRecord record);
};

// "PCI Address" and "pci_address" are one key, the latter.
std::string plain_key(const std::string& text);

// Each adds what a file holds. Throws InputError where it is broken.
void read_fablib_json(const std::string& file, SliceTables& tables);
void read_fablib_text(const std::string& file, const std::string& text, SliceTables& tables);
void read_fablib_html(const Place& place, const std::string& text, SliceTables& tables);
// A map with `cells`; the file's name is for messages.
void read_fablib_notebook(const std::string& file, const Node& notebook, SliceTables& tables);
void read_fablib_graph(const std::string& file, const std::string& text, SliceTables& tables);

// Round trip between two of FABRIC's sites by the distance of their cities: light in fibre (2e8 m/s) over 1.5 times the great
// circle, which is what ping shows between sites of arXiv 2602.02632, Table I, within 16 %. Nothing where a site is unknown.
std::optional<Seconds> fabric_rtt(const std::string& site, const std::string& other);

}  // namespace slmsim

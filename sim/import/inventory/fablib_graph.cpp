#include <algorithm>

#include "sim/import/inventory/fablib.h"

namespace slmsim {
namespace {

struct Vertex {
  std::map<std::string, std::string> data;  // by attr.name: Class, Type, Name, Model, Site
  Place place;

  std::string at(const char* key) const {
    const auto found = data.find(key);
    return found == data.end() ? "" : found->second;
  }
};

struct Graph {
  std::map<std::string, Vertex> vertices;
  std::map<std::string, std::set<std::string>> neighbours;
};

std::string unescaped(std::string text) {
  constexpr std::pair<const char*, const char*> kEntities[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, letter] : kEntities) {
    for (auto at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1))
      text.replace(at, std::string_view(entity).size(), letter);
  }
  return text;
}

// The GraphML elements that networkx writes: key, node, edge and data. Not an XML parser, but strict on its input.
class GraphReader {
 public:
  GraphReader(const std::string& file, const std::string& text)
      : text_(text), source_(std::make_shared<const Source>(Source{file, text})) {}

  Graph read() {
    if (text_.find("<graphml") == std::string::npos) fail("not GraphML; slice.save(\"slice.graphml\") writes it");
    while ((at_ = text_.find('<', at_)) != std::string::npos) read_tag();
    if (!inside_.empty()) fail("the file ends within an element; it is cut off");
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) { throw InputError(place(), what); }

  Place place() const {
    const auto line =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n');
    return {source_, static_cast<int>(line) + 1, 1};
  }

  static std::string attribute(const std::string& tag, const std::string& name) {
    const auto at = tag.find(" " + name + "=\"");
    if (at == std::string::npos) return "";
    const auto begin = at + name.size() + 3, end = tag.find('"', begin);
    return end == std::string::npos ? "" : unescaped(tag.substr(begin, end - begin));
  }

  void read_tag() {
    const auto end = text_.find('>', at_);
    if (end == std::string::npos) fail("an element is not closed");
    std::string tag = text_.substr(at_ + 1, end - at_ - 1);
    std::ranges::replace_if(
        tag, [](unsigned char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    const bool closed = !tag.empty() && tag.back() == '/';
    if (name == "key") keys_[attribute(tag, "id")] = attribute(tag, "attr.name");
    if (name == "node") {
      const std::string id = attribute(tag, "id");
      if (id.empty()) fail("a node without id");
      graph_.vertices[id].place = place();
      inside_ = closed ? "" : id;
    }
    if (name == "edge") {
      const std::string from = attribute(tag, "source"), to = attribute(tag, "target");
      if (!graph_.vertices.contains(from) || !graph_.vertices.contains(to))
        fail("an edge between nodes that are not there");
      graph_.neighbours[from].insert(to);
      graph_.neighbours[to].insert(from);
    }
    if (name == "data" && !closed && !inside_.empty()) {
      const auto close = text_.find("</data>", end);
      if (close == std::string::npos) fail("a data element is not closed");
      const auto key = keys_.find(attribute(tag, "key"));
      if (key != keys_.end())
        graph_.vertices[inside_].data[key->second] = unescaped(text_.substr(end + 1, close - end - 1));
      at_ = close + 7;
      return;
    }
    if (name == "/node") inside_.clear();
    at_ = end + 1;
  }

  const std::string& text_;
  std::shared_ptr<const Source> source_;
  std::size_t at_ = 0;
  std::string inside_;  // the currently open node
  std::map<std::string, std::string> keys_;
  Graph graph_;
};

// The components that a network reaches over links and ports, without passing through a component or a node.
std::set<std::string> components_of(const Graph& graph, const std::string& network) {
  std::set<std::string> seen = {network}, out;
  std::vector<std::string> open = {network};
  while (!open.empty()) {
    const std::string id = open.back();
    open.pop_back();
    const auto near = graph.neighbours.find(id);
    if (near == graph.neighbours.end()) continue;
    for (const auto& next : near->second) {
      if (!seen.insert(next).second) continue;
      const Vertex& vertex = graph.vertices.at(next);
      const std::string kind = vertex.at("Class");
      if (kind == "Component") out.insert(next);
      // A NIC's own service (OVS, P4) leads to its component; another network does not.
      const bool own = kind == "NetworkService" && (vertex.at("Type") == "OVS" || vertex.at("Type") == "P4");
      if (kind == "ConnectionPoint" || kind == "Link" || own) open.push_back(next);
    }
  }
  return out;
}

std::string node_with(const Graph& graph, const std::string& component) {
  for (const auto& next : graph.neighbours.at(component)) {
    if (graph.vertices.at(next).at("Class") == "NetworkNode") return graph.vertices.at(next).at("Name");
  }
  return "";
}

}  // namespace

void read_fablib_graph(const std::string& file, const std::string& text, SliceTables& tables) {
  const Graph graph = GraphReader(file, text).read();
  for (const auto& [id, vertex] : graph.vertices) {
    const std::string kind = vertex.at("Class"), name = vertex.at("Name"), type = vertex.at("Type");
    if (kind == "NetworkNode") tables.nodes.push_back({{{"name", name}, {"site", vertex.at("Site")}}, vertex.place});
    if (kind == "Component" && graph.neighbours.contains(id)) {
      tables.components.push_back({{{"name", name},
                                    {"node", node_with(graph, id)},
                                    {"type", type},
                                    {"model", vertex.at("Model")},
                                    {"details", vertex.at("Details")}},
                                   vertex.place});
    }
    if (kind != "NetworkService" || type == "OVS" || type == "P4") continue;
    tables.networks.push_back({{{"name", name}, {"type", type}, {"site", vertex.at("Site")}}, vertex.place});
    for (const auto& component : components_of(graph, id)) {
      tables.interfaces.push_back({{{"name", graph.vertices.at(component).at("Name")},
                                    {"node", node_with(graph, component)},
                                    {"network", name}},
                                   vertex.place});
    }
  }
}

}  // namespace slmsim

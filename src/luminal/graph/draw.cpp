#include <algorithm>
#include <array>
#include <sstream>

#include "luminal/graph/text.h"
#include "luminal/support/html.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::string label(const Dag& dag, NodeId id) {
  const Node& node = dag.node(id);
  return cat(node.op, node.name.empty() ? "" : cat(" ", node.name));
}

std::string types(const Node& node) {
  return node.outputs.empty() ? "()" : join(node.outputs);
}

struct Place {
  NodeId id;
  int layer = 0;
  double x = 0;
};

constexpr double node_width = 190;
constexpr double node_height = 40;
constexpr double gap_x = 24;
constexpr double gap_y = 46;

/// A node stands one layer below the lowest it reads; within a layer, near the middle of what it reads.
std::vector<Place> layout(const Dag& dag) {
  std::vector<Place> places;
  std::vector<int> layer(dag.id_bound(), 0);
  std::vector<double> wish(dag.id_bound(), 0);
  std::vector<std::vector<NodeId>> rows;
  for (const auto id : execution_order(dag, dag.nodes())) {
    const Node& node = dag.node(id);
    for (const auto& input : node.inputs)
      layer[id.index()] = std::max(layer[id.index()], layer[input.node.index()] + 1);
    for (const auto earlier : node.after)
      layer[id.index()] = std::max(layer[id.index()], layer[earlier.index()] + 1);
    const auto row = static_cast<std::size_t>(layer[id.index()]);
    if (rows.size() <= row) rows.resize(row + 1);
    rows[row].push_back(id);
  }
  for (auto& row : rows) {
    for (const auto id : row) {
      const auto& inputs = dag.node(id).inputs;
      double sum = 0;
      for (const auto& input : inputs) sum += wish[input.node.index()];
      if (!inputs.empty()) wish[id.index()] = sum / static_cast<double>(inputs.size());
    }
    std::stable_sort(row.begin(), row.end(),
                     [&](NodeId a, NodeId b) { return wish[a.index()] < wish[b.index()]; });
    double next = -static_cast<double>(row.size() - 1) / 2 * (node_width + gap_x);
    for (const auto id : row) {
      wish[id.index()] = next;
      places.push_back({id, layer[id.index()], next});
      next += node_width + gap_x;
    }
  }
  return places;
}

const char* color_class(Op op) {
  switch (kind(op)) {
    case OpKind::source:
      return "source";
    case OpKind::reduce:
    case OpKind::scan:
    case OpKind::sort:
      return "reduce";
    case OpKind::gather:
    case OpKind::scatter:
      return "index";
    case OpKind::structure:
      return "structure";
    default:
      return "map";
  }
}

constexpr std::string_view page_head = R"(<style>
html,body{margin:0;height:100%;font:13px system-ui,sans-serif;background:#fafafa;color:#222}
header{position:fixed;top:0;left:0;right:0;height:44px;display:flex;gap:16px;align-items:center;padding:0 16px;
background:#fff;border-bottom:1px solid #ddd;z-index:2}
header b{font-size:15px}#search{width:260px;padding:5px 8px;border:1px solid #bbb;border-radius:4px}
#view{position:absolute;top:44px;bottom:0;left:0;right:320px;overflow:hidden}svg{width:100%;height:100%;cursor:grab}
aside{position:absolute;top:44px;bottom:0;right:0;width:288px;padding:16px;border-left:1px solid #ddd;background:#fff;
overflow:auto}pre{white-space:pre-wrap;word-break:break-word;font-size:12px}
.node rect{stroke:#666;rx:5}.node text{pointer-events:none;font-size:12px}.node .type{font-size:10px;fill:#444}
.source rect{fill:#dbeafe}.map rect{fill:#ecfccb}.reduce rect{fill:#fde68a}.index rect{fill:#fbcfe8}
.structure rect{fill:#e5e7eb}.output rect{stroke:#b91c1c;stroke-width:2.5}.edge{fill:none;stroke:#999}
.schedule{stroke-dasharray:4 3}.dim{opacity:.15}.chosen rect{stroke:#1d4ed8;stroke-width:3}</style>)";

constexpr std::string_view page_script = R"(<script>
const svg=document.querySelector('svg'),scene=document.getElementById('scene'),info=document.getElementById('info'),
search=document.getElementById('search'),nodes=[...document.querySelectorAll('.node')];
const box=scene.getBBox();let scale=1,x=0,y=0;
function show(){scene.setAttribute('transform',`translate(${x},${y}) scale(${scale})`)}
function fit(){const w=svg.clientWidth,h=svg.clientHeight;scale=Math.min(1,w/(box.width+40),h/(box.height+40));
x=w/2-(box.x+box.width/2)*scale;y=20-box.y*scale;show()}
svg.addEventListener('wheel',e=>{e.preventDefault();const f=Math.exp(-e.deltaY*.0015),r=svg.getBoundingClientRect(),
px=e.clientX-r.left,py=e.clientY-r.top;x=px-(px-x)*f;y=py-(py-y)*f;scale*=f;show()},{passive:false});
let drag=null;svg.addEventListener('pointerdown',e=>drag=[e.clientX-x,e.clientY-y]);
addEventListener('pointermove',e=>{if(drag){x=e.clientX-drag[0];y=e.clientY-drag[1];show()}});
addEventListener('pointerup',()=>drag=null);
function choose(n){nodes.forEach(m=>m.classList.toggle('chosen',m===n));info.textContent=n.dataset.text}
nodes.forEach(n=>n.addEventListener('click',()=>choose(n)));
search.addEventListener('input',()=>{const q=search.value.toLowerCase();
nodes.forEach(n=>n.classList.toggle('dim',q!==''&&!n.dataset.text.toLowerCase().includes(q)))});
search.addEventListener('keydown',e=>{if(e.key!=='Enter')return;const n=nodes.find(m=>!m.classList.contains('dim'));
if(n){choose(n);const b=n.getBBox();x=svg.clientWidth/2-(b.x+b.width/2)*scale;y=svg.clientHeight/2-(b.y+b.height/2)*scale;show()}});
addEventListener('resize',fit);fit();</script>)";

std::string clipped(const std::string& text, std::size_t length) {
  if (text.size() <= length) return text;
  return text.substr(0, length - 3) + "...";
}

void draw_nodes(std::ostream& out, const Dag& dag, const std::vector<Place>& places) {
  std::vector<bool> is_output(dag.id_bound(), false);
  for (const auto& value : dag.outputs()) is_output[value.node.index()] = true;
  for (const auto& place : places) {
    const Node& node = dag.node(place.id);
    const double left = place.x - node_width / 2;
    const double top = place.layer * (node_height + gap_y);
    out << "<g class=\"node " << color_class(node.op) << (is_output[place.id.index()] ? " output" : "")
        << "\" data-text=\"" << escape_html(print_node(dag, place.id)) << "\"><rect x=\"" << left << "\" y=\""
        << top << "\" width=\"" << node_width << "\" height=\"" << node_height << "\"/><text x=\"" << left + 8
        << "\" y=\"" << top + 16 << "\">"
        << escape_html(clipped(cat(place.id, " ", label(dag, place.id)), 28))
        << "</text><text class=\"type\" x=\"" << left + 8 << "\" y=\"" << top + 31 << "\">"
        << escape_html(clipped(types(node), 34)) << "</text></g>\n";
  }
}

void draw_edges(std::ostream& out, const Dag& dag, const std::vector<Place>& places) {
  std::vector<const Place*> of(dag.id_bound(), nullptr);
  for (const auto& place : places) of[place.id.index()] = &place;
  const auto edge = [&](NodeId from, const Place& to, const char* style, const std::string& title) {
    const Place& source = *of[from.index()];
    const double y0 = source.layer * (node_height + gap_y) + node_height;
    const double y1 = to.layer * (node_height + gap_y);
    const double middle = (y0 + y1) / 2;
    out << "<path class=\"" << style << "\" d=\"M" << source.x << ' ' << y0 << " C" << source.x << ' '
        << middle << ' ' << to.x << ' ' << middle << ' ' << to.x << ' ' << y1 << "\"><title>"
        << escape_html(title) << "</title></path>\n";
  };
  for (const auto& place : places) {
    for (const auto& input : dag.node(place.id).inputs)
      edge(input.node, place, "edge", cat(dag.type(input), " ", input.view.text()));
    for (const auto earlier : dag.node(place.id).after) edge(earlier, place, "edge schedule", "runs after");
  }
}

}  // namespace

std::string to_dot(const Dag& dag) {
  std::ostringstream out;
  out << "digraph luminal {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (const auto id : dag.nodes()) {
    out << "  n" << id.value()
        << " [label=" << in_quotes(cat(id, " ", label(dag, id), "\n", types(dag.node(id)))) << "];\n";
    for (const auto& input : dag.node(id).inputs)
      out << "  n" << input.node.value() << " -> n" << id.value()
          << " [label=" << in_quotes(input.view.text()) << "];\n";
    for (const auto earlier : dag.node(id).after)
      out << "  n" << earlier.value() << " -> n" << id.value() << " [style=dashed];\n";
  }
  out << "}\n";
  return out.str();
}

std::string to_html(const Dag& dag, std::string_view title) {
  const auto places = layout(dag);
  std::ostringstream out;
  out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << escape_html(title)
      << "</title>" << page_head << "</head><body>\n<header><b>" << escape_html(title) << "</b><span>"
      << dag.node_count() << " nodes, " << dag.outputs().size() << " outputs, " << dag.assignments().size()
      << " assigned states</span>"
      << "<input id=\"search\" placeholder=\"op, name, shape, dtype, file\" autofocus></header>\n"
      << "<div id=\"view\"><svg><g id=\"scene\">\n";
  draw_edges(out, dag, places);
  draw_nodes(out, dag, places);
  out << "</g></svg></div>\n<aside><b>Node</b><pre id=\"info\">Click a node. Drag moves, the wheel zooms, "
         "Enter jumps to the first "
         "match.</pre></aside>\n"
      << page_script << "\n</body></html>\n";
  return out.str();
}

}  // namespace luminal

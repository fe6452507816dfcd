// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Knobs.h.
#include "tessera/driver/Knobs.h"

#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Json.h"
#include "tessera/base/Trust.h"
#include "tessera/ir/dfg/DfgKnobs.h"
#include "tessera/transforms/graph/Rewrites.h"
#include "tessera/transforms/nn/knobs/Knobs.h"
#include "tessera/tune/curve/CurveFile.h"

#include "llvm/ADT/StringSet.h"
#include <nlohmann/json.hpp>

using namespace tessera;

// '*' stands for any characters.
static bool matches(StringRef pattern, StringRef text) {
  auto [before, after] = pattern.split('*');
  if (before.size() == pattern.size())
    return pattern == text;
  if (!text.consume_front(before))
    return false;
  for (size_t i = 0; i <= text.size(); ++i)
    if (matches(after, text.drop_front(i)))
      return true;
  return false;
}

bool tessera::matchesAny(const Knob &knob, ArrayRef<std::string> patterns) {
  return llvm::any_of(patterns, [&](const std::string &p) { return matches(p, knob.str()); });
}

static Result<KnobMap> readKnobFile(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file.ok())
    return file.status();
  auto bytes = (*file)->bytes();
  nlohmann::json json = parseJson({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (json.is_object())
    if (auto inner = json.find("knobs"); inner != json.end() && inner->is_object())
      json = nlohmann::json(*inner);
  auto isText = [](const nlohmann::json &item) { return item.is_string(); };
  if (!json.is_object() || !std::all_of(json.begin(), json.end(), isText))
    return fail(StatusCode::InvalidArgument, "'", path,
                "' holds no configuration; expected {\"operation\": \"knob\", …}");
  KnobMap map;
  for (auto &[name, knob] : json.items()) {
    Result<Knob> parsed = Knob::parse(knob.get<std::string>());
    if (!parsed.ok())
      return parsed.status().withContext("'" + path + "'");
    map[name] = parsed->str();
  }
  return map;
}

static Result<KnobMap> readConfiguration(const std::string &path, const std::string &name) {
  TESSERA_ASSIGN(const Container file, Container::open(path));
  TESSERA_TRY(checkTrust(file));
  TESSERA_ASSIGN(std::optional<tune::Curve> curve, tune::readCurve(file));
  if (!curve)
    return fail(StatusCode::InvalidArgument, "'", path, "' has not been tuned; run 'tessera tune' first");
  std::vector<std::string> names;
  for (const tune::Configuration &c : curve->configurations) {
    if (c.name == name)
      return c.knobs;
    names.push_back(c.name);
  }
  return Status::error(StatusCode::NotFound, unknownName("configuration", name, "configurations", names));
}

Result<KnobMap> tessera::readKnobs(const std::string &text) {
  if (size_t at = text.rfind(".tsr:"); at != std::string::npos && text.find('=', at) == std::string::npos)
    return readConfiguration(text.substr(0, at + 4), text.substr(at + 5));
  return text.ends_with(".json") ? readKnobFile(text) : parseKnobMap(text);
}

// Knobs of a node may go onto several: programs of one file share the names of what they call.
Status tessera::applyKnobMap(ModuleOp module, const KnobMap &knobs) {
  TESSERA_ASSIGN(KnobMap rest, graph::setNodeKnobs(module, knobs));
  if (rest.empty() && !knobs.empty() && nn::tunableOps(module).empty())
    return Status::success();
  // "all" reaches operations of networks too; what no node took must fit one of those.
  if (knobs.count("all") && !rest.count("all"))
    (void)nn::setKnobs(module, {{"all", knobs.at("all")}}).ok();
  return nn::setKnobs(module, rest);
}

// The graph is a part of others that was inlined everywhere, or a version of a node, which has to be chosen
// before its own nodes matter.
static bool isLeftOver(dfg::GraphOp graph, ModuleOp module) {
  if (graph.getSymVisibility() != "private")
    return false;
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(graph, module);
  return uses && llvm::all_of(*uses, [](const SymbolTable::SymbolUse &use) {
           return isa<dfg::NodeOp>(use.getUser());
         });
}

// Nodes with knobs, without those of left-over graphs; of those that share a name, which come from one graph
// called by several, the first.
static SmallVector<dfg::NodeOp> nodesOnce(ModuleOp module) {
  SmallVector<dfg::NodeOp> nodes;
  llvm::StringSet<> seen;
  for (dfg::NodeOp node : graph::tunableNodes(module)) {
    if (!isLeftOver(node->getParentOfType<dfg::GraphOp>(), module) && seen.insert(node.getName()).second)
      nodes.push_back(node);
  }
  return nodes;
}

Portable tessera::copyAs(const Portable &program, const std::string &name) {
  Portable copy;
  copy.source = program.source;
  copy.module = cast<ModuleOp>((*program.module)->clone());
  if (program.scripts)
    copy.scripts = cast<ModuleOp>((*program.scripts)->clone());
  for (auto graph : copy.module->getOps<dfg::GraphOp>())
    if (graph.getSymVisibility() != "private")
      graph.setSymName(name);
  return copy;
}

static std::string describeShape(dfg::NodeOp node) {
  auto type = dyn_cast<ShapedType>(node->getResult(0).getType());
  return type ? formatShape(type.getShape()) : "scalar";
}

std::vector<tune::TunableNode> tessera::describeNodes(ModuleOp module, ArrayRef<std::string> patterns) {
  std::vector<tune::TunableNode> nodes;
  for (dfg::NodeOp node : nodesOnce(module)) {
    tune::TunableNode own{
        node.getName().str(), "node", describeShape(node), graph::instanceCost(node), {Knob().str()}};
    for (const Knob &knob : dfg::listKnobs(node))
      // What matters in streams alone is not seen in launches.
      if (!knob.isExact() && !knob.isOfStreams() && matchesAny(knob, patterns))
        own.knobs.push_back(knob.str());
    if (own.knobs.size() > 1)
      nodes.push_back(std::move(own));
  }
  return nodes;
}

std::vector<tune::TunableNode> tessera::describeOperations(ModuleOp module, ArrayRef<std::string> patterns) {
  std::vector<tune::TunableNode> operations;
  for (nn::TunableOp op : nn::tunableOps(module)) {
    if (isa<nn::BinaryOp>(op.getOperation()))
      continue;
    tune::TunableNode own{nn::nameOf(op).str(),
                          nn::kindOf(op).str(),
                          formatShape(cast<ShapedType>(op->getResult(0).getType()).getShape()),
                          double(cast<nn::NnOp>(op.getOperation()).getFlops()),
                          {Knob().str()}};
    for (const Knob &knob : nn::listKnobs(op))
      if (!knob.isExact() && matchesAny(knob, patterns) && (!knob.needsRange() || nn::rangeOf(op)))
        own.knobs.push_back(knob.str());
    if (own.knobs.size() > 1)
      operations.push_back(std::move(own));
  }
  return operations;
}

static std::string describeKind(nn::TunableOp op) {
  if (auto conv = dyn_cast<nn::ConvOp>(op.getOperation())) {
    ArrayRef<int64_t> w = cast<ShapedType>(conv.getW().getType()).getShape();
    if (conv.getGroups() > 1 && w[1] == 1)
      return "depthwise";
  }
  return nn::kindOf(op).str();
}

nlohmann::json tessera::listTunable(ModuleOp module) {
  nlohmann::json list = nlohmann::json::array();
  for (nn::TunableOp op : nn::tunableOps(module)) {
    nlohmann::json knobs = nlohmann::json::object();
    for (const Knob &knob : nn::listKnobs(op))
      knobs[knob.str()] = op.getKnobCost(knob);
    ArrayRef<int64_t> shape = cast<ShapedType>(op->getResult(0).getType()).getShape();
    list.push_back({{"name", nn::nameOf(op).str()},
                    {"kind", describeKind(op)},
                    {"shape", formatShape(shape)},
                    {"flops", cast<nn::NnOp>(op.getOperation()).getFlops()},
                    {"knob", nn::knobOf(op).str()},
                    {"knobs", std::move(knobs)}});
    if (auto range = nn::rangeOf(op))
      list.back()["range"] = {range->first, range->second};
  }
  for (dfg::NodeOp node : nodesOnce(module)) {
    nlohmann::json knobs = nlohmann::json::object();
    for (const Knob &knob : dfg::listKnobs(node))
      knobs[knob.str()] = graph::knobCost(node, knob);
    list.push_back({{"name", node.getName().str()},
                    {"kind", "node"},
                    {"shape", describeShape(node)},
                    {"flops", graph::instanceCost(node)},
                    {"knob", dfg::knobOf(node).str()},
                    {"knobs", std::move(knobs)}});
  }
  return list;
}

// A line for each precision; "perforate-rows:1/2@0..1", "cubic-rows:7/8@0,4": the offsets of a rate in one
// word.
static std::string describeKnobs(ArrayRef<Knob> knobs) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> offsets;
  for (const Knob &knob : knobs) {
    std::string stem = knob.str();
    stem.resize(std::min(stem.find('@'), stem.size()));
    if (offsets.empty() || offsets.back().first != stem)
      offsets.push_back({stem, {}});
    offsets.back().second.push_back(knob.offset);
  }
  std::string text;
  for (auto &[stem, list] : offsets) {
    Result<Knob> whole = Knob::parse(stem); // a rate without its offset is none
    bool isPrecision = whole.ok() && whole->structure == Knob::Structure::None;
    text += concat(isPrecision ? "\n  " : " ", stem);
    if (list.size() > 1) {
      const bool isRange = list.back() - list.front() + 1 == static_cast<int64_t>(list.size());
      text += concat('@', list.front(), isRange ? ".." : ",", list.back());
    } else if (stem.find('/') != std::string::npos && stem.find("prune") == std::string::npos)
      text += concat('@', list.front());
  }
  return text;
}

std::string tessera::explainKnobs(ModuleOp module) {
  std::string text;
  for (nn::TunableOp op : nn::tunableOps(module)) {
    ArrayRef<int64_t> shape = cast<ShapedType>(op->getResult(0).getType()).getShape();
    int64_t flops = cast<nn::NnOp>(op.getOperation()).getFlops();
    text += concat(nn::nameOf(op).str(), ": ", describeKind(op), ", ", formatShape(shape), ", ", flops,
                   " operations for one image, now ", nn::knobOf(op).str(), describeKnobs(nn::listKnobs(op)),
                   "\n");
  }
  for (dfg::NodeOp node : nodesOnce(module)) {
    auto graph = node->getParentOfType<dfg::GraphOp>();
    text += concat(node.getName().str(), ": node of ", graph.getSymName().str(), ", about ",
                   static_cast<int64_t>(graph::instanceCost(node)), " operations for one element, now ",
                   dfg::knobOf(node).str(), describeKnobs(dfg::listKnobs(node)), "\n");
  }
  return text.empty() ? "no operation has knobs\n" : text;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See PlanBuilder.h.
#include "tessera/targets/common/PlanBuilder.h"
#include "tessera/base/Json.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>

using namespace tessera::plan;
using nlohmann::json;

Expr Program::add(Op op) {
  auto [it, inserted] = known.try_emplace(op, static_cast<Expr>(exprs.size()));
  if (inserted)
    exprs.push_back(std::move(op));
  return it->second;
}

Expr Program::constant(int64_t value) { return add({"const", {value}}); }

std::optional<int64_t> Program::getConstant(Expr e) const {
  if (exprs[e].op != "const")
    return std::nullopt;
  return exprs[e].operands[0];
}

Expr Program::dim(int value, unsigned d) {
  const Value &v = values[value];
  if (v.kind != "input")
    return static_cast<Expr>(v.shape[d]);
  return v.shape[d] >= 0 ? constant(v.shape[d]) : add({"dim", {value, d}});
}

Expr Program::load(int value) { return add({"load", {value}}); }

static int64_t floorDiv(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

Expr Program::binary(const std::string &op, Expr a, Expr b) {
  std::optional<int64_t> x = getConstant(a), y = getConstant(b);
  if (x && y) {
    int64_t r;
    if (op == "add" && !__builtin_add_overflow(*x, *y, &r))
      return constant(r);
    if (op == "sub" && !__builtin_sub_overflow(*x, *y, &r))
      return constant(r);
    if (op == "mul" && !__builtin_mul_overflow(*x, *y, &r))
      return constant(r);
    if (op == "floordiv" && *y > 0)
      return constant(floorDiv(*x, *y));
    if (op == "ceildiv" && *y > 0)
      return constant(-floorDiv(-*x, *y));
    if (op == "mod" && *y > 0)
      return constant(*x - floorDiv(*x, *y) * *y);
    if (op == "min")
      return constant(std::min(*x, *y));
    if (op == "max")
      return constant(std::max(*x, *y));
  }
  if (y && ((*y == 0 && (op == "add" || op == "sub")) ||
            (*y == 1 && (op == "mul" || op == "floordiv" || op == "ceildiv"))))
    return a;
  if (x && ((*x == 0 && op == "add") || (*x == 1 && op == "mul")))
    return b;
  return add({op, {a, b}});
}

Expr Program::select(Expr condition, Expr a, Expr b) {
  if (auto c = getConstant(condition))
    return *c ? a : b;
  return add({"select", {condition, a, b}});
}

int Program::addValue(Value value) {
  values.push_back(std::move(value));
  return static_cast<int>(values.size()) - 1;
}

int Program::addFaults(size_t sites) {
  int value = addValue({"fault", "i64", {}});
  resizeFaults(value, sites);
  return value;
}

void Program::resizeFaults(int value, size_t sites) { values[value].shape = {constant(int64_t(2 * sites))}; }

Expr Program::sizeOf(int value, unsigned elementBytes) {
  Expr size = constant(elementBytes);
  for (unsigned d = 0; d < values[value].shape.size(); ++d)
    size = binary("mul", size, dim(value, d));
  return size;
}

static json toJson(const Step &s) {
  json args = json::array();
  for (const Arg &a : s.args)
    args.push_back({a.kind == Arg::Value ? "value" : "expr", a.index});
  json j = {{"kernel", s.kernel}, {"args", args},     {"grid", s.grid},  {"scratch", s.scratch},
            {"chain", s.chain},   {"flops", s.flops}, {"bytes", s.bytes}};
  if (s.faults >= 0) {
    json sites = json::array();
    for (const FaultSite &site : s.sites)
      sites.push_back({site.kind, site.what, site.loc});
    j["faults"] = {{"value", s.faults}, {"sites", sites}};
  }
  return j;
}

// Three digits say all that an estimate knows.
static double rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return std::strtod(text, nullptr);
}

static json toJson(const Node &n) {
  json versions = json::array();
  for (const Version &v : n.versions) {
    json steps = json::array();
    for (const Step &s : v.steps)
      steps.push_back(toJson(s));
    if (n.flops >= 0 && !steps.empty())
      steps[0]["flops"] = n.flops;
    json version = {{"target", v.target}, {"steps", steps}, {"temps", v.temps}, {"note", v.note}};
    if (v.expected) {
      version["expected"] = {rounded(v.expected->launch), rounded(v.expected->work)};
      if (v.expected->times >= 0)
        version["expected"].push_back(v.expected->times);
    }
    versions.push_back(std::move(version));
  }
  json j = {{"name", n.name},   {"loc", n.loc},         {"after", n.after},
            {"reads", n.reads}, {"writes", n.writes},   {"depth", n.depth},
            {"cost", n.cost},   {"versions", versions}, {"criticality", n.criticality}};
  if (!n.layout.empty())
    j["layout"] = n.layout;
  for (const ExtentCheck &check : n.checks)
    j["checks"].push_back({check.got, check.expected, check.text});
  return j;
}

static json toJson(const Value &v) {
  json j = {{"kind", v.kind}, {"type", v.type}, {"shape", v.shape}};
  if (v.kind == "alias")
    j["of"] = v.of;
  if (v.kind == "const") {
    j["offset"] = v.offset;
    j["bytes"] = v.bytes;
  }
  if (v.kind == "state") {
    j["init"] = v.init;
    j["next"] = v.next;
  }
  return j;
}

static json programJson(const Program &p, const json &exprs) {
  json inputs = json::array(), outputs = json::array(), vs = json::array(), ns = json::array();
  auto port = [&](const std::string &name, int value) {
    json j = {{"name", name}, {"value", value}};
    if (p.unsignedPorts.count(name))
      j["unsigned"] = true;
    if (auto it = p.words.find(name); it != p.words.end())
      j["words"] = it->second;
    return j;
  };
  for (auto &[n, v] : p.inputs)
    inputs.push_back(port(n, v));
  for (auto &[n, v] : p.outputs)
    outputs.push_back(port(n, v));
  for (const Value &v : p.values)
    vs.push_back(toJson(v));
  for (const Node &n : p.nodes)
    ns.push_back(toJson(n));
  json j = {{"name", p.name}, {"inputs", inputs}, {"outputs", outputs},
            {"exprs", exprs}, {"values", vs},     {"nodes", ns}};
  for (const ExtentCheck &check : p.checks)
    j["checks"].push_back({check.got, check.expected, check.text, check.name});
  if (!p.reuse)
    j["reuse"] = 0;
  if (p.align != 64)
    j["align"] = p.align;
  return j;
}

std::string Program::json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const Op &e : exprs) {
    nlohmann::json j = nlohmann::json::array({e.op});
    for (int64_t o : e.operands)
      j.push_back(o);
    list.push_back(j);
  }
  return dumpJson(programJson(*this, list));
}

std::string tessera::plan::planJson(const std::vector<Program> &programs) {
  std::string text = "{\"version\":3,\"abi\":1,\"programs\":[";
  for (size_t i = 0; i < programs.size(); ++i)
    text += (i ? "," : "") + programs[i].json();
  return text + "]}";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From data to the JSON of the section `plan`; the inverse of PlanParse.cpp.
#include "tessera/base/Json.h"
#include "tessera/runtime/plan/Plan.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace tessera {

using Json = nlohmann::json;

static Json exprJson(const Expr &expr) {
  Json json = Json::array({exprOpName(expr.op)});
  switch (expr.op) {
  case ExprOp::Const:
    json.push_back(expr.constant);
    return json;
  case ExprOp::Load:
    json.push_back(expr.a);
    return json;
  default:
    for (int32_t operand : {expr.a, expr.b, expr.c})
      if (operand >= 0)
        json.push_back(operand);
    return json;
  }
}

static Json valueJson(const ValueInfo &value) {
  Json json = {
      {"kind", valueKindName(value.kind)}, {"type", elementTypeName(value.type)}, {"shape", value.shape}};
  if (value.kind == ValueKind::Alias)
    json["of"] = value.of;
  if (value.kind == ValueKind::Const) {
    json["offset"] = value.offset;
    json["bytes"] = value.bytes;
  }
  if (value.kind == ValueKind::State) {
    json["init"] = value.init;
    json["next"] = value.next;
  }
  return json;
}

static Json argJson(const StepArg &arg) {
  Json json = Json::array({arg.isValue ? "value" : "expr", arg.index});
  if (!arg.isValue && arg.type != ElementType::I64)
    json.push_back(elementTypeName(arg.type));
  return json;
}

static Json stepJson(const Step &step) {
  Json args = Json::array();
  for (const StepArg &arg : step.args)
    args.push_back(argJson(arg));
  Json json = {{"kernel", step.kernel}, {"args", args}, {"grid", step.grid}, {"chain", step.chain}};
  for (auto [key, expr] : {std::pair("scratch", step.scratch), std::pair("flops", step.flops),
                           std::pair("bytes", step.bytes), std::pair("shared", step.shared)})
    if (expr >= 0)
      json[key] = expr;
  for (auto [key, extents] : {std::pair("block", &step.block), std::pair("cluster", &step.cluster)})
    if (extents->front() >= 0)
      json[key] = *extents;
  if (!step.own.empty())
    json["own"] = parseJson(step.own);
  if (step.faults >= 0) {
    Json sites = Json::array();
    for (const FaultSite &site : step.sites)
      sites.push_back({faultKindName(site.kind), site.what, site.loc});
    json["faults"] = {{"value", step.faults}, {"sites", sites}};
  }
  return json;
}

// Three digits say all that an estimate knows.
static double rounded(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return std::strtod(text, nullptr);
}

static Json nodeJson(const Node &node) {
  Json versions = Json::array();
  for (const Version &version : node.versions) {
    Json steps = Json::array();
    for (const Step &step : version.steps)
      steps.push_back(stepJson(step));
    Json one = {
        {"target", version.target}, {"steps", steps}, {"temps", version.temps}, {"note", version.note}};
    if (const auto &expected = version.expected) {
      one["expected"] = {rounded(expected->launch), rounded(expected->work)};
      if (expected->times >= 0)
        one["expected"].push_back(expected->times);
    }
    versions.push_back(one);
  }
  Json json = {{"name", node.name},   {"loc", node.loc},       {"after", node.after},
               {"reads", node.reads}, {"writes", node.writes}, {"depth", node.depth},
               {"cost", node.cost},   {"versions", versions},  {"criticality", node.criticality}};
  if (!node.layout.empty())
    json["layout"] = node.layout;
  for (const ExtentCheck &check : node.checks)
    json["checks"].push_back({check.got, check.expected, check.text});
  return json;
}

static Json portsJson(const std::vector<Port> &ports) {
  Json list = Json::array();
  for (const Port &port : ports) {
    Json json = {{"name", port.name}, {"value", port.value}};
    if (port.isUnsigned)
      json["unsigned"] = true;
    if (!port.words.empty())
      json["words"] = port.words;
    list.push_back(json);
  }
  return list;
}

static Json programJson(const ProgramPlan &program) {
  Json exprs = Json::array(), values = Json::array(), nodes = Json::array();
  for (const Expr &expr : program.exprs)
    exprs.push_back(exprJson(expr));
  for (const ValueInfo &value : program.values)
    values.push_back(valueJson(value));
  for (const Node &node : program.nodes)
    nodes.push_back(nodeJson(node));
  Json json = {{"name", program.name}, {"inputs", portsJson(program.inputs)},
               {"exprs", exprs},       {"outputs", portsJson(program.outputs)},
               {"values", values},     {"nodes", nodes}};
  for (const ExtentCheck &check : program.checks)
    json["checks"].push_back({check.got, check.expected, check.text, check.name});
  if (!program.reuse)
    json["reuse"] = 0;
  if (program.align != 64)
    json["align"] = program.align;
  return json;
}

std::string writePlan(const Plan &plan) {
  std::string text = concat("{\"version\":", planVersion, ",\"abi\":", kernelAbiVersion, ",\"programs\":[");
  // A program at a time: a plan may be large.
  for (size_t i = 0; i < plan.programs.size(); ++i)
    text += (i ? "," : "") + dumpJson(programJson(plan.programs[i]));
  return text + "]}";
}

} // namespace tessera

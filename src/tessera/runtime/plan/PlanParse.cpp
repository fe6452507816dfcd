// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the JSON of the section `plan` to data, with every field's type and every index
// checked. What needs the whole program is checked in PlanCheck.cpp.
#include "tessera/base/Json.h"
#include "tessera/runtime/plan/Plan.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tessera {

using Json = nlohmann::json;

static constexpr size_t maxItems = 1 << 20, maxRank = 16, maxName = 4096;

static constexpr struct {
  std::string_view name;
  ExprOp op;
  int operands;
} exprOps[] = {{"const", ExprOp::Const, 1},
               {"dim", ExprOp::Dim, 2},
               {"load", ExprOp::Load, 1},
               {"add", ExprOp::Add, 2},
               {"sub", ExprOp::Sub, 2},
               {"mul", ExprOp::Mul, 2},
               {"floordiv", ExprOp::FloorDiv, 2},
               {"ceildiv", ExprOp::CeilDiv, 2},
               {"mod", ExprOp::Mod, 2},
               {"min", ExprOp::Min, 2},
               {"max", ExprOp::Max, 2},
               {"eq", ExprOp::Eq, 2},
               {"ne", ExprOp::Ne, 2},
               {"lt", ExprOp::Lt, 2},
               {"le", ExprOp::Le, 2},
               {"and", ExprOp::And, 2},
               {"or", ExprOp::Or, 2},
               {"xor", ExprOp::Xor, 2},
               {"select", ExprOp::Select, 3}};

std::string_view exprOpName(ExprOp op) { return exprOps[static_cast<size_t>(op)].name; }

static constexpr std::string_view valueKinds[] = {"input", "temp", "const", "alias", "state", "fault"};

std::string_view valueKindName(ValueKind kind) { return valueKinds[static_cast<size_t>(kind)]; }

namespace {
/// Reads fields of JSON objects; the first failure is kept and everything after it does nothing.
class Reader {
public:
  Status status;
  int64_t version = planVersion; ///< Of the plan: what it may hold.
  std::string where;             ///< "program 'edges': node 'gaussian'": for messages.

  template <typename... Ts> void error(const Ts &...parts) {
    if (status.ok())
      status = fail(StatusCode::Corrupt, "plan: ", where.empty() ? "" : where + ": ", parts...);
  }

  const Json *field(const Json &object, const char *key, bool required = true) {
    auto it = object.find(key);
    if (it != object.end())
      return &*it;
    if (required)
      error("field '", key, "' is missing");
    return nullptr;
  }

  const Json *array(const Json &object, const char *key, bool required = true) {
    const Json *found = field(object, key, required);
    if (!found)
      return nullptr;
    if (!found->is_array() || found->size() > maxItems) {
      error("field '", key, "': expected an array of at most ", maxItems, " items");
      return nullptr;
    }
    return found;
  }

  int64_t integer(const Json &value, const char *what, int64_t low, int64_t high) {
    int64_t result = low;
    bool good = false;
    if (value.is_number_unsigned()) {
      uint64_t raw = value.get<uint64_t>();
      good = raw <= static_cast<uint64_t>(INT64_MAX);
      result = good ? static_cast<int64_t>(raw) : low;
    } else if (value.is_number_integer()) {
      result = value.get<int64_t>();
      good = true;
    }
    if (!good) {
      error(what, ": expected an integer");
      return low;
    }
    if (result < low || result > high) {
      error(what, ": expected a number from ", low, " to ", high, ", but got ", result);
      return low;
    }
    return result;
  }

  /// An index into a list of `count` things called `what`.
  int32_t index(const Json &value, const char *what, size_t count) {
    if (count == 0) {
      error(what, ": there is nothing to refer to");
      return 0;
    }
    return static_cast<int32_t>(integer(value, what, 0, static_cast<int64_t>(count) - 1));
  }

  std::string text(const Json &object, const char *key, bool required = true) {
    const Json *found = field(object, key, required);
    if (!found)
      return "";
    if (!found->is_string() || found->get_ref<const std::string &>().size() > maxName * 16) {
      error("field '", key, "': expected a string");
      return "";
    }
    return found->get<std::string>();
  }

  std::string name(const Json &object) {
    std::string result = text(object, "name");
    if (status.ok() && (result.empty() || result.size() > maxName))
      error("field 'name': expected 1 to ", maxName, " characters");
    return result;
  }

  std::vector<int32_t> indices(const Json &object, const char *key, size_t count, bool required = true) {
    std::vector<int32_t> result;
    if (const Json *list = array(object, key, required))
      for (const Json &item : *list)
        result.push_back(index(item, key, count));
    return result;
  }
};
} // namespace

static Expr readExpr(Reader &reader, const Json &json, size_t position, size_t values) {
  Expr expr;
  if (!json.is_array() || json.empty() || !json[0].is_string()) {
    reader.error("expected [\"operation\", operands…]");
    return expr;
  }
  const std::string &op = json[0].get_ref<const std::string &>();
  for (const auto &entry : exprOps) {
    if (entry.name != op)
      continue;
    expr.op = entry.op;
    if (json.size() != static_cast<size_t>(entry.operands) + 1) {
      reader.error("'", op, "' expects ", entry.operands, " operands, but got ", json.size() - 1);
      return expr;
    }
    if (expr.op == ExprOp::Const) {
      expr.constant = reader.integer(json[1], "constant", INT64_MIN, INT64_MAX);
    } else if (expr.op == ExprOp::Dim || expr.op == ExprOp::Load) {
      expr.a = reader.index(json[1], "value", values);
      if (expr.op == ExprOp::Dim)
        expr.b = static_cast<int32_t>(reader.integer(json[2], "dimension", 0, maxRank - 1));
    } else {
      int32_t *operands[] = {&expr.a, &expr.b, &expr.c};
      for (int i = 0; i < entry.operands; ++i)
        *operands[i] = reader.index(json[static_cast<size_t>(i) + 1], "operand (an earlier expr)", position);
    }
    return expr;
  }
  reader.error("unknown operation '", op.substr(0, 64), "'");
  return expr;
}

static ValueInfo readValue(Reader &reader, const Json &json, size_t values, size_t exprs) {
  ValueInfo value;
  if (!json.is_object()) {
    reader.error("expected an object");
    return value;
  }
  std::string kind = reader.text(json, "kind"), type = reader.text(json, "type");
  if (!reader.status.ok())
    return value;
  if (auto parsed = parseElementType(type))
    value.type = *parsed;
  else
    reader.error("unknown type '", type.substr(0, 64), "'");
  if (const auto *known = std::ranges::find(valueKinds, kind); known != std::end(valueKinds))
    value.kind = static_cast<ValueKind>(known - valueKinds);
  else
    reader.error("unknown kind '", kind.substr(0, 64), "'");
  const Json *shape = reader.array(json, "shape");
  if (!shape)
    return value;
  if (shape->size() > maxRank) {
    reader.error("expected a rank of at most ", maxRank, ", but got ", shape->size());
    return value;
  }
  for (const Json &extent : *shape)
    value.shape.push_back(value.kind == ValueKind::Input ? reader.integer(extent, "extent", -1, INT64_MAX)
                                                         : reader.index(extent, "extent (an expr)", exprs));
  auto valueIndex = [&](const char *key) {
    const Json *field = reader.field(json, key);
    return field ? reader.index(*field, key, values) : -1;
  };
  if (value.kind == ValueKind::Alias)
    value.of = valueIndex("of");
  if (value.kind == ValueKind::State) {
    value.init = valueIndex("init");
    value.next = valueIndex("next");
  }
  if (value.kind == ValueKind::Const) {
    if (const Json *field = reader.field(json, "offset"))
      value.offset = static_cast<uint64_t>(reader.integer(*field, "offset", 0, INT64_MAX));
    if (const Json *field = reader.field(json, "bytes"))
      value.bytes = static_cast<uint64_t>(reader.integer(*field, "bytes", 0, INT64_MAX));
  }
  return value;
}

static void readFaultSites(Reader &reader, const Json &json, const ProgramPlan &program, Step &step) {
  const Json *value = json.is_object() ? reader.field(json, "value") : nullptr;
  const Json *sites = value ? reader.array(json, "sites") : nullptr;
  if (!sites) {
    reader.error("field 'faults': expected an object");
    return;
  }
  step.faults = reader.index(*value, "faults (a value)", program.values.size());
  for (const Json &item : *sites) {
    bool isSite = item.is_array() && item.size() == 3 && item[0].is_string() && item[1].is_string() &&
                  item[2].is_string();
    std::optional<FaultKind> kind =
        isSite ? parseFaultKind(item[0].get_ref<const std::string &>()) : std::nullopt;
    if (!kind) {
      reader.error("field 'faults': expected [kind, \"what\", \"where\"]");
      return;
    }
    step.sites.push_back({*kind, item[1].get<std::string>(), item[2].get<std::string>()});
  }
}

// Written as text again, which is recursive, so nesting has a limit.
static std::string readOwn(Reader &reader, const Json &json) {
  constexpr size_t maxDepth = 32, maxText = 65536;
  std::vector<std::pair<const Json *, size_t>> left = {{&json, 1}};
  bool good = json.is_object();
  while (good && !left.empty()) {
    auto [value, depth] = left.back();
    left.pop_back();
    good = depth <= maxDepth;
    if (value->is_structured())
      for (const Json &item : *value)
        left.emplace_back(&item, depth + 1);
  }
  std::string text = good ? dumpJson(json) : std::string();
  if (good && text.size() <= maxText)
    return text;
  reader.error("field 'own': expected an object of at most ", maxText, " bytes, nested at most ", maxDepth,
               " deep");
  return "";
}

// The type that a number is passed as: ["expr", i, "i32"].
static ElementType readArgType(Reader &reader, const Json &arg, size_t position) {
  if (arg.size() < 3)
    return ElementType::I64;
  std::optional<ElementType> type =
      arg[2].is_string() ? parseElementType(arg[2].get_ref<const std::string &>()) : std::nullopt;
  if (!type || arg[0] != "expr" || !isIntegerType(*type)) {
    reader.error("argument ", position, ": expected [\"expr\", i, \"type\"] with a type of integers");
    return ElementType::I64;
  }
  return *type;
}

static Step readStep(Reader &reader, const Json &json, const ProgramPlan &program) {
  Step step;
  if (!json.is_object()) {
    reader.error("expected an object");
    return step;
  }
  step.kernel = reader.text(json, "kernel");
  if (const Json *args = reader.array(json, "args"))
    for (const Json &arg : *args) {
      if (!arg.is_array() || (arg.size() != 2 && (arg.size() != 3 || reader.version < 3)) ||
          !arg[0].is_string() || (arg[0] != "value" && arg[0] != "expr")) {
        reader.error("argument ", step.args.size(), ": expected [\"value\", i] or [\"expr\", i]");
        return step;
      }
      bool isValue = arg[0] == "value";
      step.args.push_back({isValue,
                           reader.index(arg[1], isValue ? "argument (a value)" : "argument (an expr)",
                                        isValue ? program.values.size() : program.exprs.size()),
                           readArgType(reader, arg, step.args.size())});
    }
  auto extents = [&](const char *key, std::array<int32_t, 3> &out, bool required) {
    const Json *list = reader.array(json, key, required);
    if (list && list->size() != 3)
      reader.error("expected a ", key, " of 3 exprs, but got ", list->size());
    for (size_t d = 0; list && list->size() == 3 && d < 3; ++d)
      out[d] = reader.index((*list)[d], concat(key, " (an expr)").c_str(), program.exprs.size());
  };
  extents("grid", step.grid, /*required=*/true);
  auto optional = [&](const char *key) {
    const Json *field = reader.field(json, key, false);
    return field && !field->is_null() ? reader.index(*field, key, program.exprs.size()) : -1;
  };
  step.scratch = optional("scratch");
  step.flops = optional("flops");
  step.bytes = optional("bytes");
  if (reader.version >= 3) {
    extents("block", step.block, /*required=*/false);
    extents("cluster", step.cluster, /*required=*/false);
    step.shared = optional("shared");
    if (const Json *own = reader.field(json, "own", false))
      step.own = readOwn(reader, *own);
  }
  if (const Json *chain = reader.field(json, "chain", false)) {
    if (!chain->is_boolean())
      reader.error("field 'chain': expected true or false");
    else
      step.chain = chain->get<bool>();
  }
  if (const Json *faults = reader.field(json, "faults", false))
    readFaultSites(reader, *faults, program, step);
  return step;
}

static std::vector<ExtentCheck> readChecks(Reader &reader, const Json &json, const ProgramPlan &program,
                                           bool named) {
  std::vector<ExtentCheck> checks;
  const Json *list = reader.array(json, "checks", false);
  for (size_t i = 0; list && i < list->size(); ++i) {
    const Json &item = (*list)[i];
    if (!item.is_array() || item.size() != (named ? 4 : 3) || !item[2].is_string() ||
        (named && !item[3].is_string())) {
      reader.error("field 'checks': expected [expr, expr, \"text\"", named ? ", \"name\"]" : "]");
      break;
    }
    checks.push_back({reader.index(item[0], "checks (an expr)", program.exprs.size()),
                      reader.index(item[1], "checks (an expr)", program.exprs.size()),
                      item[2].get<std::string>(), named ? item[3].get<std::string>() : std::string()});
  }
  return checks;
}

static std::optional<Expected> readExpected(Reader &reader, const Json &json, const ProgramPlan &program) {
  const Json *list = reader.field(json, "expected", false);
  if (!list)
    return std::nullopt;
  auto isTime = [](const Json &item) {
    return item.is_number() && item.get<double>() >= 0 && std::isfinite(item.get<double>());
  };
  if (!list->is_array() || list->size() < 2 || list->size() > 3 || !isTime((*list)[0]) ||
      !isTime((*list)[1])) {
    reader.error(
        "field 'expected': expected [microseconds, microseconds] or [microseconds, microseconds, expr]");
    return std::nullopt;
  }
  Expected expected{(*list)[0].get<double>(), (*list)[1].get<double>(), -1};
  if (list->size() == 3)
    expected.times = reader.index((*list)[2], "expected (an expr)", program.exprs.size());
  return expected;
}

static Node readNode(Reader &reader, const Json &json, const ProgramPlan &program, size_t position) {
  Node node;
  if (!json.is_object()) {
    reader.error("expected an object");
    return node;
  }
  node.name = reader.name(json);
  std::string outer = reader.where;
  reader.where += concat(" '", node.name, "'");
  node.loc = reader.text(json, "loc", false);
  node.layout = reader.text(json, "layout", false);
  if (const Json *after = reader.array(json, "after", false))
    for (const Json &item : *after)
      node.after.push_back(reader.index(item, "after (an earlier node)", position));
  node.reads = reader.indices(json, "reads", program.values.size());
  node.writes = reader.indices(json, "writes", program.values.size());
  if (const Json *depth = reader.field(json, "depth", false))
    node.depth = static_cast<int32_t>(reader.integer(*depth, "depth", 1, 1 << 20));
  if (const Json *criticality = reader.field(json, "criticality", false))
    node.criticality =
        static_cast<int32_t>(reader.integer(*criticality, "criticality", INT32_MIN, INT32_MAX));
  if (const Json *cost = reader.field(json, "cost", false)) {
    if (!cost->is_number() || !(cost->get<double>() >= 0) || !std::isfinite(cost->get<double>()))
      reader.error("field 'cost': expected a number that is not negative");
    else
      node.cost = cost->get<double>();
  }
  node.checks = readChecks(reader, json, program, /*named=*/false);
  const Json *versions = reader.array(json, "versions");
  if (versions && versions->empty())
    reader.error("expected at least one version");
  for (size_t v = 0; versions && v < versions->size() && reader.status.ok(); ++v) {
    const Json &item = (*versions)[v];
    if (!item.is_object()) {
      reader.error("version ", v, ": expected an object");
      break;
    }
    Version version;
    version.target = reader.text(item, "target");
    version.note = reader.text(item, "note", false);
    version.expected = readExpected(reader, item, program);
    version.temps = reader.indices(item, "temps", program.values.size(), false);
    std::string nodeWhere = reader.where;
    if (const Json *steps = reader.array(item, "steps"))
      for (size_t s = 0; s < steps->size() && reader.status.ok(); ++s) {
        reader.where = concat(nodeWhere, ": version ", v, ": step ", s);
        version.steps.push_back(readStep(reader, (*steps)[s], program));
      }
    reader.where = nodeWhere;
    if (!version.steps.empty() && version.steps[0].chain)
      reader.error("version ", v, ": the first step cannot be a chain");
    node.versions.push_back(std::move(version));
  }
  reader.where = outer;
  return node;
}

static std::vector<Port> readPorts(Reader &reader, const Json &json, const char *key, size_t values) {
  std::vector<Port> ports;
  const Json *list = reader.array(json, key);
  for (size_t i = 0; list && i < list->size() && reader.status.ok(); ++i) {
    const Json &item = (*list)[i];
    if (!item.is_object()) {
      reader.error(key, ": expected an object");
      break;
    }
    Port port;
    port.name = reader.name(item);
    if (const Json *value = reader.field(item, "value"))
      port.value = reader.index(*value, "value", values);
    if (const Json *isUnsigned = reader.field(item, "unsigned", false)) {
      if (!isUnsigned->is_boolean())
        reader.error(key, ": 'unsigned' of '", port.name, "': expected true or false");
      else
        port.isUnsigned = isUnsigned->get<bool>();
    }
    if (const Json *words = reader.field(item, "words", false)) {
      if (!words->is_array() ||
          !std::all_of(words->begin(), words->end(), [](const Json &w) { return w.is_string(); }))
        reader.error(key, ": 'words' of '", port.name, "': expected a list of strings");
      else
        port.words = words->get<std::vector<std::string>>();
    }
    for (const Port &other : ports)
      if (other.name == port.name)
        reader.error(key, ": name '", port.name, "' occurs twice");
    ports.push_back(std::move(port));
    if (ports.size() > 4096)
      reader.error(key, ": more than 4096 are not supported");
  }
  return ports;
}

static ProgramPlan readProgram(Reader &reader, const Json &json) {
  ProgramPlan program;
  if (!json.is_object()) {
    reader.error("expected an object");
    return program;
  }
  program.name = reader.name(json);
  std::string outer = concat("program '", program.name, "'");
  reader.where = outer;
  if (const Json *reuse = reader.field(json, "reuse", false))
    program.reuse = reader.integer(*reuse, "reuse", 0, 1) != 0;
  if (const Json *align = reader.field(json, "align", false))
    program.align = static_cast<uint64_t>(reader.integer(*align, "align", 1, 64));
  const Json *values = reader.array(json, "values"), *exprs = reader.array(json, "exprs");
  const Json *nodes = reader.array(json, "nodes");
  if (!values || !exprs || !nodes)
    return program;
  for (size_t i = 0; i < exprs->size() && reader.status.ok(); ++i) {
    reader.where = concat(outer, ": expr ", i);
    program.exprs.push_back(readExpr(reader, (*exprs)[i], i, values->size()));
  }
  for (size_t i = 0; i < values->size() && reader.status.ok(); ++i) {
    reader.where = concat(outer, ": value ", i);
    program.values.push_back(readValue(reader, (*values)[i], values->size(), exprs->size()));
  }
  reader.where = outer;
  program.inputs = readPorts(reader, json, "inputs", values->size());
  program.outputs = readPorts(reader, json, "outputs", values->size());
  for (size_t i = 0; i < nodes->size() && reader.status.ok(); ++i) {
    reader.where = concat(outer, ": node");
    program.nodes.push_back(readNode(reader, (*nodes)[i], program, i));
  }
  reader.where = outer;
  program.checks = readChecks(reader, json, program, /*named=*/true);
  return program;
}

Result<Plan> parsePlan(std::string_view text, uint64_t constBytes) {
  Json json = parseJson(text);
  if (json.is_discarded() || !json.is_object())
    return fail(StatusCode::Corrupt, "plan: not a JSON object");
  Reader reader;
  for (auto [key, oldest, known] : {std::tuple("version", oldestPlanVersion, planVersion),
                                    std::tuple("abi", kernelAbiVersion, kernelAbiVersion)}) {
    const Json *field = reader.field(json, key);
    if (!field)
      return reader.status;
    if (!field->is_number_integer() || *field < oldest || *field > known)
      return fail(StatusCode::Unsupported, "plan: ", key, " ", field->dump().substr(0, 32),
                  " is not supported; this tessera reads ", key, " ", known, "; install the program again");
    if (key == std::string_view("version"))
      reader.version = field->get<int64_t>();
  }
  Plan plan;
  const Json *programs = reader.array(json, "programs");
  for (size_t i = 0; programs && i < programs->size() && reader.status.ok(); ++i) {
    reader.where = concat("program ", i);
    ProgramPlan program = readProgram(reader, (*programs)[i]);
    if (!reader.status.ok())
      break;
    if (Status status = checkProgram(program, constBytes); !status.ok())
      return status.withContext(concat("plan: program '", program.name, "'"));
    if (plan.find(program.name) >= 0)
      reader.error("name '", program.name, "' occurs twice");
    plan.programs.push_back(std::move(program));
  }
  if (reader.status.ok() && plan.programs.empty())
    reader.error("expected at least one program");
  if (!reader.status.ok())
    return reader.status;
  return plan;
}

int32_t Plan::find(std::string_view name) const {
  for (size_t i = 0; i < programs.size(); ++i)
    if (programs[i].name == name)
      return static_cast<int32_t>(i);
  return -1;
}

static int32_t findPort(const std::vector<Port> &ports, std::string_view name) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].name == name)
      return static_cast<int32_t>(i);
  return -1;
}

int32_t ProgramPlan::findInput(std::string_view name) const { return findPort(inputs, name); }
int32_t ProgramPlan::findOutput(std::string_view name) const { return findPort(outputs, name); }

} // namespace tessera

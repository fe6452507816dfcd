// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan reader: one wrong thing at a time, each with its message; and the writer, its inverse.
#include "tessera/runtime/Testing.h"
#include "tessera/runtime/plan/Expr.h"

using namespace tessera;
using namespace tessera::testing;

static PlanBuilder good() {
  PlanBuilder b;
  int x = b.input("x", {-1});
  int n = b.dim(x, 0), out = b.temp({n});
  b.simple("n0", "k_add1", {x}, {out}, {{"value", x}, {"value", out}}, n);
  b.output("out", out);
  return b;
}

static std::string errorOf(const Json &plan, uint64_t constBytes = 0) {
  auto parsed = parsePlan(plan.dump(), constBytes);
  EXPECT_FALSE(parsed.ok());
  return parsed.status().message();
}

// Applies `change` to the program of a good plan and expects `message` after the program's prefix.
static void expectError(const std::function<void(Json &)> &change, const std::string &message) {
  Json plan = good().plan();
  change(plan["programs"][0]);
  EXPECT_EQ(errorOf(plan), "plan: program 'test': " + message);
}

TEST(Plan, AcceptsAGoodOne) {
  auto plan = parsePlan(good().plan().dump(), 0);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->programs[0].findInput("x"), 0);
  EXPECT_EQ(plan->programs[0].findOutput("x"), -1);
}

TEST(Plan, WholeFile) {
  EXPECT_EQ(parsePlan("{", 0).status().message(), "plan: not a JSON object");
  EXPECT_EQ(parsePlan("[]", 0).status().message(), "plan: not a JSON object");
  EXPECT_EQ(parsePlan(std::string(100000, '['), 0).status().message(), "plan: not a JSON object");
  EXPECT_EQ(errorOf({{"abi", 1}}), "plan: field 'version' is missing");
  EXPECT_EQ(errorOf({{"version", 4}, {"abi", 1}}),
            "plan: version 4 is not supported; this tessera reads version 3; install the program again");
  EXPECT_EQ(errorOf({{"version", 1}, {"abi", 3}}),
            "plan: abi 3 is not supported; this tessera reads abi 1; install the program again");
  EXPECT_EQ(errorOf({{"version", 1}, {"abi", 1}, {"programs", Json::array()}}),
            "plan: expected at least one program");
  Json twice = good().plan();
  twice["programs"].push_back(twice["programs"][0]);
  EXPECT_EQ(errorOf(twice), "plan: program 'test': name 'test' occurs twice");
}

TEST(Plan, Exprs) {
  expectError([](Json &p) { p["exprs"][0] = {"dim", 9, 0}; },
              "expr 0: value: expected a number from 0 to 1, but got 9");
  expectError([](Json &p) { p["exprs"][0] = {"dim", 0, 1}; },
              "expr 0: dimension 1 of value 0, which has rank 1");
  expectError([](Json &p) { p["exprs"][0] = {"frob", 0}; }, "expr 0: unknown operation 'frob'");
  expectError([](Json &p) { p["exprs"][0] = {"dim", 0}; }, "expr 0: 'dim' expects 2 operands, but got 1");
  expectError([](Json &p) { p["exprs"][0] = 5; }, "expr 0: expected [\"operation\", operands…]");
  expectError([](Json &p) { p["exprs"][1] = {"add", 0, 1}; },
              "expr 1: operand (an earlier expr): expected a number from 0 to 0, but got 1");
  expectError([](Json &p) { p["exprs"][0] = {"const", 1.5}; }, "expr 0: constant: expected an integer");
  expectError([](Json &p) { p["exprs"][0] = {"dim", 1, 0}; },
              "expr 0: asks for an extent of value 1 that is defined by a later expr");
  expectError([](Json &p) { p["exprs"][1] = {"load", 0}; },
              "expr 1: 'load' expects a scalar of integer type, but value 0 is f32 of rank 1");
}

TEST(Plan, Values) {
  expectError([](Json &p) { p["values"][1]["type"] = "u9"; }, "value 1: unknown type 'u9'");
  expectError([](Json &p) { p["values"][1]["kind"] = "thing"; }, "value 1: unknown kind 'thing'");
  expectError([](Json &p) { p["values"][1]["shape"] = {7}; },
              "value 1: extent (an expr): expected a number from 0 to 1, but got 7");
  expectError([](Json &p) { p["values"][0]["shape"] = {-2}; },
              "value 0: extent: expected a number from -1 to 9223372036854775807, but got -2");
  expectError([](Json &p) { p["values"][1]["shape"] = std::vector<int>(17, 0); },
              "value 1: expected a rank of at most 16, but got 17");
  expectError(
      [](Json &p) { p["values"][1] = {{"kind", "alias"}, {"type", "f32"}, {"shape", {0}}, {"of", 1}}; },
      "value 1: an alias must name an earlier value, but got 1");
  expectError(
      [](Json &p) {
        p["values"].push_back(
            {{"kind", "const"}, {"type", "f32"}, {"shape", {0}}, {"offset", 0}, {"bytes", 4}});
      },
      "value 2: constant of 4 bytes at 0 lies outside the section of 0 bytes");
  expectError(
      [](Json &p) {
        p["values"].push_back(
            {{"kind", "const"}, {"type", "f32"}, {"shape", {0}}, {"offset", 4}, {"bytes", 4}});
      },
      "value 2: expected an offset that is a multiple of 64, but got 4");
  expectError([](Json &p) { p["values"].push_back({{"kind", "input"}, {"type", "f32"}, {"shape", {1}}}); },
              "value 2 is of kind input, but no input names it");
  expectError(
      [](Json &p) {
        p["values"].push_back({{"kind", "state"}, {"type", "f32"}, {"shape", {0}}, {"init", 1}, {"next", 1}});
      },
      "value 2: a state must start from an input or a constant");
  expectError(
      [](Json &p) {
        p["values"].push_back({{"kind", "state"}, {"type", "f64"}, {"shape", {0}}, {"init", 0}, {"next", 1}});
      },
      "value 2: 'init' and 'next' must have the type of the state, f64");
}

TEST(Plan, Ports) {
  expectError([](Json &p) { p["inputs"][0]["value"] = 1; }, "input 'x': value 1 is not of kind input");
  expectError([](Json &p) { p["inputs"].push_back(p["inputs"][0]); }, "inputs: name 'x' occurs twice");
  expectError([](Json &p) { p["inputs"].push_back({{"name", "y"}, {"value", 0}}); },
              "input 'y': value 0 is bound twice");
  expectError([](Json &p) { p["outputs"][0]["name"] = ""; }, "field 'name': expected 1 to 4096 characters");
  expectError(
      [](Json &p) {
        p["values"].push_back(p["values"][1]);
        p["outputs"][0]["value"] = 2;
      },
      "output 'out': no node writes value 2");
}

TEST(Plan, Nodes) {
  expectError([](Json &p) { p["nodes"][0].erase("reads"); }, "node 'n0': field 'reads' is missing");
  expectError([](Json &p) { p["nodes"][0]["after"] = {0}; },
              "node 'n0': after (an earlier node): there is nothing to refer to");
  expectError([](Json &p) { p["nodes"][0]["versions"] = Json::array(); },
              "node 'n0': expected at least one version");
  expectError([](Json &p) { p["nodes"][0]["depth"] = 0; },
              "node 'n0': depth: expected a number from 1 to 1048576, but got 0");
  expectError([](Json &p) { p["nodes"][0]["cost"] = -1; },
              "node 'n0': field 'cost': expected a number that is not negative");
  expectError([](Json &p) { p["nodes"][0]["checks"] = {{0, 0}}; },
              "node 'n0': field 'checks': expected [expr, expr, \"text\"]");
  expectError([](Json &p) { p["nodes"][0]["reads"] = Json::array(); },
              "node 'n0': kernel 'k_add1' is given value 0, which the node neither reads nor writes");
  expectError([](Json &p) { p["nodes"][0]["versions"][0]["steps"][0]["grid"] = {0}; },
              "node 'n0': version 0: step 0: expected a grid of 3 exprs, but got 1");
  expectError([](Json &p) { p["nodes"][0]["versions"][0]["steps"][0]["args"][0] = {"thing", 0}; },
              "node 'n0': version 0: step 0: argument 0: expected [\"value\", i] or [\"expr\", i]");
  expectError([](Json &p) { p["nodes"][0]["versions"][0]["steps"][0]["chain"] = true; },
              "node 'n0': version 0: the first step cannot be a chain");
  expectError([](Json &p) { p["inputs"][0]["unsigned"] = 1; },
              "inputs: 'unsigned' of 'x': expected true or false");
  for (Json wrong : {Json(1), Json({1}), Json({-1, 0}), Json({"a", 0}), Json({1, 2, 0, 0})})
    expectError([&](Json &p) { p["nodes"][0]["versions"][0]["expected"] = wrong; },
                "node 'n0': field 'expected': expected [microseconds, microseconds] or [microseconds, "
                "microseconds, expr]");
  expectError([](Json &p) { p["nodes"][0]["versions"][0]["expected"] = {1, 2, 9}; },
              "node 'n0': expected (an expr): expected a number from 0 to 1, but got 9");
  expectError([](Json &p) { p["outputs"][0]["words"] = {"a", 1}; },
              "outputs: 'words' of 'out': expected a list of strings");
  expectError([](Json &p) { p["nodes"][0]["versions"][0]["temps"] = {0}; },
              "node 'n0': temps must be values of kind temp, but value 0 is not");
  expectError([](Json &p) { p["nodes"][0]["versions"][0]["temps"] = {1}; },
              "node 'n0' writes value 1, which is private to a version");
}

// What devices that are no CPU need of a step.
static Json forDevices() {
  PlanBuilder b = good();
  int block = b.constant(128), four = b.constant(4), one = b.constant(1), shared = b.constant(49152);
  Json &step = b.nodes[0]["versions"][0]["steps"][0];
  step["block"] = {block, one, one};
  step["cluster"] = {four, one, one};
  step["shared"] = shared;
  step["args"].push_back({"expr", block, "i32"});
  step["own"] = {{"stages", 3}, {"maps", {1, 2}}};
  Json plan = b.plan();
  plan["version"] = 3;
  return plan;
}

TEST(Plan, StepsForDevices) {
  auto plan = parsePlan(forDevices().dump(), 0);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const ProgramPlan &program = plan->programs[0];
  const Step &step = program.nodes[0].versions[0].steps[0];
  EXPECT_EQ(program.exprs[static_cast<size_t>(step.block[0])].constant, 128);
  EXPECT_EQ(program.exprs[static_cast<size_t>(step.cluster[0])].constant, 4);
  EXPECT_EQ(program.exprs[static_cast<size_t>(step.shared)].constant, 49152);
  EXPECT_EQ(step.args[2].type, ElementType::I32);
  EXPECT_EQ(step.args[0].type, ElementType::I64);
  EXPECT_EQ(step.own, R"({"maps":[1,2],"stages":3})");
  auto error = [](const std::function<void(Json &)> &change) {
    Json json = forDevices();
    change(json["programs"][0]["nodes"][0]["versions"][0]["steps"][0]);
    std::string message = errorOf(json), prefix = "plan: program 'test': node 'n0': version 0: step 0: ";
    EXPECT_TRUE(message.starts_with(prefix)) << message;
    return message.substr(std::min(prefix.size(), message.size()));
  };
  EXPECT_EQ(error([](Json &s) { s["block"] = {0}; }), "expected a block of 3 exprs, but got 1");
  EXPECT_EQ(error([](Json &s) { s["block"] = {0, 0, 99}; }),
            "block (an expr): expected a number from 0 to 5, but got 99");
  EXPECT_EQ(error([](Json &s) { s["cluster"] = 4; }),
            "field 'cluster': expected an array of at most 1048576 items");
  EXPECT_EQ(error([](Json &s) { s["shared"] = -1; }), "shared: expected a number from 0 to 5, but got -1");
  const std::string argument = "argument 2: expected [\"expr\", i, \"type\"] with a type of integers";
  EXPECT_EQ(error([](Json &s) { s["args"][2] = {"expr", 0, "f32"}; }), argument);
  EXPECT_EQ(error([](Json &s) { s["args"][2] = {"value", 0, "i32"}; }), argument);
  const std::string own = "field 'own': expected an object of at most 65536 bytes, nested at most 32 deep";
  EXPECT_EQ(error([](Json &s) { s["own"] = {1, 2}; }), own);
  EXPECT_EQ(error([](Json &s) { s["own"] = {{"text", std::string(65536, 'x')}}; }), own);
  EXPECT_EQ(error([](Json &s) {
              Json deep = 1;
              for (int i = 0; i < 40; ++i)
                deep = Json{{"a", deep}};
              s["own"] = deep;
            }),
            own);
}

// All that `given` says stands in `written`, too, which may say more where it is a default.
static void expectCovers(const Json &given, const Json &written, const std::string &where) {
  if (given.is_object()) {
    for (auto &[key, item] : given.items())
      if (written.contains(key))
        expectCovers(item, written[key], where + "." + key);
      else
        ADD_FAILURE() << where << "." << key << " is not written";
    return;
  }
  if (!given.is_array() || given.size() != written.size()) {
    EXPECT_EQ(given, written) << where;
    return;
  }
  for (size_t i = 0; i < given.size(); ++i)
    expectCovers(given[i], written[i], where + "." + std::to_string(i));
}

TEST(Plan, WritesWhatItReads) {
  // A program with everything that a plan may hold.
  PlanBuilder b = good();
  int n = 0, block = b.constant(128), shared = b.expr({"select", block, b.expr({"add", n, block}), block});
  int weights =
      b.value({{"kind", "const"}, {"type", "f32"}, {"shape", {block}}, {"offset", 64}, {"bytes", 512}});
  int other = b.temp({n}),
      state = b.value({{"kind", "state"}, {"type", "f32"}, {"shape", {n}}, {"init", 0}, {"next", other}});
  int size = b.temp({}, "i64"), view = b.alias(other, {n});
  int cells = b.value({{"kind", "fault"}, {"type", "i64"}, {"shape", {b.constant(2)}}});
  Json step = b.step("k_within", {{"value", state}, {"value", other}, {"expr", block}, {"value", cells}}, n);
  step["args"][2].push_back("i32");
  step["block"] = step["cluster"] = {block, block, block};
  step["shared"] = step["scratch"] = step["flops"] = step["bytes"] = shared;
  step["own"] = {{"stages", 3}};
  step["faults"] = {{"value", cells},
                    {"sites", Json::array({Json::array({"length", "rows", "net.mlir:7:3"})})}};
  Json next = b.step("k_add1", {{"value", other}, {"value", other}}, n);
  next["chain"] = true;
  Json version = b.version("cpu", {step, next}, {size});
  version["note"] = "two steps";
  version["expected"] = {2.5, 0.25, block};
  b.node("look", {state, weights, cells, 1}, {other, cells}, Json::array({version}),
         {{"after", {0}},
          {"loc", "net.mlir:7:3"},
          {"layout", "blocks"},
          {"depth", 3},
          {"criticality", 2},
          {"cost", 1.5},
          {"checks", Json::array({Json::array({n, n, "extent 0"})})}});
  b.output("view", view);
  Json plan = b.plan(), &program = plan["programs"][0];
  plan["version"] = planVersion;
  program["outputs"][0]["unsigned"] = true;
  program["outputs"][0]["words"] = {"yes", "no"};
  program["reuse"] = 0;
  program["align"] = 4;
  program["checks"] = Json::array({Json::array({n, n, "extent 0", "cast"})});
  auto parsed = parsePlan(plan.dump(), 1024);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  const std::string text = writePlan(*parsed);
  expectCovers(plan, Json::parse(text), "plan");
  auto again = parsePlan(text, 1024);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(writePlan(*again), text);
  // Kinds and operations have one spelling for both directions.
  for (ValueKind kind : {ValueKind::Input, ValueKind::Temp, ValueKind::Const, ValueKind::Alias,
                         ValueKind::State, ValueKind::Fault})
    EXPECT_NE(text.find("\"kind\":\"" + std::string(valueKindName(kind)) + "\""), std::string::npos);
}

// Older plans load, and what they could not hold is not looked at.
TEST(Plan, OlderVersions) {
  for (int version : {1, 2}) {
    Json json = forDevices();
    json["version"] = version;
    EXPECT_EQ(errorOf(json), "plan: program 'test': node 'n0': version 0: step 0: argument 2: expected "
                             "[\"value\", i] or [\"expr\", i]");
    Json &step = json["programs"][0]["nodes"][0]["versions"][0]["steps"][0];
    step["args"].erase(2);
    auto plan = parsePlan(json.dump(), 0);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan->programs[0].nodes[0].versions[0].steps[0].shared, -1);
    EXPECT_EQ(plan->programs[0].nodes[0].versions[0].steps[0].own, "");
  }
}

TEST(Plan, Checks) {
  expectError([](Json &p) { p["checks"] = {{0, 0, "extent 0"}}; },
              "field 'checks': expected [expr, expr, \"text\", \"name\"]");
  expectError([](Json &p) { p["checks"] = {{0, 99, "extent 0", "cast"}}; },
              "checks (an expr): expected a number from 0 to 1, but got 99");
  // Of sizes that a node makes, after the node.
  PlanBuilder b = good();
  int size = b.temp({}, "i64");
  int loaded = b.expr({"load", size});
  b.simple("count", "k_count", {}, {size}, {{"value", size}}, 0);
  Json json = b.plan();
  json["programs"][0]["checks"] = {{loaded, loaded, "extent 0", "cast"}};
  auto plan = parsePlan(json.dump(), 0);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->programs[0].checks[0].segment, 1);
  EXPECT_EQ(plan->programs[0].segments, 2);
}

TEST(Plan, Segments) {
  PlanBuilder b = good();
  int size = b.temp({}, "i64");
  int loaded = b.expr({"load", size});
  b.values[1]["shape"] = {loaded};
  EXPECT_EQ(errorOf(b.plan()), "plan: program 'test': expr 2: loads value 2, which no node writes");
  b.simple("late", "k_count", {}, {size}, {{"value", size}}, 0);
  EXPECT_EQ(errorOf(b.plan()),
            "plan: program 'test': node 'n0' needs a size that only it or a later node produces");
}

TEST(Expr, Arithmetic) {
  PlanBuilder b = good();
  auto value = [&](const char *op, int64_t x, int64_t y) {
    PlanBuilder one = b;
    int a = one.constant(x), c = one.constant(y), e = one.expr({op, a, c});
    auto plan = parsePlan(one.plan().dump(), 0);
    EXPECT_TRUE(plan.ok());
    ExprValues values;
    int64_t extent[] = {1};
    std::vector<std::span<const int64_t>> dims(2);
    dims[0] = extent;
    values.evaluate(plan->programs[0], 0, dims, {});
    auto result = values.get(e);
    return result.ok() ? std::to_string(*result) : result.status().message();
  };
  EXPECT_EQ(value("floordiv", -7, 2), "-4");
  EXPECT_EQ(value("ceildiv", -7, 2), "-3");
  EXPECT_EQ(value("ceildiv", 7, 2), "4");
  EXPECT_EQ(value("mod", -7, 2), "1");
  EXPECT_EQ(value("mod", 7, -2), "-1");
  EXPECT_EQ(value("mod", INT64_MIN, -1), "0");
  EXPECT_NE(value("floordiv", INT64_MIN, -1).find("overflows"), std::string::npos);
  EXPECT_NE(value("add", INT64_MAX, 1).find("overflows"), std::string::npos);
  EXPECT_NE(value("mod", 1, 0).find("divides by zero"), std::string::npos);
  EXPECT_EQ(value("min", 3, -4), "-4");
  EXPECT_EQ(value("le", 3, 3), "1");
  EXPECT_EQ(value("xor", 6, 3), "5");
}

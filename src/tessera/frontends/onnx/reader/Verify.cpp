// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structure of graphs and functions: names that are used are defined, once and before their use; graphs have
// no cycle, functions do not call themselves; domains are imported. What an operator allows is not known
// here.
#include "tessera/frontends/onnx/reader/Problems.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace tessera::onnx {

namespace {

/// Uses before the definition that are looked into; more than a report shows.
constexpr size_t maxEarlyUses = 100;

/// The names of one graph or function body while its nodes are walked.
struct Scope {
  static constexpr size_t notANode = SIZE_MAX;
  struct Definition {
    const char *kind;       ///< "input", "initializer" or "node".
    size_t node = notANode; ///< Its position, for nodes.
  };
  /// A use of a value that a later node, or the same one, defines.
  struct EarlyUse {
    size_t user, producer;
    std::string_view name;
    std::string label; ///< The node that uses it, which may be in a graph below.
  };

  Scope *outer = nullptr;
  const std::vector<Node> *nodes = nullptr;
  std::unordered_map<std::string_view, Definition> definitions;
  /// Per node, the nodes whose values it uses, itself or in its graphs.
  std::vector<std::vector<size_t>> uses;
  std::vector<EarlyUse> early;
  /// The node being walked; all of `nodes` before it have defined their outputs.
  size_t current = 0;
};

class Verifier {
public:
  Verifier(const Model &model, Problems &problems) : model(model), problems(problems) {}

  void run() {
    opsets(model.opsets, nullptr);
    // Before version 3 of the format, a model had no imports: it meant the first opset.
    if (model.opsets.empty() && model.irVersion >= 3)
      problems.add(nullptr, "imports no opset");
    if (model.irVersion < 1)
      problems.add(nullptr, concat("has IR version ", model.irVersion, ", expected 1 or more"));
    for (const Function &function : model.functions) {
      Context context{.function = &function};
      if (!functions.emplace(key(function.domain, function.name, function.overload), functionIndex(function))
               .second)
        problems.add(&context, "is defined twice");
      functionDomains.insert(function.domain);
    }
    for (const ValueInfo &input : model.graph.inputs)
      if (input.type.kind == Type::Kind::None)
        problems.add(nullptr, concat("graph input '", printable(input.name), "' has no type"));
    graph(model.graph, nullptr, nullptr);
    for (const Function &function : model.functions)
      this->function(function);
    recursion();
  }

private:
  using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;
  static FunctionKey key(std::string_view domain, std::string_view name, std::string_view overload) {
    return {domain, name, overload};
  }

  void opsets(const std::vector<OpsetImport> &imports, const Context *context) {
    std::unordered_map<std::string_view, int64_t> versions;
    for (const OpsetImport &import : imports) {
      std::string domain = import.domain.empty() ? "ai.onnx" : printable(import.domain);
      if (import.version < 1)
        problems.add(context,
                     concat("imports opset ", import.version, " of '", domain, "', expected 1 or more"));
      auto [it, fresh] = versions.emplace(import.domain, import.version);
      if (!fresh && it->second != import.version)
        problems.add(context,
                     concat("imports two opsets of '", domain, "': ", it->second, " and ", import.version));
    }
  }

  void define(Scope &scope, std::string_view name, Scope::Definition definition, const Context *context) {
    auto [it, fresh] = scope.definitions.emplace(name, definition);
    if (fresh)
      return;
    const Scope::Definition &old = it->second;
    // An initializer of an input's name is its default.
    if (std::string_view(definition.kind) == "initializer" && std::string_view(old.kind) == "input") {
      it->second = definition;
      return;
    }
    std::string first = old.node == Scope::notANode
                            ? concat("as ", old.kind)
                            : concat("by ", nodeLabel((*scope.nodes)[old.node], old.node));
    if (definition.node == Scope::notANode)
      problems.add(context, concat(definition.kind, " '", printable(name), "' is already defined ", first));
    else
      problems.add(context, concat("defines '", printable(name), "', which is already defined ", first));
  }

  void use(Scope &scope, std::string_view name, const Context *context, std::string_view what) {
    for (Scope *s = &scope; s; s = s->outer) {
      auto it = s->definitions.find(name);
      if (it == s->definitions.end())
        continue;
      size_t producer = it->second.node;
      if (producer == Scope::notANode)
        return;
      if (s->current >= s->uses.size()) // An output of the graph itself.
        return;
      s->uses[s->current].push_back(producer);
      if (producer >= s->current && s->early.size() < maxEarlyUses)
        s->early.push_back({s->current, producer, name, concat(describe(context), what)});
      return;
    }
    bool isOutput = what != "uses";
    problems.add(context, concat(what, " '", printable(name), "'", isOutput ? " is one that" : ", which",
                                 " no input, initializer or node defines"));
  }

  void graph(const Graph &graph, Scope *outer, const Context *context) {
    Scope scope;
    scope.outer = outer;
    scope.nodes = &graph.nodes;
    for (const ValueInfo &input : graph.inputs) {
      if (input.name.empty())
        problems.add(context, "graph input without a name");
      else
        define(scope, input.name, {"input"}, context);
      shape(input, "graph input", context);
    }
    size_t index = 0;
    for (const Tensor &tensor : graph.initializers)
      initializer(scope, tensor, index++, context);
    index = 0;
    for (const SparseTensor &sparse : graph.sparseInitializers)
      initializer(scope, sparse.values, index++, context);
    for (const ValueInfo &value : graph.valueInfo)
      shape(value, "value", context);
    nodes(scope, context);
    for (const ValueInfo &output : graph.outputs) {
      shape(output, "graph output", context);
      if (output.name.empty())
        problems.add(context, "graph output without a name");
      else
        use(scope, output.name, context, "graph output");
    }
  }

  void initializer(Scope &scope, const Tensor &tensor, size_t index, const Context *context) {
    Context link{.outer = context, .initializer = &tensor, .index = index};
    if (tensor.name.empty())
      problems.add(&link, "has no name");
    else
      define(scope, tensor.name, {"initializer"}, context);
  }

  /// The known extents of a value's type must have a product.
  void shape(const ValueInfo &value, const char *what, const Context *context) {
    if (!value.type.shape)
      return;
    std::vector<int64_t> dims;
    for (const Dim &dim : *value.type.shape)
      dims.push_back(dim.value.value_or(1));
    std::optional<int64_t> count = elementCount(dims);
    bool fixed = dataTypeBits(value.type.element) != 0;
    if (!count || (fixed && !byteSize(value.type.element, *count)))
      problems.add(context, concat(what, " '", printable(value.name), "': its shape is too large"));
  }

  void function(const Function &function) {
    Context context{.function = &function};
    if (function.name.empty())
      problems.add(&context, "has no name");
    opsets(function.opsets, &context);
    Scope scope;
    scope.nodes = &function.nodes;
    for (const std::string &input : function.inputs)
      define(scope, input, {"input"}, &context);
    std::unordered_set<std::string_view> attributes;
    for (const std::string &name : function.attributes)
      if (!attributes.insert(name).second)
        problems.add(&context, concat("attribute '", printable(name), "' is declared twice"));
    for (const Attribute &attribute : function.defaults)
      if (!attributes.insert(attribute.name).second)
        problems.add(&context, concat("attribute '", printable(attribute.name), "' is declared twice"));
    current = &function;
    declared = &attributes;
    nodes(scope, &context);
    for (const std::string &output : function.outputs)
      use(scope, output, &context, "output");
    current = nullptr;
    declared = nullptr;
  }

  void nodes(Scope &scope, const Context *context) {
    const std::vector<Node> &list = *scope.nodes;
    scope.uses.resize(list.size());
    // All definitions first: a name that is defined later is another mistake than one that is not defined.
    for (size_t i = 0; i < list.size(); ++i) {
      Context link{.outer = context, .node = &list[i], .index = i};
      for (const std::string &output : list[i].outputs)
        if (!output.empty())
          define(scope, output, {"node", i}, &link);
    }
    for (scope.current = 0; scope.current < list.size(); ++scope.current)
      node(scope, list[scope.current], context);
    earlyUses(scope);
  }

  void node(Scope &scope, const Node &node, const Context *context) {
    Context link{.outer = context, .node = &node, .index = scope.current};
    if (node.opType.empty())
      problems.add(&link, "has an empty op_type");
    const std::vector<OpsetImport> &imports = current ? current->opsets : model.opsets;
    bool imported = std::any_of(imports.begin(), imports.end(),
                                [&](const OpsetImport &import) { return import.domain == node.domain; });
    // Without any import, that alone is reported; a domain of functions needs none.
    if (!imported && !imports.empty() && !functionDomains.count(node.domain))
      problems.add(&link, concat("domain '", node.domain.empty() ? "ai.onnx" : printable(node.domain),
                                 "' is not imported"));
    auto callee = functions.find(key(node.domain, node.opType, node.overload));
    if (current && callee != functions.end())
      calls[functionIndex(*current)].push_back(callee->second);
    for (const std::string &input : node.inputs)
      if (!input.empty())
        use(scope, input, &link, "uses");
    std::unordered_set<std::string_view> names;
    for (const Attribute &attribute : node.attributes) {
      Context inner{.outer = &link, .attribute = &attribute};
      if (attribute.name.empty())
        problems.add(&link, "has an attribute without a name");
      else if (!names.insert(attribute.name).second)
        problems.add(&inner, "is given twice");
      if (!attribute.reference.empty() && !declared)
        problems.add(&inner, concat("refers to '", printable(attribute.reference), "' outside a function"));
      else if (!attribute.reference.empty() && !declared->count(attribute.reference))
        problems.add(&inner, concat("refers to '", printable(attribute.reference),
                                    "', which is not an attribute of the function"));
      for (const Graph &nested : attribute.graphs)
        graph(nested, &scope, &inner);
    }
  }

  /// Tells cycles from nodes in the wrong order.
  void earlyUses(const Scope &scope) {
    for (const Scope::EarlyUse &use : scope.early) {
      if (problems.full())
        return;
      const Node &producer = (*scope.nodes)[use.producer];
      std::vector<size_t> path = findPath(scope, use.producer, use.user);
      if (path.empty()) {
        problems.add(nullptr, concat(use.label, " '", printable(use.name), "' before ",
                                     nodeLabel(producer, use.producer),
                                     " defines it; nodes must be in topological order"));
        continue;
      }
      // From the producer back to the user, along what each needs.
      std::string chain;
      size_t shown = std::min<size_t>(path.size(), 8);
      for (size_t i = 0; i < shown; ++i)
        chain += concat(i ? " needs " : "", nodeLabel((*scope.nodes)[path[i]], path[i]));
      if (shown < path.size())
        chain += " needs ...";
      problems.add(nullptr, concat(use.label, " '", printable(use.name), "' in a cycle: ", chain));
    }
  }

  /// The nodes on a path from `from` to `to` along uses, both included; empty when there is none.
  static std::vector<size_t> findPath(const Scope &scope, size_t from, size_t to) {
    std::unordered_map<size_t, size_t> parent{{from, from}};
    std::vector<size_t> work{from};
    for (size_t next = 0; next < work.size() && !parent.count(to); ++next)
      for (size_t used : scope.uses[work[next]])
        if (parent.emplace(used, work[next]).second)
          work.push_back(used);
    std::vector<size_t> path;
    if (!parent.count(to))
      return path;
    for (size_t at = to; at != from; at = parent[at])
      path.push_back(at);
    path.push_back(from);
    std::reverse(path.begin(), path.end());
    return path;
  }

  size_t functionIndex(const Function &function) const {
    return static_cast<size_t>(&function - model.functions.data());
  }

  /// Functions are inlined at their calls, so that none may call itself, also not through others.
  void recursion() {
    enum : char { New, Open, Done };
    std::vector<char> state(model.functions.size(), New);
    for (size_t root = 0; root < state.size(); ++root) {
      // (function, next call to look at); an explicit stack, since the chain may be as long as the file.
      std::vector<std::pair<size_t, size_t>> stack;
      if (state[root] == New)
        stack.push_back({root, 0});
      while (!stack.empty()) {
        auto &[at, call] = stack.back();
        state[at] = Open;
        const std::vector<size_t> &callees = calls[at];
        if (call == callees.size()) {
          state[at] = Done;
          stack.pop_back();
          continue;
        }
        size_t callee = callees[call++];
        Context context{.function = &model.functions[callee]};
        if (state[callee] == Open)
          problems.add(&context, "calls itself, directly or through other functions");
        else if (state[callee] == New)
          stack.push_back({callee, 0});
      }
    }
  }

  const Model &model;
  Problems &problems;
  std::map<FunctionKey, size_t> functions;
  std::unordered_set<std::string_view> functionDomains;
  /// Per function, the functions it calls.
  std::unordered_map<size_t, std::vector<size_t>> calls;
  /// The function being walked, and its attributes; null in the main graph.
  const Function *current = nullptr;
  const std::unordered_set<std::string_view> *declared = nullptr;
};

} // namespace

void verifyModel(const Model &model, Problems &problems) { Verifier(model, problems).run(); }

} // namespace tessera::onnx

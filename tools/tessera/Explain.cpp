// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tessera explain X.tsx`: per node where it runs, with which kernels, why, and what it
// costs; the schedule scripts; the graph as a drawing.
#include "Roofline.h"
#include "Tool.h"
#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Json.h"
#include "tessera/base/TempFolder.h"
#include "tessera/runtime/device/Device.h"
#include "tessera/runtime/plan/Expr.h"
#include "tessera/runtime/trace/Trace.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tessera::tool {

namespace {
struct ExplainOptions {
  OpenOptions open;
  Inputs inputs;
  bool measure = false, script = false, json = false;
  unsigned repeat = 20;
  std::string dot, svg;
};

struct Row {
  std::string node, device, kernels, grid, layout, note, loc;
  double hint = 0, expected = 0;    // Microseconds: of the node, and of this version when it was installed.
  double flops = 0, bytes = 0;      // Of one run, when known.
  std::string flopsText, bytesText; // The same in words, or as formulas over the inputs' extents.
  uint64_t ns = 0;                  // In the launch that was measured.
};

// What --measure found besides the rows.
struct Measured {
  std::optional<DevicePeaks> peaks;      // Of the host, where it tells.
  uint64_t launchNs = 0, arenaBytes = 0; // The time of the fastest launch, wherever it was spent.
  unsigned launches = 0, threads = 1;
};
} // namespace

// An expression as a formula over the inputs' extents: "ceildiv(image.0, 64)".
static std::string formula(const ProgramPlan &plan, int32_t index, int depth = 0) {
  const Expr &e = plan.exprs[static_cast<size_t>(index)];
  if (depth > 6)
    return "…";
  auto sub = [&](int32_t i) { return formula(plan, i, depth + 1); };
  switch (e.op) {
  case ExprOp::Const:
    return std::to_string(e.constant);
  case ExprOp::Dim: {
    for (const Port &port : plan.inputs)
      if (port.value == e.a)
        return concat(port.name, ".", e.b);
    return concat("dim(%", e.a, ", ", e.b, ")");
  }
  case ExprOp::Load: {
    for (const Port &port : plan.inputs)
      if (port.value == e.a)
        return port.name;
    return concat("load(%", e.a, ")");
  }
  case ExprOp::Add:
    return concat("(", sub(e.a), " + ", sub(e.b), ")");
  case ExprOp::Sub:
    return concat("(", sub(e.a), " - ", sub(e.b), ")");
  case ExprOp::Mul:
    return concat(sub(e.a), "*", sub(e.b));
  case ExprOp::Select:
    return concat("select(", sub(e.a), ", ", sub(e.b), ", ", sub(e.c), ")");
  default:
    return concat(exprOpName(e.op), "(", sub(e.a), ", ", sub(e.b), ")");
  }
}

static std::string gridText(const ProgramPlan &plan, const Step &step) {
  std::string out;
  for (size_t d = 0; d < 3; ++d) {
    std::string text = formula(plan, step.grid[d]);
    if (d == 0 || text != "1")
      out += concat(d ? " x " : "", text);
  }
  return out;
}

// "12.3 M"; formatBytes counts in powers of 1024, operations are counted in powers of 1000.
static std::string formatCount(double count) {
  static const char *const units[] = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  for (; count >= 1000 && unit < 4; ++unit)
    count /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit ? "%.1f%s" : "%.0f%s", count, units[unit]);
  return text;
}

// The values of all expressions when no input leaves an extent open.
static bool evaluateFixed(const ProgramPlan &plan, ExprValues &values) {
  std::vector<std::span<const int64_t>> dims(plan.values.size());
  for (const Port &port : plan.inputs) {
    const ValueInfo &value = plan.values[static_cast<size_t>(port.value)];
    for (int64_t extent : value.shape)
      if (extent < 0)
        return false;
    dims[static_cast<size_t>(port.value)] = value.shape;
  }
  if (!plan.loads.empty())
    return false;
  values.evaluate(plan, 0, dims, {});
  return true;
}

// Flops or bytes of a version: the sum over its steps of the expression that `of` names.
static void addWork(const ProgramPlan &plan, const Version &version, const ExprValues *values,
                    int32_t Step::*of, double &sum, std::string &text) {
  for (const Step &step : version.steps) {
    if (step.*of < 0)
      continue;
    if (values)
      sum += static_cast<double>(values->getOr(step.*of, 0));
    else
      text += concat(text.empty() ? "" : " + ", formula(plan, step.*of));
  }
  if (values && sum > 0)
    text = formatCount(sum);
}

// Microseconds that the installer expected; 0 where it said nothing, or where open extents decide it.
static double expectedTime(const Version &version, const ExprValues *values) {
  if (!version.expected)
    return 0;
  const Expected &e = *version.expected;
  const int64_t times = e.times < 0 ? 1 : values ? values->getOr(e.times, -1) : -1;
  return times < 0 ? 0 : e.launch + e.work * static_cast<double>(times);
}

static std::vector<Row> describe(const ProgramPlan &plan, std::span<const int32_t> versions) {
  std::vector<Row> rows;
  ExprValues values;
  const ExprValues *fixed = evaluateFixed(plan, values) ? &values : nullptr;
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    const Node &node = plan.nodes[n];
    const Version &version = node.versions[versions.empty() ? 0 : static_cast<size_t>(versions[n])];
    Row row;
    row.node = node.name;
    row.device = version.target;
    row.note = version.note;
    row.loc = node.loc;
    row.layout = node.layout;
    row.hint = node.cost;
    row.expected = expectedTime(version, fixed);
    for (const Step &step : version.steps) {
      row.kernels += concat(row.kernels.empty() ? "" : step.chain ? " ~ " : " ; ", step.kernel);
      std::string grid = gridText(plan, step);
      if (row.grid.find(grid) == std::string::npos)
        row.grid += concat(row.grid.empty() ? "" : " ; ", grid);
    }
    addWork(plan, version, fixed, &Step::flops, row.flops, row.flopsText);
    addWork(plan, version, fixed, &Step::bytes, row.bytes, row.bytesText);
    rows.push_back(std::move(row));
  }
  return rows;
}

static std::string dotText(const ProgramPlan &plan, const std::vector<Row> &rows) {
  std::string out = concat("digraph ", quoteJson(plan.name),
                           " {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=11, shape=box, "
                           "style=\"rounded,filled\", fillcolor=\"#eef3fb\", color=\"#5b7fb4\"];\n"
                           "  edge [fontname=\"Helvetica\", fontsize=9, color=\"#777777\"];\n");
  auto typeText = [&](int32_t v) {
    const ValueInfo &value = plan.values[static_cast<size_t>(v)];
    std::string text(elementTypeName(value.type));
    for (size_t d = 0; d < value.shape.size(); ++d)
      text +=
          concat(d ? "x" : " ", value.kind == ValueKind::Input
                                    ? (value.shape[d] < 0 ? std::string("?") : std::to_string(value.shape[d]))
                                    : formula(plan, static_cast<int32_t>(value.shape[d]), 4));
    return text;
  };
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    out +=
        concat("  in", i, " [label=", quoteJson(plan.inputs[i].name + "\n" + typeText(plan.inputs[i].value)),
               ", shape=ellipse, fillcolor=\"#f3f9ee\", color=\"#7aa35a\"];\n");
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    out += concat("  out", i,
                  " [label=", quoteJson(plan.outputs[i].name + "\n" + typeText(plan.outputs[i].value)),
                  ", shape=ellipse, fillcolor=\"#fdf3e7\", color=\"#c98a3d\"];\n");
  std::map<int32_t, std::string> writer; // Per root: who wrote it last.
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    writer[plan.inputs[i].value] = concat("in", i);
  auto root = [&](int32_t v) { return plan.values[static_cast<size_t>(v)].root; };
  for (size_t n = 0; n < plan.nodes.size(); ++n) {
    std::string label = concat(rows[n].node, "\n", rows[n].device);
    if (rows[n].ns)
      label += ", " + formatNanoseconds(static_cast<double>(rows[n].ns));
    out += concat("  n", n, " [label=", quoteJson(label), "];\n");
    for (int32_t v : plan.nodes[n].reads)
      if (auto it = writer.find(root(v)); it != writer.end())
        out += concat("  ", it->second, " -> n", n, " [label=", quoteJson(typeText(v)), "];\n");
    for (int32_t v : plan.nodes[n].writes)
      writer[root(v)] = concat("n", n);
  }
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    if (auto it = writer.find(root(plan.outputs[i].value)); it != writer.end())
      out += concat("  ", it->second, " -> out", i, ";\n");
  return out + "}\n";
}

// Runs Graphviz on `text`; the file appears only when it worked.
static Status writeSvg(const std::string &path, const std::string &text) {
  // A folder of our own: nobody else can have put a link there.
  TESSERA_ASSIGN(TempFolder folder, TempFolder::create());
  const std::string source = folder.path() + "/graph.dot", target = folder.path() + "/graph.svg";
  TESSERA_TRY(writeFile(source, std::string_view(text)));
  if (std::system(concat("dot -Tsvg -o ", target, " ", source, " 2>/dev/null").c_str()) != 0)
    return fail(StatusCode::NotFound,
                "cannot draw: Graphviz's 'dot' is not installed or failed; install the package "
                "'graphviz', or use --dot to write its input");
  TESSERA_ASSIGN(auto drawn, MappedFile::open(target));
  return writeFile(path, drawn->bytes());
}

static void printScripts(const ModuleMeta &meta, const std::string &program) {
  using Json = nlohmann::json;
  Json json = parseJson(meta.json);
  bool any = false;
  auto print = [&](const std::string &where, const Json &text) {
    if (!text.is_string())
      return;
    std::printf("// schedule of %s\n%s\n", where.c_str(), text.get<std::string>().c_str());
    any = true;
  };
  // By program and node, or by "program.node".
  for (const char *key : {"scripts", "schedule"}) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_object())
      continue;
    for (auto &[name, item] : json[key].items()) {
      if (name != program && !name.starts_with(program + "."))
        continue;
      print(name, item);
      if (item.is_object())
        for (auto &[node, text] : item.items())
          print(concat(name, ".", node), text);
    }
  }
  if (!any)
    std::printf("this file stores no schedule scripts for '%s'\n", program.c_str());
}

// For the shapes of these inputs, and the version that a device of the row ran.
static void addExpected(const Program &program, std::span<Buffer *const> inputs, std::vector<Row> &rows) {
  const ProgramPlan &plan = program.plan();
  std::vector<std::span<const int64_t>> dims(plan.values.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    dims[static_cast<size_t>(plan.inputs[i].value)] = inputs[i]->shape();
  ExprValues values;
  if (plan.loads.empty())
    values.evaluate(plan, 0, dims, {});
  for (size_t n = 0; n < rows.size(); ++n) {
    Device *device = findDevice(rows[n].device);
    for (const Version &version : plan.nodes[n].versions)
      if (device && device->runs(version.target)) {
        rows[n].expected = expectedTime(version, plan.loads.empty() ? &values : nullptr);
        break;
      }
  }
}

// The fastest of all launches: its nodes' times add up to what it took, but for the runtime's own.
static Status measure(ExplainOptions &options, std::vector<Row> &rows, Measured &measured) {
  TESSERA_ASSIGN(std::shared_ptr<Program> program, options.open.open(/*profile=*/true));
  TESSERA_ASSIGN(std::vector<BufferRef> inputs, options.inputs.load(program->plan(), /*random=*/true));
  std::vector<Buffer *> raw;
  for (const BufferRef &buffer : inputs)
    raw.push_back(buffer.get());
  std::vector<BufferRef> outputs(program->plan().outputs.size());
  std::vector<NodeProfile> profile;
  for (unsigned i = 0; i < options.repeat; ++i) {
    program->profile()->reset();
    const uint64_t begin = nowNanoseconds();
    TESSERA_TRY(program->launch(raw, outputs));
    const uint64_t taken = nowNanoseconds() - begin;
    if (i == 0 || taken < measured.launchNs) {
      measured.launchNs = taken;
      profile = program->profile()->snapshot();
    }
  }
  for (size_t n = 0; n < rows.size(); ++n) {
    // A node in a loop runs several times in a launch.
    const double runs = static_cast<double>(profile[n].count);
    rows[n].ns = profile[n].totalNs;
    if (!profile[n].device.empty())
      rows[n].device = profile[n].device;
    rows[n].flops = runs * profile[n].flops;
    rows[n].bytes = runs * profile[n].bytes;
    rows[n].flopsText = rows[n].flops > 0 ? formatCount(rows[n].flops) : "";
    rows[n].bytesText = rows[n].bytes > 0 ? formatCount(rows[n].bytes) : "";
  }
  addExpected(*program, raw, rows);
  measured.launches = options.repeat;
  measured.arenaBytes = program->arenaBytes();
  measured.threads = program->threads();
  if (Device *host = hostDevice())
    measured.peaks = host->measurePeaks(program->threads());
  return Status();
}

static double shareOfRoof(const Row &r, const std::optional<DevicePeaks> &peaks) {
  if (r.flops <= 0 || !r.ns || !peaks)
    return 0;
  return r.flops / static_cast<double>(r.ns) / roofOf(*peaks, r.flops, r.bytes);
}

// Why a node is faster than the roofline of its work allows; the columns count an exact, direct algorithm in
// f32. Where a node multiplies by other instructions than those of f32, its note says by which.
static const char *whyAboveRoof(const Row &r) {
  auto does = [&](const char *word) { return r.note.find(word) != std::string::npos; };
  if (does("Winograd"))
    return "Winograd's algorithm multiplies less often than the column flops counts";
  if (does("bytes") || does("f16") || does("16 bits") || does(" by "))
    return "sums of bytes and 16-bit numbers are faster than those of f32, which the roofline is for";
  return "the machine was slower while its peak was measured than while the program ran; ask again when "
         "nothing else runs";
}

// A cell that a person can read; --json has all of it.
static std::string shorten(const std::string &text, size_t width = 40) {
  if (text.size() <= width)
    return text;
  size_t end = width - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end; // Not in the middle of a character.
  return text.substr(0, end) + "…";
}

// "a; a; b" → "2 x a; b": a node of many steps says each thing once.
static std::string mergeNotes(const std::string &note) {
  std::vector<std::pair<std::string, size_t>> parts;
  for (size_t at = 0; at <= note.size();) {
    const size_t end = std::min(note.find("; ", at), note.size());
    const std::string part = note.substr(at, end - at);
    auto same = std::find_if(parts.begin(), parts.end(), [&](const auto &p) { return p.first == part; });
    if (same == parts.end())
      parts.emplace_back(part, 1);
    else
      ++same->second;
    at = end + 2;
  }
  std::string out;
  for (const auto &[part, count] : parts)
    out += concat(out.empty() ? "" : "; ", count > 1 ? concat(count, " x ") : "", part);
  return out;
}

// What the table's times are of, and what its last columns mean.
static void printMeasured(const std::vector<Row> &rows, const Measured &measured) {
  uint64_t sum = 0;
  std::vector<const char *> reasons;
  for (const Row &r : rows) {
    sum += r.ns;
    if (shareOfRoof(r, measured.peaks) > 1.005 &&
        std::find(reasons.begin(), reasons.end(), whyAboveRoof(r)) == reasons.end())
      reasons.push_back(whyAboveRoof(r));
  }
  std::printf("times are of one launch, the fastest of %u: %s in all, %s in the nodes%s\n", measured.launches,
              formatNanoseconds(static_cast<double>(measured.launchNs)).c_str(),
              formatNanoseconds(static_cast<double>(sum)).c_str(),
              measured.threads > 1 ? ", some of which may run at the same time" : "");
  if (!measured.peaks)
    return;
  const DevicePeaks &m = *measured.peaks;
  std::printf("roofline, measured here with %u thread%s: %.0f GFLOP/s (f32, fused); %.0f, %.0f, %.0f and "
              "%.0f GB/s from "
              "the first cache, the second, the last and memory\n",
              m.threads, m.threads == 1 ? "" : "s", m.gflops, m.nearGBs, m.cacheGBs, m.sharedGBs,
              m.memoryGBs);
  for (const char *reason : reasons)
    std::printf("* above 100 %%: %s\n", reason);
}

static void printTable(const std::vector<Row> &rows, const Measured *measured) {
  auto any = [&](auto known) { return std::any_of(rows.begin(), rows.end(), known); };
  const bool flops = any([](const Row &r) { return !r.flopsText.empty(); });
  const bool bytes = any([](const Row &r) { return !r.bytesText.empty(); });
  std::vector<std::vector<std::string>> table = {{"node", "device", "grid", "kernels"}};
  for (const Row &r : rows)
    table.push_back({shorten(r.node), r.device, shorten(r.grid), shorten(r.kernels)});
  auto column = [&](bool wanted, const char *name, auto text) {
    if (!wanted)
      return;
    table[0].push_back(name);
    for (size_t r = 0; r < rows.size(); ++r)
      table[r + 1].push_back(text(rows[r]));
  };
  auto rate = [](double amount, const Row &r) -> std::string {
    return amount > 0 && r.ns ? formatFixed(amount / static_cast<double>(r.ns), 2) : "-";
  };
  auto orDash = [](const std::string &text) { return text.empty() ? std::string("-") : shorten(text); };
  auto time = [](double us) { return us > 0 ? formatNanoseconds(us * 1e3) : std::string("-"); };
  column(any([](const Row &r) { return r.hint > 0; }), "cost", [&](const Row &r) { return time(r.hint); });
  column(flops, "flops", [&](const Row &r) { return orDash(r.flopsText); });
  column(bytes, "bytes", [&](const Row &r) { return orDash(r.bytesText); });
  column(any([](const Row &r) { return r.expected > 0; }), "expected",
         [&](const Row &r) { return time(r.expected); });
  column(measured, "measured",
         [](const Row &r) { return r.ns ? formatNanoseconds(static_cast<double>(r.ns)) : "-"; });
  column(measured, "of launch", [&](const Row &r) {
    return r.ns ? concat(formatFixed(
                             100 * static_cast<double>(r.ns) / static_cast<double>(measured->launchNs), 1),
                         " %")
                : "-";
  });
  column(measured && flops, "GFLOP/s", [&](const Row &r) { return rate(r.flops, r); });
  column(measured && bytes, "GB/s", [&](const Row &r) { return rate(r.bytes, r); });
  column(measured && flops, "of roofline", [&](const Row &r) -> std::string {
    const double share = shareOfRoof(r, measured->peaks);
    return share > 0 ? concat(formatFixed(share * 100, 0), share > 1.005 ? " % *" : " %") : "-";
  });
  column(any([](const Row &r) { return !r.layout.empty(); }), "layout",
         [&](const Row &r) { return orDash(r.layout); });
  column(any([](const Row &r) { return !shortSource(r.loc).empty(); }), "source",
         [&](const Row &r) { return orDash(shortSource(r.loc)); });
  column(true, "note", [](const Row &r) { return mergeNotes(r.note); });
  std::printf("%s", formatTable(table).c_str());
  if (measured)
    printMeasured(rows, *measured);
}

static Status explainProgram(ExplainOptions &options, const Module &module, const ProgramPlan &plan) {
  std::vector<Row> rows = describe(plan, {});
  Measured measured;
  if (options.measure)
    TESSERA_TRY(measure(options, rows, measured));
  if (!options.dot.empty() || !options.svg.empty()) {
    std::string text = dotText(plan, rows);
    if (options.dot == "-")
      std::printf("%s", text.c_str());
    else if (!options.dot.empty())
      TESSERA_TRY(writeFile(options.dot, std::string_view(text)));
    if (!options.svg.empty())
      TESSERA_TRY(writeSvg(options.svg, text));
    return Status();
  }
  if (options.script) {
    printScripts(module.meta(), plan.name);
    return Status();
  }
  if (options.json) {
    std::string out =
        concat("{\"program\": ", quoteJson(plan.name), ", \"segments\": ", plan.segments, ", \"nodes\": [");
    for (size_t n = 0; n < rows.size(); ++n) {
      const Row &r = rows[n];
      out += concat(n ? ", " : "", "{\"node\": ", quoteJson(r.node), ", \"loc\": ", quoteJson(r.loc),
                    ", \"device\": ", quoteJson(r.device), ", \"kernels\": ", quoteJson(r.kernels),
                    ", \"grid\": ", quoteJson(r.grid), ", \"note\": ", quoteJson(r.note),
                    ", \"cost_us\": ", r.hint);
      if (r.expected > 0)
        out += concat(", \"expected_us\": ", r.expected);
      if (r.flops > 0)
        out += concat(", \"flops\": ", static_cast<int64_t>(r.flops));
      if (r.bytes > 0)
        out += concat(", \"bytes\": ", static_cast<int64_t>(r.bytes));
      if (!r.layout.empty())
        out += concat(", \"layout\": ", quoteJson(r.layout));
      if (options.measure)
        out += concat(", \"measured_ns\": ", r.ns, ", \"roofline_share\": ", shareOfRoof(r, measured.peaks));
      out += "}";
    }
    out += "]";
    if (options.measure)
      out += concat(", \"launch_ns\": ", measured.launchNs, ", \"arena_bytes\": ", measured.arenaBytes);
    std::printf("%s}\n", out.c_str());
    return Status();
  }
  std::printf("program '%s'", plan.name.c_str());
  if (!module.meta().triple.empty())
    std::printf(" for %s %s", module.meta().triple.c_str(), module.meta().cpu.c_str());
  if (!module.meta().mode.empty())
    std::printf(", mode %s", module.meta().mode.c_str());
  std::printf("\n");
  auto ports = [&](const char *title, const std::vector<Port> &list) {
    for (const Port &port : list) {
      const ValueInfo &value = plan.values[static_cast<size_t>(port.value)];
      std::string shape;
      for (size_t d = 0; d < value.shape.size(); ++d)
        shape += concat(d ? " x " : " ",
                        value.kind == ValueKind::Input
                            ? (value.shape[d] < 0 ? std::string("?") : std::to_string(value.shape[d]))
                            : formula(plan, static_cast<int32_t>(value.shape[d])));
      std::printf("  %s %s: %s%s%s\n", title, port.name.c_str(),
                  std::string(elementTypeName(value.type)).c_str(), shape.c_str(),
                  port.written ? " (changed in place)" : "");
    }
  };
  ports("input", plan.inputs);
  ports("output", plan.outputs);
  if (plan.segments > 1)
    std::printf("  %d segments: some sizes are computed inside the graph\n", plan.segments);
  printTable(rows, options.measure ? &measured : nullptr);
  if (options.measure)
    std::printf("temporaries: %s in one arena\n", formatBytes(measured.arenaBytes).c_str());
  return Status();
}

// What the installer stored once instead of several times: equal kernels, constants and weights.
static void printSaved(const ModuleMeta &meta) {
  if (meta.savedKernels || meta.savedBytes)
    std::printf("equal parts are stored once: %llu kernel%s and %s saved\n",
                static_cast<unsigned long long>(meta.savedKernels), meta.savedKernels == 1 ? "" : "s",
                formatBytes(meta.savedBytes).c_str());
}

static Status explainCommand(ExplainOptions &options) {
  TESSERA_ASSIGN(std::shared_ptr<const Module> module, Module::inspect(options.open.file));
  std::vector<std::string> names;
  bool found = false;
  for (const ProgramPlan &plan : module->plan().programs) {
    names.push_back(plan.name);
    if (!options.open.program.empty() && options.open.program != plan.name)
      continue;
    found = true;
    ExplainOptions one = options;
    one.open.program = plan.name;
    TESSERA_TRY(explainProgram(one, *module, plan));
  }
  if (!found)
    return Status::error(StatusCode::NotFound,
                         unknownName("program", options.open.program, "programs", names));
  if (!options.json && !options.script && options.dot.empty() && options.svg.empty()) {
    printPortfolio(module->meta().json, options.open.program);
    printSaved(module->meta());
  }
  return Status();
}

void addExplain(CLI::App &app, Action &action) {
  auto *command =
      app.add_subcommand("explain", "show where each node runs, with which code, why, and at what cost");
  auto options = std::make_shared<ExplainOptions>();
  options->open.add(*command);
  options->inputs.add(*command, /*random=*/true);
  command->add_flag("--measure", options->measure,
                    "run it (random inputs unless given) and add measured times");
  command->add_option("--repeat", options->repeat, "launches for --measure (default 20)")
      ->check(CLI::Range(1u, 1000000u));
  command->add_flag("--script", options->script, "print the schedule scripts stored in the file");
  command->add_flag("--json", options->json, "print as JSON");
  command->add_option("--dot", options->dot, "write the graph for Graphviz ('-': standard output)");
  command->add_option("--svg", options->svg, "draw the graph with Graphviz");
  command->footer("example: tessera explain edges.tsx --measure --dim image:0=512 --dim image:1=512");
  command->callback([options, &action] { action = [options] { return explainCommand(*options); }; });
}

} // namespace tessera::tool

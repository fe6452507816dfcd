// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of `tessera explain` about the portfolio: what was measured for each layer when
// the program was installed, and what was chosen.
#include "Tool.h"

#include "tessera/base/Diag.h"
#include "tessera/base/Json.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace tessera::tool {

using Json = nlohmann::json;

// "1.95 ms, 480 us": the times of a candidate, by point.
static std::string times(const Json &candidate) {
  std::string text;
  if (candidate.is_object() && candidate.contains("ns") && candidate["ns"].is_array())
    for (const Json &ns : candidate["ns"])
      if (ns.is_number())
        text += concat(text.empty() ? "" : ", ", formatNanoseconds(ns.get<double>()));
  return text;
}

static std::string word(const Json &object, const char *key) {
  return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

static int64_t count(const Json &object, const char *key) {
  return object.contains(key) && object[key].is_number_integer() ? object[key].get<int64_t>() : 0;
}

static const Json *findCandidate(const Json &list, const std::string &name) {
  if (list.is_array())
    for (const Json &each : list)
      if (each.is_object() && word(each, "candidate") == name)
        return &each;
  return nullptr;
}

void printPortfolio(const std::string &meta, const std::string &program) {
  Json json = parseJson(meta);
  if (!json.is_object() || !json.contains("portfolio") || !json["portfolio"].is_object())
    return;
  std::vector<std::vector<std::string>> table = {
      {"layer", "chosen", "time", "default", "time", "candidates"}};
  std::string points;
  for (auto &[name, layers] : json["portfolio"].items()) {
    if ((!program.empty() && name != program) || !layers.is_object())
      continue;
    for (auto &[layer, report] : layers.items()) {
      if (!report.is_object())
        continue;
      const Json none, &first = report.contains("candidates") ? report["candidates"] : none,
                       &last = report.contains("final") ? report["final"] : first;
      const std::string chosen = word(report, "chosen"), standard = word(report, "default");
      const Json *own = findCandidate(last, chosen), *other = findCandidate(last, standard);
      const bool same = chosen == standard;
      table.push_back(
          {layer, same ? "the default" : chosen, own && !same ? times(*own) : "-", standard,
           other ? times(*other) : "-",
           first.is_array() ? concat(first.size(), ", ", word(report, "source")) : word(report, "source")});
      if (points.empty() && report.contains("points") && report["points"].is_array())
        for (const Json &point : report["points"])
          if (point.is_object())
            points += concat(points.empty() ? "" : ", then ", "batch ", count(point, "batch"), " on ",
                             count(point, "threads"), " thread(s)");
    }
  }
  if (table.size() == 1)
    return;
  std::printf("portfolio, measured when it was installed%s%s:\n%s", points.empty() ? "" : ": ",
              points.c_str(), formatTable(table).c_str());
}

} // namespace tessera::tool

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/measure/Measurements.h"

#include "tessera/base/Diag.h"
#include "tessera/base/File.h"
#include "tessera/base/Json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tessera::tune {

using Json = nlohmann::json;

static constexpr const char *baseline = "baseline";

// The median and what it lies between.
static Json listOf(const Estimate &e) { return {e.value, e.low, e.high}; }

static bool isEstimate(const Json &list) {
  return list.is_array() && list.size() == 3 &&
         std::ranges::all_of(list, [](const Json &v) { return v.is_number() && v.get<double>() >= 0; });
}

static Estimate estimateOf(const Json &list) { return {list[0], list[1], list[2]}; }

std::string measurementsJson(const Measurements &measurements) {
  Json costs = Json::object();
  for (const auto &[name, cost] : measurements.costs)
    costs[name] = {{"time_us", cost.microseconds},
                   {"speedup", listOf(cost.speedup)},
                   {"energy_j", listOf(cost.joules)},
                   {"energy_source", cost.energySource}};
  return dumpJson(Json{{"version", 2},
                       {"program", measurements.program},
                       {"machine", measurements.machine},
                       {"configurations", costs}},
                  1) +
         "\n";
}

Result<Measurements> parseMeasurements(std::string_view text) {
  const Json json = parseJson(text);
  const auto is = [](const Json &object, const char *name, bool (Json::*kind)() const noexcept) {
    auto at = object.find(name);
    return at != object.end() && ((*at).*kind)();
  };
  const auto damaged = [](const char *what) {
    return fail(StatusCode::Corrupt, "measurements: ", what, " is missing or wrong");
  };
  if (!json.is_object())
    return fail(StatusCode::Corrupt, "measurements: not a JSON object");
  if (!is(json, "version", &Json::is_number_integer) || json["version"] != 2)
    return damaged("'version' 2");
  if (!is(json, "program", &Json::is_string) || !is(json, "machine", &Json::is_string))
    return damaged("'program' or 'machine'");
  if (!is(json, "configurations", &Json::is_object))
    return damaged("'configurations'");
  Measurements all{json["program"], json["machine"], {}};
  for (const auto &[name, cost] : json["configurations"].items()) {
    if (!cost.is_object() || !is(cost, "time_us", &Json::is_number) ||
        !isEstimate(cost.value("speedup", Json())) || !isEstimate(cost.value("energy_j", Json())) ||
        !is(cost, "energy_source", &Json::is_string) || !(cost["time_us"].get<double>() > 0) ||
        !std::isfinite(cost["time_us"].get<double>()))
      return damaged("the cost of a configuration");
    all.costs[name] = {cost["time_us"], estimateOf(cost["speedup"]), estimateOf(cost["energy_j"]),
                       cost["energy_source"]};
  }
  if (!all.costs.count(baseline))
    return damaged("'baseline'");
  return all;
}

Result<Measurements> readMeasurements(const std::string &path, const Curve &curve,
                                      const std::string &machine) {
  TESSERA_ASSIGN(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  Result<Measurements> own = parseMeasurements({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  if (!own.ok())
    return own.status().withContext(concat("'", path, "'"));
  if (own->program != curve.program)
    return fail(StatusCode::InvalidArgument, "'", path, "' was measured with another version of the program");
  if (own->machine != machine)
    return fail(StatusCode::InvalidArgument, "'", path, "' was measured on ", own->machine, ", but this is ",
                machine);
  return own;
}

void addMeasurements(Measurements &all, const Measurements &other) {
  if (all.costs.empty()) {
    all = other;
    return;
  }
  const double scale = all.costs.at(baseline).microseconds / other.costs.at(baseline).microseconds;
  for (const auto &[name, cost] : other.costs)
    all.costs.try_emplace(name, Cost{cost.microseconds * scale, cost.speedup, cost.joules, cost.energySource,
                                     cost.threads, cost.shares});
}

std::vector<const Configuration *> partOf(std::span<const Configuration *const> within, int64_t number,
                                          int64_t count) {
  std::vector<const Configuration *> part;
  for (size_t i = 0; i < within.size(); ++i)
    if (i == 0 || static_cast<int64_t>(i - 1) % count == number - 1)
      part.push_back(within[i]);
  return part;
}

} // namespace tessera::tune

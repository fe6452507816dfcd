// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tessera/tune/curve/Curve.h"
#include "tessera/base/Json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tessera::tune {

using OrderedJson = nlohmann::ordered_json;

const Configuration *Curve::find(std::string_view name) const {
  for (const Configuration &c : configurations)
    if (c.name == name)
      return &c;
  return nullptr;
}

std::string curveJson(const Curve &curve) {
  OrderedJson operations = OrderedJson::array(), configurations = OrderedJson::array();
  for (const CurveOperation &op : curve.operations) {
    OrderedJson knobs = OrderedJson::object();
    for (const KnobRecord &k : op.knobs)
      knobs[k.knob] = {{"quality_change", k.qualityChange}, {"error", k.error}, {"time_us", k.microseconds}};
    OrderedJson item = {{"name", op.name},
                        {"kind", op.kind},
                        {"shape", op.shape},
                        {"flops", op.flops},
                        {"time_us", op.microseconds}};
    if (op.range)
      item["range"] = {op.range->first, op.range->second};
    item["knobs"] = std::move(knobs);
    operations.push_back(std::move(item));
  }
  for (const Configuration &c : curve.configurations) {
    OrderedJson item = {{"name", c.name}, {"knobs", OrderedJson::object()}};
    for (const auto &[op, knob] : c.knobs)
      item["knobs"][op] = knob;
    item["predicted"] = {{"quality", c.predicted.quality},
                         {"lo", c.predicted.low},
                         {"hi", c.predicted.high},
                         {"cost", c.predicted.cost}};
    if (c.measured)
      item["measured"] = {{"quality", c.measured->quality}, {"lo", c.measured->low},
                          {"hi", c.measured->high},         {"n", c.measured->count},
                          {"loss", c.measured->loss},       {"loss_lo", c.measured->lossLow},
                          {"loss_hi", c.measured->lossHigh}};
    if (c.installed)
      item["installed"] = {{"time_us", c.installed->microseconds},
                           {"batch", c.installed->batch},
                           {"speedup", c.installed->speedup.value},
                           {"speedup_lo", c.installed->speedup.low},
                           {"speedup_hi", c.installed->speedup.high},
                           {"energy_j", c.installed->joules.value},
                           {"energy_lo", c.installed->joules.low},
                           {"energy_hi", c.installed->joules.high},
                           {"energy_source", c.installed->energySource},
                           {"threads", c.installed->threads},
                           {"shares", c.installed->shares}};
    item["shipped"] = c.shipped;
    configurations.push_back(std::move(item));
  }
  const Curve::Tuning &t = curve.tuning;
  OrderedJson shapes = OrderedJson::object();
  for (const auto &[input, shape] : curve.shapes)
    shapes[input] = shape;
  return dumpJson(OrderedJson{{"version", curveVersion},
                              {"program", curve.program},
                              {"network", curve.network},
                              {"metric", curve.metric},
                              {"data", curve.data},
                              {"shapes", shapes},
                              {"numbers", curve.numbers},
                              {"confidence", curve.confidence},
                              {"baseline", {{"quality", curve.baselineQuality}, {"n", curve.baselineCount}}},
                              {"operations", operations},
                              {"configurations", configurations},
                              {"chosen", curve.chosen},
                              {"tuning",
                               {{"seed", t.seed},
                                {"images", t.images},
                                {"validated", t.validated},
                                {"skip", t.skip},
                                {"batch", t.batch},
                                {"profile_s", t.profileSeconds},
                                {"search_s", t.searchSeconds},
                                {"validate_s", t.validateSeconds},
                                {"evaluations", t.evaluations},
                                {"prediction_error", t.predictionError},
                                {"scale", t.scale}}}},
                  1);
}

namespace {
/// Takes fields out of an object; the first mistake is kept.
struct Fields {
  const OrderedJson &object;
  std::string &error;

  const OrderedJson *find(const char *name) const {
    auto it = object.find(name);
    if (it == object.end() && error.empty())
      error = concat("'", name, "' is missing");
    return it == object.end() ? nullptr : &*it;
  }
  void wrong(const char *name, const char *wanted) const {
    if (error.empty())
      error = concat("'", name, "' is not ", wanted);
  }
  void take(const char *name, std::string &to) const {
    if (const OrderedJson *v = find(name)) {
      if (v->is_string())
        to = v->get<std::string>();
      else
        wrong(name, "a text");
    }
  }
  void take(const char *name, double &to) const {
    if (const OrderedJson *v = find(name)) {
      if (v->is_number() && std::isfinite(v->get<double>()))
        to = v->get<double>();
      else
        wrong(name, "a number");
    }
  }
  template <std::integral T> void take(const char *name, T &to) const {
    if (const OrderedJson *v = find(name)) {
      if (v->is_number_integer())
        to = v->get<T>();
      else
        wrong(name, "an integer");
    }
  }
  void take(const char *name, bool &to) const {
    if (const OrderedJson *v = find(name)) {
      if (v->is_boolean())
        to = v->get<bool>();
      else
        wrong(name, "true or false");
    }
  }
  /// Calls `each` with the fields of every object of a list.
  template <typename F> void list(const char *name, F each) const {
    const OrderedJson *v = find(name);
    if (v && !v->is_array())
      return wrong(name, "a list");
    for (size_t i = 0; v && i < v->size() && error.empty(); ++i) {
      if (!(*v)[i].is_object())
        return wrong(name, "a list of objects");
      each(Fields{(*v)[i], error});
    }
  }
  template <typename F> void inner(const char *name, F each) const {
    const OrderedJson *v = find(name);
    if (v && !v->is_object())
      return wrong(name, "an object");
    if (v)
      each(Fields{*v, error});
  }
};
} // namespace

static CurveOperation readOperation(const Fields &fields) {
  CurveOperation op;
  fields.take("name", op.name);
  fields.take("kind", op.kind);
  fields.take("shape", op.shape);
  fields.take("flops", op.flops);
  fields.take("time_us", op.microseconds);
  if (auto range = fields.object.find("range"); range != fields.object.end()) {
    if (range->is_array() && range->size() == 2 && (*range)[0].is_number() && (*range)[1].is_number())
      op.range = {(*range)[0].get<float>(), (*range)[1].get<float>()};
    else
      fields.wrong("range", "two numbers");
  }
  fields.inner("knobs", [&](const Fields &knobs) {
    for (const auto &[knob, record] : knobs.object.items()) {
      if (!record.is_object())
        return fields.wrong("knobs", "an object of objects");
      Fields own{record, fields.error};
      KnobRecord r;
      r.knob = knob;
      own.take("quality_change", r.qualityChange);
      own.take("error", r.error);
      own.take("time_us", r.microseconds);
      op.knobs.push_back(std::move(r));
    }
  });
  return op;
}

static Configuration readConfiguration(const Fields &fields) {
  Configuration c;
  fields.take("name", c.name);
  fields.inner("knobs", [&](const Fields &knobs) {
    for (const auto &[op, knob] : knobs.object.items()) {
      if (!knob.is_string())
        return fields.wrong("knobs", "an object of texts");
      c.knobs[op] = knob.get<std::string>();
    }
  });
  fields.inner("predicted", [&](const Fields &p) {
    p.take("quality", c.predicted.quality);
    p.take("lo", c.predicted.low);
    p.take("hi", c.predicted.high);
    p.take("cost", c.predicted.cost);
  });
  if (fields.object.contains("measured"))
    fields.inner("measured", [&](const Fields &m) {
      c.measured.emplace();
      m.take("quality", c.measured->quality);
      m.take("lo", c.measured->low);
      m.take("hi", c.measured->high);
      m.take("n", c.measured->count);
      m.take("loss", c.measured->loss);
      m.take("loss_lo", c.measured->lossLow);
      m.take("loss_hi", c.measured->lossHigh);
    });
  if (fields.object.contains("installed"))
    fields.inner("installed", [&](const Fields &m) {
      c.installed.emplace();
      m.take("time_us", c.installed->microseconds);
      m.take("batch", c.installed->batch);
      m.take("speedup", c.installed->speedup.value);
      m.take("speedup_lo", c.installed->speedup.low);
      m.take("speedup_hi", c.installed->speedup.high);
      m.take("energy_j", c.installed->joules.value);
      m.take("energy_lo", c.installed->joules.low);
      m.take("energy_hi", c.installed->joules.high);
      m.take("energy_source", c.installed->energySource);
      // Files of earlier versions have neither.
      if (m.object.contains("threads"))
        m.take("threads", c.installed->threads);
      if (m.object.contains("shares"))
        m.inner("shares", [&](const Fields &shares) {
          for (const auto &[op, share] : shares.object.items()) {
            if (!share.is_number())
              return shares.wrong("shares", "an object of numbers");
            c.installed->shares[op] = share.get<double>();
          }
        });
    });
  fields.take("shipped", c.shipped);
  return c;
}

Result<Curve> parseCurve(std::string_view text) {
  OrderedJson json = parseJson<OrderedJson>(text);
  if (!json.is_object())
    return fail(StatusCode::Corrupt, "curve: not a JSON object");
  std::string error;
  Fields fields{json, error};
  int64_t version = 0;
  fields.take("version", version);
  if (error.empty() && version != curveVersion)
    return fail(StatusCode::Unsupported, "curve: version ", version,
                " is not supported; this tessera reads version ", curveVersion, "; tune the program again");
  Curve curve;
  fields.take("program", curve.program);
  fields.take("network", curve.network);
  fields.take("metric", curve.metric);
  fields.take("data", curve.data);
  if (json.contains("shapes"))
    fields.inner("shapes", [&](const Fields &shapes) {
      for (const auto &[input, shape] : shapes.object.items()) {
        auto isExtent = [](const OrderedJson &e) { return e.is_number_integer() && e.get<int64_t>() >= 0; };
        if (!shape.is_array() || !std::all_of(shape.begin(), shape.end(), isExtent))
          return fields.wrong("shapes", "an object of shapes");
        curve.shapes[input] = shape.get<std::vector<int64_t>>();
      }
    });
  if (json.contains("numbers"))
    fields.inner("numbers", [&](const Fields &numbers) {
      for (const auto &[input, number] : numbers.object.items()) {
        if (!number.is_number_integer())
          return fields.wrong("numbers", "an object of integers");
        curve.numbers[input] = number.get<int64_t>();
      }
    });
  fields.take("confidence", curve.confidence);
  fields.inner("baseline", [&](const Fields &b) {
    b.take("quality", curve.baselineQuality);
    b.take("n", curve.baselineCount);
  });
  fields.list("operations", [&](const Fields &f) { curve.operations.push_back(readOperation(f)); });
  fields.list("configurations",
              [&](const Fields &f) { curve.configurations.push_back(readConfiguration(f)); });
  fields.take("chosen", curve.chosen);
  fields.inner("tuning", [&](const Fields &t) {
    t.take("seed", curve.tuning.seed);
    t.take("images", curve.tuning.images);
    t.take("validated", curve.tuning.validated);
    t.take("skip", curve.tuning.skip);
    t.take("batch", curve.tuning.batch);
    t.take("profile_s", curve.tuning.profileSeconds);
    t.take("search_s", curve.tuning.searchSeconds);
    t.take("validate_s", curve.tuning.validateSeconds);
    t.take("evaluations", curve.tuning.evaluations);
    t.take("prediction_error", curve.tuning.predictionError);
    t.take("scale", curve.tuning.scale);
  });
  if (error.empty() && (curve.configurations.empty() || !curve.configurations[0].knobs.empty()))
    error = "the first configuration is not exact";
  for (size_t i = 0; error.empty() && i < curve.configurations.size(); ++i)
    for (size_t j = 0; error.empty() && j < i; ++j)
      if (curve.configurations[i].name == curve.configurations[j].name)
        error = concat("two configurations are called '", curve.configurations[i].name, "'");
  if (error.empty() && !curve.find(curve.chosen))
    error = concat("the chosen configuration '", curve.chosen, "' is not there");
  if (!error.empty())
    return fail(StatusCode::Corrupt, "curve: ", error);
  return curve;
}

} // namespace tessera::tune

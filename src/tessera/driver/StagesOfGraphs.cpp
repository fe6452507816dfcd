// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages that rewrite graphs: knobs, place, prepare, graph-schedule.
#include "tessera/base/Progress.h"
#include "tessera/driver/Installation.h"
#include "tessera/driver/Knobs.h"
#include "tessera/driver/Place.h"
#include "tessera/driver/Portfolio.h"
#include "tessera/driver/Prepare.h"
#include "tessera/driver/Schedule.h"
#include "tessera/transforms/graph/Rewrites.h"
#include "tessera/transforms/nn/graph/Rewrites.h"
#include "tessera/transforms/nn/knobs/Apply.h"

using namespace tessera;

LogicalResult tessera::applyKnobs(Installation &in) {
  for (Portable &program : in.programs)
    if (Status s = applyKnobMap(*program.module, in.options.knobs); !s.ok())
      return emitError(UnknownLoc::get(in.context)) << s.message();
  for (Portable &program : in.programs) {
    notePlace("program", program.source);
    IRRewriter rewriter(in.context);
    graph::Refusal no;
    if (failed(graph::applyNodeKnobs(rewriter, *program.module, no)))
      return no.emit();
    if (failed(nn::forEachNetwork(*program.module, [](dfg::NodeOp node) { return nn::applyKnobs(node); })))
      return failure();
  }
  return success();
}

LogicalResult tessera::placeAll(Installation &in) {
  for (Job &job : in.jobs)
    placeGraph(job.graph, in.targets);
  return success();
}

LogicalResult tessera::prepareAll(Installation &in) {
  if (in.options.portfolio)
    in.portfolio = choosePortfolio(in);
  for (Job &job : in.jobs) {
    if (failed(prepareGraph(job.graph, in.targets, in.howToPrepare())))
      return failure();
    (void)forEachForm(job.graph, [&](dfg::NodeOp, dfg::GraphOp form) {
      in.shown.push_back(form);
      return success();
    });
  }
  return success();
}

LogicalResult tessera::scheduleGraphs(Installation &in) {
  for (Portable &program : in.programs) {
    notePlace("program", program.source);
    FailureOr<std::string> script = scheduleGraph(*program.module, program.scripts.get(), in.ownScripts);
    if (failed(script))
      return failure();
    for (Job &job : in.jobs)
      if (job.portable == &program)
        in.scripts[job.graph.getSymName().str()]["(graph)"] = *script;
  }
  return success();
}

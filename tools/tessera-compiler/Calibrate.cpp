// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tessera calibrate`: the ranges of activations go into a portable object.
#include "Commands.h"

#include "tessera/base/Output.h"
#include "tessera/driver/Calibrate.h"
#include "tessera/tune/samples/Feed.h"

using namespace tessera;
using namespace tessera::cli;

namespace {
struct CalibrateArgs {
  std::string in, out, data, normalise;
  int64_t samples = 256;
};
} // namespace

static int runCalibrate(CalibrateArgs &args) {
  if (args.out.empty())
    args.out = args.in;
  if (Status places = checkOutputs({args.data}, {args.out}); !places.ok())
    return fail(places.message());
  return supervise(mayWrite({args.out}), [&] {
    Session session;
    Result<Portable> program = [&] {
      TimeLimit limited(TimeLimit::Reading);
      return readPortable(session, args.in);
    }();
    if (!program.ok())
      return fail(program.status().message());
    Result<Dataset> data = readDataset(args.data);
    if (!data.ok())
      return fail(data.status().message());
    int64_t samples = std::min(args.samples, data->size());
    std::optional<tune::Feed> feed;
    Result<int64_t> count =
        calibrate(session, *program, [&](const ProgramPlan &plan, int64_t round) -> Result<BufferRef> {
          if (!feed) {
            TESSERA_ASSIGN(tune::Normalisation norm, tune::parseNormalisation(args.normalise));
            TESSERA_ASSIGN(feed, tune::Feed::match(*data, plan, std::move(norm)));
          }
          int64_t batch = feed->fixedBatch() > 0 ? feed->fixedBatch() : 16;
          std::vector<int64_t> items;
          // All parts of the data set are seen.
          for (int64_t i = round * batch; i < std::min(samples, (round + 1) * batch); ++i)
            items.push_back(i * data->size() / samples);
          return items.empty() ? Result<BufferRef>(BufferRef()) : feed->batch(items);
        });
    if (!count.ok())
      return fail("'" + args.in + "': " + count.status().message());
    Status written = writePortable(*program, args.out);
    if (!written.ok())
      return fail(written.message());
    std::printf("%s: the ranges of %lld operations from %lld samples\n", args.out.c_str(),
                static_cast<long long>(*count), static_cast<long long>(samples));
    return 0;
  });
}

void cli::addCalibrate(CLI::App &app, Action &action) {
  CLI::App *sub = app.add_subcommand("calibrate", "measure the ranges that int8 needs, on samples");
  auto args = std::make_shared<CalibrateArgs>();
  sub->add_option("input", args->in, "portable object (.tsr) with a network")->required();
  sub->add_option("-o,--output", args->out, "the portable object with ranges; default: the input");
  sub->add_option("--data", args->data,
                  "samples: mnist:DIR, cifar10:DIR or a .npz file, as for 'tessera eval'")
      ->required();
  sub->add_option("--samples", args->samples, "number of samples (default 256)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 30));
  sub->add_option("--normalise", args->normalise, "as for 'tessera eval'");
  sub->footer("example: tessera calibrate lenet.tsr --data mnist:data/mnist -o lenet-ranges.tsr");
  sub->callback([args, &action] { action = [args] { return runCalibrate(*args); }; });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metrics of the user's: shared libraries by dlopen, Python files in a child process.
#include "tessera/base/File.h"
#include "tessera/base/Npy.h"
#include "tessera/base/TempFolder.h"
#include "tessera/metric.h"
#include "tessera/tune/metrics/MetricSet.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::tune {

namespace {

class LibraryMetric : public UserMetric {
public:
  explicit LibraryMetric(decltype(&tsr_metric) function) : function(function) {}

  Result<double> evaluate(std::span<const OutputArray> got, std::span<const OutputArray> golden) override {
    std::vector<tsr_metric_array> ours = views(got), exact = views(golden);
    return function(ours.data(), exact.data(), static_cast<int32_t>(ours.size()));
  }

private:
  static std::vector<tsr_metric_array> views(std::span<const OutputArray> arrays) {
    std::vector<tsr_metric_array> list;
    for (const OutputArray &a : arrays)
      list.push_back({a.name.c_str(), a.values.data(), static_cast<int64_t>(a.values.size()), a.shape.data(),
                      static_cast<int32_t>(a.shape.size())});
    return list;
  }
  decltype(&tsr_metric) function;
};

} // namespace

// Arrays come as numbered files in the order of the list of names.
static constexpr const char *pythonDriver = R"py(
import importlib.util, os, sys
path, folder = sys.argv[1:3]
spec = importlib.util.spec_from_file_location("user_metric", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
if not callable(getattr(module, "metric", None)):
    sys.exit("it has no function metric(got, golden)")
if folder == "":
    print(1 if getattr(module, "higher_is_better", True) else 0)
else:
    import numpy
    names = open(os.path.join(folder, "names")).read().split("\0")[:-1]
    load = lambda kind: {
n: numpy.load(os.path.join(folder, f"{kind}{i}.npy")) for i, n in enumerate(names)
}
    print(repr(float(module.metric(load("got"), load("golden")))))
)py";

// Everything that can be read, without line ends at the end.
static std::string readAll(int from) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t count; (count = read(from, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<size_t>(count));
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

// Runs the driver; what it prints, or why it failed: the last line of what Python says.
static Result<std::string> runPython(const std::string &script, const std::string &folder) {
  std::array<int, 2> out;
  // Complaints go to a file: a pipe that nobody empties would stop the child.
  std::FILE *complaints = std::tmpfile();
  if (!complaints || pipe2(out.data(), O_CLOEXEC))
    return fail(StatusCode::Io, "cannot start python3: no pipe or temporary file");
  const char *interpreter = std::getenv("TESSERA_PYTHON");
  const std::array<const char *, 6> arguments = {
      interpreter ? interpreter : "python3", "-c", pythonDriver, script.c_str(), folder.c_str(), nullptr};
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(fileno(complaints), STDERR_FILENO);
    execvp(arguments[0], const_cast<char *const *>(arguments.data()));
    _exit(127);
  }
  close(out[1]);
  const std::string answer = child < 0 ? "" : readAll(out[0]);
  close(out[0]);
  int status = -1;
  if (child > 0)
    waitpid(child, &status, 0);
  lseek(fileno(complaints), 0, SEEK_SET);
  std::string complaint = readAll(fileno(complaints));
  complaint = complaint.substr(complaint.rfind('\n') + 1);
  std::fclose(complaints);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
    return fail(StatusCode::NotFound, "python3 is not installed; it is needed for metrics in Python");
  if (status != 0)
    return fail(StatusCode::InvalidArgument, "the metric '", script, "' failed: ", complaint);
  return answer;
}

namespace {
class PythonMetric : public UserMetric {
public:
  explicit PythonMetric(std::string script) : script(std::move(script)) {}

  Result<double> evaluate(std::span<const OutputArray> got, std::span<const OutputArray> golden) override {
    TESSERA_ASSIGN(TempFolder folder, TempFolder::create());
    std::string names;
    for (size_t i = 0; i < got.size(); ++i) {
      names += got[i].name + '\0';
      TESSERA_TRY(write(folder, "got", i, got[i]));
      TESSERA_TRY(write(folder, "golden", i, golden[i]));
    }
    TESSERA_TRY(writeFile(folder.path() + "/names", std::string_view(names)));
    TESSERA_ASSIGN(const std::string answer, runPython(script, folder.path()));
    char *end = nullptr;
    const double value = std::strtod(answer.c_str(), &end);
    if (answer.empty() || *end)
      return fail(StatusCode::InvalidArgument, "the metric '", script, "' printed '", answer,
                  "' beside its answer; it must print nothing");
    return value;
  }

private:
  static Status write(const TempFolder &folder, const char *kind, size_t i, const OutputArray &array) {
    return writeNpy(concat(folder.path(), "/", kind, i, ".npy"), NpyType::F4, array.shape,
                    std::as_bytes(std::span(array.values)));
  }
  std::string script;
};
} // namespace

Result<std::shared_ptr<UserMetric>> UserMetric::open(const std::string &path) {
  if (!fileExists(path))
    return fail(StatusCode::NotFound, "the metric '", path, "' does not exist");
  if (path.ends_with(".py")) {
    auto metric = std::make_shared<PythonMetric>(path);
    TESSERA_ASSIGN(const std::string answer, runPython(path, ""));
    metric->higherIsBetter = answer != "0";
    return std::shared_ptr<UserMetric>(metric);
  }
  // dlopen looks for a name without a slash elsewhere.
  void *library =
      dlopen((path.find('/') == std::string::npos ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(StatusCode::InvalidArgument, "the metric '", path, "' cannot be loaded: ", dlerror());
  auto function = reinterpret_cast<decltype(&tsr_metric)>(dlsym(library, "tsr_metric"));
  auto higher =
      reinterpret_cast<decltype(&tsr_metric_higher_is_better)>(dlsym(library, "tsr_metric_higher_is_better"));
  if (!function || !higher)
    return fail(StatusCode::InvalidArgument, "the metric '", path, "' has no function ",
                function ? "tsr_metric_higher_is_better" : "tsr_metric", "; see tessera/metric.h");
  auto metric = std::make_shared<LibraryMetric>(function);
  metric->higherIsBetter = higher() != 0;
  return std::shared_ptr<UserMetric>(metric);
}

} // namespace tessera::tune

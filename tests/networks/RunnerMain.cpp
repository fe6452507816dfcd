// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tessera-networks: compiles cases that run.py made, launches the oracle and the installed program with their
// inputs, and writes down what came out. It judges nothing.
//
// It reads names of folders from standard input, a line each. A folder holds model.onnx, case.json ({"mode",
// "threads", "launches", "bind"}) and for each launch in<i>.npz, whose arrays are called 0, 1, … in the order
// of the model's inputs. It writes oracle<i>.npz and cpu<i>.npz, and a line of JSON for each folder:
// {"folder", "compile": "" or a message, "crash": "" or where and how, "oracle": [...], "cpu": [...]}, the
// last two with
// "" or a message for each launch.
#include "../conformance/CpuBackend.h"

#include "tessera/base/Npy.h"
#include "tessera/frontends/onnx/Import.h"
#include "tessera/frontends/onnx/Value.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;
using nlohmann::json;

namespace {

/// What a child tells its parent, which outlives a crash: each line of the file is a step that was begun, or
/// the answer.
class Progress {
public:
  explicit Progress(int fd) : fd(fd) {}
  void at(const std::string &step) const { line("at " + step); }
  void answer(const json &value) const { line(value.dump(-1, ' ', false, json::error_handler_t::replace)); }

private:
  void line(const std::string &text) const {
    std::string whole = text + "\n";
    if (write(fd, whole.data(), whole.size()) != ssize_t(whole.size()))
      _exit(3);
  }
  int fd;
};

class CaseRunner {
public:
  CaseRunner(const std::string &folder, const Progress &progress) : folder(folder), progress(progress) {}

  json run() {
    session.context().getDiagEngine().registerHandler([&](Diagnostic &d) {
      if (d.getSeverity() == DiagnosticSeverity::Error && said.empty())
        said = d.str();
      return success(d.getSeverity() == DiagnosticSeverity::Error);
    });
    std::ifstream(folder + "/case.json") >> settings;
    answer = {{"compile", ""}, {"oracle", json::array()}, {"cpu", json::array()}};
    progress.at("import");
    if (!import())
      return answer;
    graph = *module->getOps<dfg::GraphOp>().begin();
    for (int i = 0; i < settings["launches"]; ++i) {
      inputs.emplace_back();
      if (std::string error = read(i); !error.empty())
        return refuse("inputs: " + error);
    }
    onOracle();
    onCpu();
    return answer;
  }

private:
  json refuse(const std::string &text) {
    answer["compile"] = text;
    return answer;
  }

  // Inputs that decide shapes are bound where the case says so.
  bool import() {
    Result<onnx::Model> read = onnx::readModel(folder + "/model.onnx");
    if (!read.ok()) {
      refuse("import: " + read.status().message());
      return false;
    }
    model = std::move(*read);
    onnximport::ImportOptions options;
    for (const std::string name : settings["bind"]) {
      Result<onnx::Tensor> tensor =
          onnx::readTensor(folder + "/bind" + std::to_string(options.bound.size()) + ".pb");
      if (tensor.ok())
        options.bound[name] = std::move(*tensor);
    }
    onnximport::Imported imported = onnximport::importModel(model, options, &session.context());
    for (const onnx::ValueInfo &input : model.graph.inputs)
      fed.push_back(!options.bound.count(input.name));
    module = std::move(imported.module);
    if (!module) {
      std::string all = "import: ";
      for (const std::string &problem : imported.problems)
        all += (all.size() > 8 ? "; " : "") + problem;
      refuse(all);
    }
    return bool(module);
  }

  std::string read(int launch) {
    Result<NpzEntries> arrays = readNpz(folder + "/in" + std::to_string(launch) + ".npz");
    if (!arrays.ok())
      return arrays.status().message();
    std::map<std::string, const NpyArray *> byName;
    for (auto &[name, array] : *arrays)
      byName[name] = &array;
    unsigned at = 0;
    for (size_t i = 0; i < fed.size(); ++i) {
      if (!fed[i])
        continue;
      auto it = byName.find(std::to_string(i));
      if (it == byName.end())
        return "there is no array " + std::to_string(i);
      oracle::Array array;
      array.elementType = getElementTypeOrSelf(graph.getArgumentTypes()[at++]);
      array.shape = it->second->shape;
      const char *data = reinterpret_cast<const char *>(it->second->data.data());
      array.bytes.assign(data, data + it->second->data.size());
      inputs.back().push_back(std::move(array));
    }
    return "";
  }

  void write(const std::string &kind, int launch, ArrayRef<oracle::Array> arrays) {
    NpzEntries entries;
    for (auto [i, array] : llvm::enumerate(arrays)) {
      std::string type;
      llvm::raw_string_ostream(type) << array.elementType;
      NpyArray out;
      out.type = npyTypeFor(parseElementType(type).value_or(ElementType::F32));
      out.shape = array.shape;
      out.data = std::as_bytes(std::span(array.bytes));
      entries.emplace_back(std::to_string(i), out);
    }
    if (Status s = writeNpz(folder + "/" + kind + std::to_string(launch) + ".npz", entries); !s.ok())
      llvm::errs() << s.message() << "\n";
  }

  void onOracle() {
    for (int i = 0; i < settings["launches"]; ++i) {
      progress.at("launch " + std::to_string(i) + " of the oracle");
      said.clear();
      auto results = oracle::runGraph(graph, inputs[i]);
      answer["oracle"].push_back(succeeded(results) ? "" : said.empty() ? "failed without a message" : said);
      if (succeeded(results))
        write("oracle", i, *results);
    }
  }

  void onCpu() {
    conformance::BackendOptions options;
    options.strict = settings["mode"] == "strict";
    options.threads = settings["threads"];
    said.clear();
    progress.at("install");
    FailureOr<std::string> installed = conformance::installModule(session, *module, options);
    if (failed(installed)) {
      refuse("install: " + (said.empty() ? "failed without a message" : said));
      return;
    }
    conformance::OpenProgram program;
    if (std::string error = program.open(*installed, graph, options); !error.empty()) {
      refuse(error);
      return;
    }
    for (int i = 0; i < settings["launches"]; ++i) {
      progress.at("launch " + std::to_string(i));
      std::vector<oracle::Array> results;
      answer["cpu"].push_back(program.run(inputs[i], results));
      if (answer["cpu"].back() == "")
        write("cpu", i, results);
    }
  }

  const std::string folder;
  const Progress &progress;
  Session session;
  std::string said;
  json settings, answer;
  onnx::Model model;
  OwningOpRef<ModuleOp> module;
  dfg::GraphOp graph;
  std::vector<bool> fed;
  std::vector<std::vector<oracle::Array>> inputs;
};

int temporaryFile() {
  char path[] = "/tmp/tessera-networks-XXXXXX";
  int fd = mkstemp(path);
  if (fd >= 0)
    unlink(path);
  return fd;
}

std::vector<std::string> linesOf(int fd) {
  std::string text;
  char buffer[4096];
  lseek(fd, 0, SEEK_SET);
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(n));
  close(fd);
  std::vector<std::string> lines;
  for (StringRef rest = text, line; !rest.empty();) {
    std::tie(line, rest) = rest.split('\n');
    if (!line.trim().empty())
      lines.push_back(line.str());
  }
  return lines;
}

struct Child {
  pid_t pid = -1;
  std::string folder;
  int progress = -1, messages = -1;
};

[[noreturn]] void inChild(const Child &child, unsigned seconds) {
  rlimit memory{rlim_t(12000) << 20, rlim_t(12000) << 20}, core{0, 0}, time{seconds, seconds + 5};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
  setrlimit(RLIMIT_CPU, &time);
  alarm(20 * seconds);
  dup2(child.messages, 1);
  dup2(child.messages, 2);
  Progress progress(child.progress);
  // Never destroyed: a process that may be damaged need not tidy up.
  progress.answer((new CaseRunner(child.folder, progress))->run());
  _exit(0);
}

void finish(const Child &child, int status) {
  std::vector<std::string> steps = linesOf(child.progress), messages = linesOf(child.messages);
  json answer = steps.empty() ? json() : json::parse(steps.back(), nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) {
    std::string how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no answer";
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU))
      how = "takes too long";
    answer = {{"compile", ""}, {"oracle", json::array()}, {"cpu", json::array()}};
    answer["crash"] = how + " " + (steps.empty() ? "" : steps.back()) +
                      (messages.empty() ? "" : ": " + messages.back().substr(0, 300));
  } else {
    answer["crash"] = "";
  }
  answer["folder"] = child.folder;
  std::cout << answer.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
}

} // namespace

int main(int argc, char **argv) {
  size_t jobs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  unsigned seconds = argc > 2 ? unsigned(std::max(1, std::atoi(argv[2]))) : 60;
  std::vector<Child> running;
  auto reap = [&] {
    int status = 0;
    pid_t pid = waitpid(-1, &status, 0);
    for (size_t i = 0; i < running.size(); ++i)
      if (running[i].pid == pid) {
        finish(running[i], status);
        running.erase(running.begin() + long(i));
        return;
      }
  };
  for (std::string folder; std::getline(std::cin, folder);) {
    while (running.size() >= jobs)
      reap();
    Child child;
    child.folder = folder;
    child.progress = temporaryFile();
    child.messages = temporaryFile();
    child.pid = child.progress < 0 || child.messages < 0 ? -1 : fork();
    if (child.pid == 0)
      inChild(child, seconds);
    if (child.pid < 0) {
      std::fprintf(stderr, "error: no process could be started for '%s'\n", folder.c_str());
      return 1;
    }
    running.push_back(child);
  }
  while (!running.empty())
    reap();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The front end for ONNX files: reads, binds inputs, imports, and reports all problems at once.
#include "tessera/frontends/Frontend.h"

#include "tessera/base/Npy.h"
#include "tessera/frontends/onnx/Importer.h"
#include "tessera/ir/dfg/Dfg.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera;
namespace ox = tessera::onnx;

namespace {

using ox::DataType;

DataType npyDataType(NpyType type) {
  switch (type) {
  case NpyType::B1:
    return DataType::Bool;
  case NpyType::I1:
    return DataType::I8;
  case NpyType::U1:
    return DataType::U8;
  case NpyType::I2:
    return DataType::I16;
  case NpyType::U2:
    return DataType::U16;
  case NpyType::I4:
    return DataType::I32;
  case NpyType::U4:
    return DataType::U32;
  case NpyType::I8:
    return DataType::I64;
  case NpyType::U8:
    return DataType::U64;
  case NpyType::F2:
    return DataType::F16;
  case NpyType::F4:
    return DataType::F32;
  case NpyType::F8:
    return DataType::F64;
  }
  return DataType::Undefined;
}

class OnnxFrontend : public Frontend {
public:
  std::string name() const override { return "onnx"; }
  std::vector<std::string> extensions() const override { return {".onnx"}; }
  FrontendOptions optionHelp() const override {
    return {{"bind", "NAME:FILE.npy, an input whose content is known when compiling; may be repeated"},
            {"dim",
             "INPUT:AXIS=EXTENT, an open extent that is known when compiling, or NAME=EXTENT, all those that "
             "the model calls NAME; may be repeated"}};
  }
  void registerDialects(DialectRegistry &registry) const override { registry.insert<nn::NnDialect>(); }

  OwningOpRef<ModuleOp> import(std::shared_ptr<llvm::SourceMgr> sources, const FrontendOptions &options,
                               MLIRContext *context) const override {
    const llvm::MemoryBuffer *buffer = sources->getMemoryBuffer(sources->getMainFileID());
    std::string path = buffer->getBufferIdentifier().str();
    Location nowhere = UnknownLoc::get(context);
    std::vector<std::string> problems;
    ox::ReadOptions read;
    read.problems = &problems;
    std::string folder = llvm::sys::path::parent_path(path).str();
    Result<ox::Model> model =
        ox::parseModel(std::as_bytes(std::span(buffer->getBufferStart(), buffer->getBufferSize())), path,
                       folder.empty() ? "." : folder, read);
    if (!model.ok()) {
      if (problems.empty())
        problems.push_back(model.status().message());
      return report(problems, path, nowhere);
    }
    onnximport::ImportOptions import;
    import.file = llvm::sys::path::filename(path).str();
    for (auto &[option, value] : options)
      if (failed(option == "dim" ? pin(import, value, nowhere) : bind(import, value, nowhere)))
        return nullptr;
    onnximport::Imported imported = onnximport::importModel(*model, import, context);
    if (!imported.module)
      return report(imported.problems, path, nowhere);
    return std::move(imported.module);
  }

private:
  static OwningOpRef<ModuleOp> report(ArrayRef<std::string> problems, StringRef path, Location loc) {
    for (const std::string &problem : problems)
      emitError(loc) << path << ": " << problem;
    return nullptr;
  }

  static LogicalResult pin(onnximport::ImportOptions &import, StringRef value, Location loc) {
    auto [place, size] = value.rsplit('=');
    auto [name, axis] = place.rsplit(':');
    onnximport::ImportOptions::Extent extent{place.str(), std::nullopt, 0};
    // The name of an extent may hold colons.
    if (int64_t number; !axis.empty() && !axis.getAsInteger(10, number) && number >= 0) {
      extent.name = name.str();
      extent.axis = number;
    }
    if (extent.name.empty() || size.getAsInteger(10, extent.size) || extent.size < 0)
      return emitError(loc) << "option 'dim': expected INPUT:AXIS=EXTENT or NAME=EXTENT, but got '" << value
                            << "'";
    import.extents.push_back(std::move(extent));
    return success();
  }

  static LogicalResult bind(onnximport::ImportOptions &import, StringRef value, Location loc) {
    // Names may hold colons, files rarely do.
    auto [name, file] = value.rsplit(':');
    if (file.empty() || name.empty())
      return emitError(loc) << "option 'bind': expected NAME:FILE.npy, but got '" << value << "'";
    Result<NpyArray> array = readNpy(file.str());
    if (!array.ok())
      return emitError(loc) << "option 'bind': " << array.status().message();
    auto kept = std::make_shared<NpyArray>(std::move(*array));
    ox::Tensor tensor;
    tensor.name = name.str();
    tensor.type = npyDataType(kept->type);
    tensor.dims = kept->shape;
    tensor.data = kept->data;
    tensor.owner = kept;
    import.bound[name.str()] = std::move(tensor);
    return success();
  }
};

} // namespace

namespace tessera {
std::unique_ptr<Frontend> createFrontend_onnx() { return std::make_unique<OnnxFrontend>(); }
} // namespace tessera

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The run-time half of the toy: memory that is known by numbers, and an interpreter of its bytecode that
// looks at every access. It reports a time of its own, one nanosecond for each instruction. TOY_FAULTS:
// `fail=N`, the next N launches fail; `lose=1`, the next one loses the device.
#include "tessera/runtime/device/Device.h"

#include "Bytecode.h"
#include "tessera/base/Diag.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>

namespace tessera {
namespace {

using namespace toy;

struct Kernel {
  std::string name;
  uint32_t registers = 0, arguments = 0;
  std::vector<Instruction> code;
  std::vector<uint64_t> words;
  std::vector<Convolution> convolutions;
};

using Memory = std::vector<std::byte>;

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// Reads an image and never beyond it.
class Reader {
public:
  explicit Reader(std::span<const std::byte> bytes) : bytes(bytes) {}
  template <typename T> T take() {
    T value{};
    if (ok = ok && bytes.size() - at >= sizeof(T); ok) {
      std::memcpy(&value, bytes.data() + at, sizeof(T));
      at += sizeof(T);
    }
    return value;
  }
  template <typename T> std::vector<T> list(uint64_t count) {
    std::vector<T> all;
    if (ok = ok && count <= (bytes.size() - at) / sizeof(T); ok && count) {
      all.resize(count);
      std::memcpy(all.data(), bytes.data() + at, count * sizeof(T));
      at += count * sizeof(T);
    }
    return all;
  }
  template <typename T> std::vector<T> list() { return list<T>(take<uint32_t>()); }
  bool ok = true;

private:
  std::span<const std::byte> bytes;
  size_t at = 0;
};

class ToyImage final : public DeviceImage {
public:
  static Result<std::shared_ptr<const DeviceImage>> load(std::span<const std::byte> bytes) {
    auto image = std::make_shared<ToyImage>();
    Reader reader(bytes);
    if (reader.take<uint32_t>() != imageMagic)
      return fail(StatusCode::InvalidArgument, "toy: the image is not one of the toy's");
    for (uint32_t n = reader.take<uint32_t>(); n && reader.ok; --n)
      image->constants.push_back(reader.list<std::byte>(reader.take<uint64_t>()));
    for (uint32_t n = reader.take<uint32_t>(); n && reader.ok; --n) {
      auto kernel = std::make_unique<Kernel>();
      std::vector<char> name = reader.list<char>();
      kernel->name.assign(name.begin(), name.end());
      kernel->registers = reader.take<uint32_t>();
      kernel->arguments = reader.take<uint32_t>();
      kernel->code = reader.list<Instruction>();
      kernel->words = reader.list<uint64_t>();
      kernel->convolutions = reader.list<Convolution>();
      image->kernels[kernel->name] = std::move(kernel);
    }
    if (!reader.ok)
      return fail(StatusCode::InvalidArgument, "toy: the image ends too early");
    return std::shared_ptr<const DeviceImage>(image);
  }
  void *find(std::string_view name) const override {
    auto it = kernels.find(std::string(name));
    return it == kernels.end()
               ? nullptr
               : const_cast<Entry *>(
                     &entries.try_emplace(it->first, Entry{this, it->second.get()}).first->second);
  }

  /// What a handle points at.
  struct Entry {
    const ToyImage *image;
    const Kernel *kernel;
  };
  std::vector<Memory> constants;

private:
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  mutable std::map<std::string, Entry> entries;
};

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename T> T as(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <typename T> uint64_t bitsOf(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
unsigned widthOf(Element type) { return type == Element::I1 ? 1 : 8 * bytesOf(type); }
// The integer's low bits, sign extended; a bit is 0 or -1.
uint64_t wrap(uint64_t value, Element type) {
  unsigned shift = 64 - widthOf(type);
  return static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
}
uint64_t zeroExtend(uint64_t value, Element type) {
  return type == Element::I64 ? value : value & ((uint64_t(1) << widthOf(type)) - 1);
}

// Division by zero, and of the smallest integer by -1, has no result.
bool hasResult(const Instruction &i, uint64_t x, uint64_t y) {
  const bool isSigned = i.op == Opcode::Div || i.op == Opcode::Rem;
  if (isFloat(i.type) || !(isSigned || i.op == Opcode::DivUnsigned || i.op == Opcode::RemUnsigned))
    return true;
  const uint64_t smallest = wrap(uint64_t(1) << (widthOf(i.type) - 1), i.type);
  return y && !(isSigned && x == smallest && y == ~uint64_t(0));
}

uint64_t computeInt(Opcode op, Element type, uint64_t x, uint64_t y) {
  const auto a = static_cast<int64_t>(x), b = static_cast<int64_t>(y);
  const uint64_t ua = zeroExtend(x, type), ub = zeroExtend(y, type);
  switch (op) {
  case Opcode::Add:
    return wrap(x + y, type);
  case Opcode::Sub:
    return wrap(x - y, type);
  case Opcode::Mul:
    return wrap(x * y, type);
  case Opcode::Div:
    return wrap(static_cast<uint64_t>(a / b), type);
  case Opcode::Rem:
    return wrap(static_cast<uint64_t>(a % b), type);
  case Opcode::DivUnsigned:
    return wrap(ua / ub, type);
  case Opcode::RemUnsigned:
    return wrap(ua % ub, type);
  case Opcode::And:
    return x & y;
  case Opcode::Or:
    return x | y;
  case Opcode::Xor:
    return x ^ y;
  case Opcode::Shl:
    return ub < widthOf(type) ? wrap(x << ub, type) : 0;
  case Opcode::Shr:
    return ub < widthOf(type) ? wrap(static_cast<uint64_t>(a >> ub), type) : 0;
  case Opcode::ShrUnsigned:
    return ub < widthOf(type) ? wrap(ua >> ub, type) : 0;
  case Opcode::Max:
    return a > b ? x : y;
  case Opcode::Min:
    return a < b ? x : y;
  case Opcode::MaxUnsigned:
    return ua > ub ? x : y;
  case Opcode::MinUnsigned:
    return ua < ub ? x : y;
  case Opcode::Abs:
    return wrap(a < 0 ? 0 - x : x, type);
  default:
    return 0;
  }
}

template <typename T> T larger(T a, T b) { return a == b ? (std::signbit(a) ? b : a) : a > b ? a : b; }
template <typename T> T smaller(T a, T b) { return a == b ? (std::signbit(a) ? a : b) : a < b ? a : b; }

template <typename T> T computeFloat(Opcode op, T a, T b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  constexpr T none = std::numeric_limits<T>::quiet_NaN();
  switch (op) {
  case Opcode::Add:
    return a + b;
  case Opcode::Sub:
    return a - b;
  case Opcode::Mul:
    return a * b;
  case Opcode::Div:
    return a / b;
  case Opcode::Rem:
    return std::fmod(a, b);
  case Opcode::Max:
    return nan ? none : larger(a, b);
  case Opcode::Min:
    return nan ? none : smaller(a, b);
  case Opcode::MaxNumber:
    return std::isnan(a) ? b : std::isnan(b) ? a : larger(a, b);
  case Opcode::MinNumber:
    return std::isnan(a) ? b : std::isnan(b) ? a : smaller(a, b);
  case Opcode::Negate:
    return -a;
  case Opcode::Abs:
    return std::fabs(a);
  case Opcode::Sqrt:
    return std::sqrt(a);
  case Opcode::Floor:
    return std::floor(a);
  case Opcode::Ceil:
    return std::ceil(a);
  default:
    return none;
  }
}

bool compareInt(unsigned predicate, Element type, uint64_t x, uint64_t y) {
  const auto a = static_cast<int64_t>(x), b = static_cast<int64_t>(y);
  const uint64_t ua = zeroExtend(x, type), ub = zeroExtend(y, type);
  const bool answers[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, ua<ub, ua <= ub, ua> ub, ua >= ub};
  return predicate < std::size(answers) && answers[predicate];
}

bool compareFloat(unsigned predicate, double a, double b) {
  const bool un = std::isnan(a) || std::isnan(b);
  const bool ordered[] = {false, a == b, a > b, a >= b, a < b, a <= b, a != b, true};
  if (predicate < 8)
    return !un && ordered[predicate];
  return un || predicate == 15 || (predicate < 14 && ordered[predicate - 7]);
}

double toDouble(uint64_t bits, Element type) {
  return type == Element::F32 ? as<float>(bits) : as<double>(bits);
}
uint64_t fromDouble(double value, Element type) {
  return type == Element::F32 ? bitsOf(static_cast<float>(value)) : bitsOf(value);
}

// Floats beyond an integer's range have no meaning; the nearest end is as good as any.
uint64_t toInt(double value, Element type, bool isUnsigned) {
  const int bits = static_cast<int>(widthOf(type)) - !isUnsigned;
  const double end = std::ldexp(1.0, bits), begin = isUnsigned ? 0 : -end;
  if (std::isnan(value))
    return 0;
  value = std::trunc(value);
  if (value >= end)
    return wrap(bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1, type);
  if (value < begin)
    value = begin;
  return wrap(isUnsigned ? static_cast<uint64_t>(value) : static_cast<uint64_t>(static_cast<int64_t>(value)),
              type);
}

uint64_t convert(const Instruction &i, uint64_t x) {
  const Element from = static_cast<Element>(i.sub);
  switch (i.op) {
  case Opcode::Extend:
    return isFloat(i.type) ? fromDouble(toDouble(x, from), i.type) : x;
  case Opcode::ExtendUnsigned:
    return zeroExtend(x, from);
  case Opcode::Truncate:
    return isFloat(i.type) ? fromDouble(toDouble(x, from), i.type) : wrap(x, i.type);
  case Opcode::ToFloat:
    return i.type == Element::F32 ? bitsOf(static_cast<float>(static_cast<int64_t>(x)))
                                  : bitsOf(static_cast<double>(static_cast<int64_t>(x)));
  case Opcode::ToFloatUnsigned:
    return i.type == Element::F32 ? bitsOf(static_cast<float>(zeroExtend(x, from)))
                                  : bitsOf(static_cast<double>(zeroExtend(x, from)));
  case Opcode::ToInt:
  case Opcode::ToIntUnsigned:
    return toInt(toDouble(x, from), i.type, i.op == Opcode::ToIntUnsigned);
  default: // Bits
    return isFloat(i.type) ? x & (i.type == Element::F32 ? 0xffffffffu : ~uint64_t(0)) : wrap(x, i.type);
  }
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

class ToyDevice final : public Device {
public:
  ToyDevice() : Device("toy", 0) {
    deviceInfo.description = "interpreter of a small bytecode, for tests";
    deviceInfo.isPretend = true;
    deviceInfo.memoryBytes = uint64_t(1) << 30;
    deviceInfo.flopsPerSecond = deviceInfo.bytesPerSecond = 1e8;
    deviceInfo.ownTime = true;
    if (const char *faults = std::getenv("TOY_FAULTS")) {
      const std::string text = faults;
      if (text.starts_with("fail="))
        failing = std::atoi(text.c_str() + 5);
      losing = text == "lose=1";
    }
  }

  const DeviceInfo &info() const override { return deviceInfo; }
  bool runs(std::string_view target) const override { return target == "toy"; }
  Result<std::shared_ptr<const DeviceImage>> load(std::span<const std::byte> bytes) override {
    return ToyImage::load(bytes);
  }
  Result<void *> allocate(size_t bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    if (used + bytes > deviceInfo.memoryBytes)
      return fail(StatusCode::OutOfMemory, name(), ": out of memory: asked ", formatBytes(bytes));
    used += bytes;
    return reinterpret_cast<void *>(take(bytes));
  }
  void release(void *memory, size_t bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    used -= bytes;
    blocks.erase(numberOf(memory));
  }
  Status copyIn(void *to, size_t offset, const void *host, size_t bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    TESSERA_ASSIGN(std::byte * place, find(numberOf(to), offset, bytes));
    std::memcpy(place, host, bytes);
    return Status();
  }
  Status copyOut(void *host, const void *from, size_t offset, size_t bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    TESSERA_ASSIGN(std::byte * place, find(numberOf(from), offset, bytes));
    std::memcpy(host, place, bytes);
    return Status();
  }
  Status launch(std::span<const KernelLaunch> steps, unsigned) override {
    uint64_t executed = 0;
    return run(steps, executed);
  }
  EventRef launchAsync(std::span<const KernelLaunch> steps, unsigned) override {
    uint64_t executed = 0;
    Status status = run(steps, executed);
    return Event::finished(std::move(status), {executed, {{"instructions", executed}}});
  }

  bool records() const override { return true; }
  Result<std::shared_ptr<DeviceRecording>> record(std::span<const KernelLaunch> steps) override {
    auto recording = std::make_shared<Recording>();
    recording->steps.assign(steps.begin(), steps.end());
    return std::shared_ptr<DeviceRecording>(std::move(recording));
  }
  EventRef replay(const std::shared_ptr<DeviceRecording> &recording,
                  std::span<const uint64_t> args) override {
    std::vector<KernelLaunch> steps = static_cast<Recording &>(*recording).steps;
    for (KernelLaunch &step : steps) {
      step.args = args.data();
      args = args.subspan(step.argCount);
    }
    return launchAsync(steps, 1);
  }

private:
  struct Recording final : DeviceRecording {
    std::vector<KernelLaunch> steps;
  };
  static uint64_t numberOf(const void *memory) { return reinterpret_cast<uint64_t>(memory); }
  // Numbers, not addresses: whoever adds to one gets the memory of nobody.
  uint64_t take(size_t bytes) {
    next += uint64_t(1) << 32;
    blocks[next].resize(bytes);
    return next;
  }
  Result<std::byte *> find(uint64_t number, uint64_t offset, uint64_t bytes) {
    auto it = blocks.find(number);
    if (it == blocks.end())
      return fail(StatusCode::Internal, name(), ": there is no memory ", number);
    if (offset > it->second.size() || bytes > it->second.size() - offset)
      return fail(StatusCode::Internal, name(), ": ", bytes, " bytes at ", offset, " of memory of ",
                  it->second.size());
    return it->second.data() + offset;
  }
  Status run(std::span<const KernelLaunch> steps, uint64_t &executed);
  Status execute(const ToyImage::Entry &entry, std::vector<uint64_t> &r, uint64_t &executed,
                 std::vector<uint64_t> &taken);
  Result<uint64_t> load(uint64_t number, uint64_t index, Element type);
  Status store(uint64_t number, uint64_t index, Element type, uint64_t value);
  Status convolve(const Convolution &c, const std::vector<uint64_t> &r);

  DeviceInfo deviceInfo;
  std::mutex mutex;
  std::map<uint64_t, Memory> blocks;
  std::map<std::pair<const ToyImage *, uint32_t>, uint64_t> constants;
  uint64_t next = 0, used = 0;
  int failing = 0;
  bool losing = false;
};

Result<uint64_t> ToyDevice::load(uint64_t number, uint64_t index, Element type) {
  const unsigned bytes = bytesOf(type);
  TESSERA_ASSIGN(const std::byte *place, find(number, index * bytes, bytes));
  uint64_t value = 0;
  std::memcpy(&value, place, bytes);
  return isFloat(type) ? value : wrap(value, type);
}

Status ToyDevice::store(uint64_t number, uint64_t index, Element type, uint64_t value) {
  const unsigned bytes = bytesOf(type);
  TESSERA_ASSIGN(std::byte * place, find(number, index * bytes, bytes));
  if (type == Element::I1)
    value &= 1;
  std::memcpy(place, &value, bytes);
  return Status();
}

Status ToyDevice::convolve(const Convolution &c, const std::vector<uint64_t> &r) {
  auto places = [&](int d, int64_t extent) {
    return (extent + c.pads[d] + c.pads[2 + d] - c.dilations[d] * (c.kernel[d] - 1) - 1) / c.strides[d] + 1;
  };
  const auto batch = static_cast<int64_t>(r[c.batch]);
  const int64_t height = places(0, c.height), width = places(1, c.width), part = c.channels / c.groups;
  auto floats = [&](uint32_t memory, int64_t count) -> Result<float *> {
    TESSERA_ASSIGN(std::byte * place, find(r[memory], 0, static_cast<uint64_t>(count) * 4));
    return reinterpret_cast<float *>(place);
  };
  TESSERA_ASSIGN(const float *x, floats(c.x, batch * c.channels * c.height * c.width));
  TESSERA_ASSIGN(const float *w, floats(c.w, c.features * part * c.kernel[0] * c.kernel[1]));
  TESSERA_ASSIGN(float *y, floats(c.y, batch * c.features * height * width));
  const float *bias = nullptr;
  if (c.bias != ~0u) {
    TESSERA_ASSIGN(bias, floats(c.bias, c.features));
  }
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t f = 0; f < c.features; ++f)
      for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < width; ++j) {
          float sum = bias ? bias[f] : 0;
          for (int64_t k = 0; k < part; ++k)
            for (int64_t u = 0; u < c.kernel[0]; ++u)
              for (int64_t v = 0; v < c.kernel[1]; ++v) {
                const int64_t row = i * c.strides[0] + u * c.dilations[0] - c.pads[0],
                              column = j * c.strides[1] + v * c.dilations[1] - c.pads[1];
                if (row < 0 || row >= c.height || column < 0 || column >= c.width)
                  continue;
                const int64_t channel = f / (c.features / c.groups) * part + k;
                sum = std::fma(w[((f * part + k) * c.kernel[0] + u) * c.kernel[1] + v],
                               x[((n * c.channels + channel) * c.height + row) * c.width + column], sum);
              }
          y[((n * c.features + f) * height + i) * width + j] = sum;
        }
  return Status();
}

Status ToyDevice::execute(const ToyImage::Entry &entry, std::vector<uint64_t> &r, uint64_t &executed,
                          std::vector<uint64_t> &taken) {
  const Kernel &kernel = *entry.kernel;
  for (size_t at = 0;; ++executed) {
    if (at >= kernel.code.size())
      return fail(StatusCode::Internal, name(), ": kernel '", kernel.name, "' runs off its end");
    const Instruction &i = kernel.code[at++];
    switch (i.op) {
    case Opcode::Word:
      r[i.d] = kernel.words[i.a];
      continue;
    case Opcode::Move:
      r[i.d] = r[i.a];
      continue;
    case Opcode::Jump:
      at = i.a;
      continue;
    case Opcode::Branch:
      at = r[i.a] & 1 ? i.b : i.c;
      continue;
    case Opcode::Return:
      return Status();
    case Opcode::Load: {
      TESSERA_ASSIGN(r[i.d], load(r[i.a], r[i.b], i.type));
      continue;
    }
    case Opcode::Store:
      TESSERA_TRY(store(r[i.a], r[i.b], i.type, r[i.c]));
      continue;
    case Opcode::Constant: {
      auto [it, isNew] = constants.try_emplace({entry.image, i.a});
      if (isNew) {
        it->second = take(entry.image->constants[i.a].size());
        blocks[it->second] = entry.image->constants[i.a];
      }
      r[i.d] = it->second;
      continue;
    }
    case Opcode::Take:
      r[i.d] = take(r[i.a]);
      taken.push_back(r[i.d]);
      continue;
    case Opcode::Select:
      r[i.d] = r[i.a] & 1 ? r[i.b] : r[i.c];
      continue;
    case Opcode::Convolve:
      TESSERA_TRY(convolve(kernel.convolutions[i.a], r));
      continue;
    case Opcode::CompareInt:
      r[i.d] = wrap(compareInt(i.sub, i.type, r[i.a], r[i.b]), Element::I1);
      continue;
    case Opcode::CompareFloat:
      r[i.d] = wrap(compareFloat(i.sub, toDouble(r[i.a], i.type), toDouble(r[i.b], i.type)), Element::I1);
      continue;
    default:
      break;
    }
    if (!hasResult(i, r[i.a], r[i.b]))
      return fail(StatusCode::InvalidArgument, name(), ": kernel '", kernel.name,
                  "' divides by zero, or the smallest integer by -1");
    if (i.op >= Opcode::Extend)
      r[i.d] = convert(i, r[i.a]);
    else if (i.type == Element::F32)
      r[i.d] = bitsOf(computeFloat(i.op, as<float>(r[i.a]), as<float>(r[i.b])));
    else if (i.type == Element::F64)
      r[i.d] = bitsOf(computeFloat(i.op, as<double>(r[i.a]), as<double>(r[i.b])));
    else
      r[i.d] = computeInt(i.op, i.type, r[i.a], r[i.b]);
  }
}

Status ToyDevice::run(std::span<const KernelLaunch> steps, uint64_t &executed) {
  std::lock_guard<std::mutex> lock(mutex);
  if (losing) {
    losing = false;
    return fail(StatusCode::DeviceLost, name(), ": was told to get lost");
  }
  if (failing > 0) {
    --failing;
    return fail(StatusCode::Internal, name(), ": was told to fail");
  }
  for (const KernelLaunch &step : steps) {
    const auto &entry = *static_cast<const ToyImage::Entry *>(step.handle);
    if (step.argCount != entry.kernel->arguments)
      return fail(StatusCode::Internal, name(), ": kernel '", step.kernel, "' takes ",
                  entry.kernel->arguments, " arguments, but got ", step.argCount);
    std::vector<uint64_t> registers(entry.kernel->registers), taken;
    std::copy_n(step.args, step.argCount, registers.begin());
    Status status = execute(entry, registers, executed, taken);
    for (uint64_t number : taken)
      blocks.erase(number);
    TESSERA_TRY(status);
  }
  return Status();
}

} // namespace

std::vector<std::unique_ptr<Device>> createDevices_toy() {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::make_unique<ToyDevice>());
  return devices;
}

} // namespace tessera

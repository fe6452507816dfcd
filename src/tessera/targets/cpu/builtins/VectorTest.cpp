// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shows what the builtins are for: linked as bitcode, a loop over a math function becomes vector code of the
// kernel's CPU without a call in it; linked as an object, nothing that code generation asks for stays
// undefined.
#include "tessera/targets/cpu/builtins/Builtins.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "tessera-builtins-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
};

void write(const fs::path &path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }
std::string read(const fs::path &path) {
  std::stringstream s;
  s << std::ifstream(path).rdbuf();
  return s.str();
}
bool run(const Folder &folder, const std::string &command) {
  std::string whole =
      "cd " + folder.path.string() + " && export PATH=" TESSERA_LLVM_BIN ":$PATH && (" + command + ")";
  return std::system(whole.c_str()) == 0;
}

std::string loopOver(const std::string &function, const std::string &type, const std::string &triple,
                     const std::string &attributes) {
  return "target triple = \"" + triple + "\"\ndeclare " + type + " @" + function + "(" + type + ")\n" +
         "define void @kernel(ptr noalias %x, ptr noalias %y, i64 %n) #0 {\nentry:\n  br label %loop\nloop:\n"
         "  %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n  %p = getelementptr " +
         type + ", ptr %x, i64 %i\n  %v = load " + type + ", ptr %p\n  %r = call " + type + " @" + function +
         "(" + type + " %v)\n  %q = getelementptr " + type + ", ptr %y, i64 %i\n  store " + type +
         " %r, ptr %q\n  %j = add nuw nsw i64 %i, 1\n  %c = icmp slt i64 %j, %n\n"
         "  br i1 %c, label %loop, label %done\ndone:\n  ret void\n}\nattributes #0 = { " +
         attributes + " }\n";
}

struct Case {
  const char *arch, *triple, *attributes, *vector;
};
const Case cases[] = {
    {"x86_64", "x86_64-unknown-linux-gnu", "\"target-cpu\"=\"haswell\"", "ymm"},
    {"x86_64", "x86_64-unknown-linux-gnu",
     "\"target-cpu\"=\"skylake-avx512\" \"prefer-vector-width\"=\"512\"", "zmm"},
    {"aarch64", "aarch64-unknown-linux-gnu", "\"target-cpu\"=\"neoverse-n1\"", ".4s"},
    {"riscv64", "riscv64-unknown-linux-gnu", "\"target-features\"=\"+m,+a,+f,+d,+c,+v\"", "vsetvli"},
};

TEST(Vector, loopsAreVectorised) {
  Folder folder;
  for (const Case &c : cases) {
    write(folder.path / "builtins.bc", tessera::cpu::builtinsBitcode(c.arch));
    for (const char *function :
         {"expf", "exp2f", "logf", "sinf", "cosf", "tanhf", "erff", "__tessera_fast_expf",
          "__tessera_fast_tanhf", "__tessera_fast_erff", "exp", "log", "sin", "atan", "cbrt"}) {
      std::string name = function;
      bool single = name.back() == 'f';
      // The exact reduction of large doubles multiplies 64-bit integers, which only AVX-512 makes worth it;
      // and a cube root has a division by constants that the RISC-V cost model does not like.
      if ((name == "sin" && std::string(c.vector) != "zmm") ||
          (name == "cbrt" && std::string(c.arch) == "riscv64"))
        continue;
      write(folder.path / "kernel.ll", loopOver(name, single ? "float" : "double", c.triple, c.attributes));
      ASSERT_TRUE(run(folder, "llvm-link --only-needed kernel.ll builtins.bc -o all.bc 2>log && opt -O3 "
                              "all.bc -o opt.bc 2>log && "
                              "llc -O3 opt.bc -o all.s 2>>log"))
          << c.arch << " " << name << ": " << read(folder.path / "log");
      std::string assembly = read(folder.path / "all.s");
      size_t begin = assembly.find("kernel:"), end = assembly.find(".size\tkernel");
      ASSERT_NE(begin, std::string::npos);
      std::string body = assembly.substr(begin, end - begin);
      std::string vector = !single && std::string(c.vector) == ".4s" ? ".2d" : c.vector;
      EXPECT_NE(body.find(vector), std::string::npos)
          << name << " for " << c.attributes << " is not vectorised";
      EXPECT_EQ(body.find("call"), std::string::npos) << name << " for " << c.attributes << " is called";
    }
  }
}

TEST(Object, nothingIsUndefined) {
  Folder folder;
  // What code generation turns into calls somewhere: 16-bit floats, wide integers, rounding, remainders, fma,
  // copies.
  const char *body = R"(
define half @h(float %x) { %r = fptrunc float %x to half ret half %r }
define float @hf(half %x) { %r = fpext half %x to float ret float %r }
define half @hd(double %x) { %r = fptrunc double %x to half ret half %r }
define double @hdf(half %x) { %r = fpext half %x to double ret double %r }
define bfloat @b(float %x) { %r = fptrunc float %x to bfloat ret bfloat %r }
define bfloat @bd(double %x) { %r = fptrunc double %x to bfloat ret bfloat %r }
define float @bf(bfloat %x) { %r = fpext bfloat %x to float ret float %r }
define i128 @d(i128 %a, i128 %b) { %r = sdiv i128 %a, %b ret i128 %r }
define i128 @ud(i128 %a, i128 %b) { %r = udiv i128 %a, %b ret i128 %r }
define i128 @m(i128 %a, i128 %b) { %r = srem i128 %a, %b ret i128 %r }
define i128 @um(i128 %a, i128 %b) { %r = urem i128 %a, %b ret i128 %r }
define i128 @mul(i128 %a, i128 %b) { %r = mul i128 %a, %b ret i128 %r }
define i128 @mulo(i128 %a, i128 %b) { %t = call {i128, i1} @llvm.smul.with.overflow.i128(i128 %a, i128 %b) %r = extractvalue {i128, i1} %t, 0 ret i128 %r }
declare {i128, i1} @llvm.smul.with.overflow.i128(i128, i128)
define i64 @mulo64(i64 %a, i64 %b) { %t = call {i64, i1} @llvm.smul.with.overflow.i64(i64 %a, i64 %b) %r = extractvalue {i64, i1} %t, 0 %o = extractvalue {i64, i1} %t, 1 %s = select i1 %o, i64 0, i64 %r ret i64 %s }
declare {i64, i1} @llvm.smul.with.overflow.i64(i64, i64)
define double @fi(i128 %a) { %r = sitofp i128 %a to double ret double %r }
define double @fu(i128 %a) { %r = uitofp i128 %a to double ret double %r }
define float @si(i128 %a) { %r = sitofp i128 %a to float ret float %r }
define float @su(i128 %a) { %r = uitofp i128 %a to float ret float %r }
define i128 @if(double %a) { %r = fptosi double %a to i128 ret i128 %r }
define i128 @uf(double %a) { %r = fptoui double %a to i128 ret i128 %r }
define i128 @isf(float %a) { %r = fptosi float %a to i128 ret i128 %r }
define i128 @usf(float %a) { %r = fptoui float %a to i128 ret i128 %r }
define half @fh(i128 %a) { %r = sitofp i128 %a to half ret half %r }
define half @fuh(i128 %a) { %r = uitofp i128 %a to half ret half %r }
define i128 @ih(half %a) { %r = fptosi half %a to i128 ret i128 %r }
define i128 @iuh(half %a) { %r = fptoui half %a to i128 ret i128 %r }
define float @rem(float %a, float %b) { %r = frem float %a, %b ret float %r }
define double @remd(double %a, double %b) { %r = frem double %a, %b ret double %r }
define half @remh(half %a, half %b) { %r = frem half %a, %b ret half %r }
define i64 @pc(i64 %a) { %r = call i64 @llvm.ctpop.i64(i64 %a) ret i64 %r }
declare i64 @llvm.ctpop.i64(i64)
define void @cpy(ptr %a, ptr %b, i64 %n) { call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false) call void @llvm.memmove.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false) call void @llvm.memset.p0.i64(ptr %a, i8 0, i64 %n, i1 false) ret void }
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
)";
  std::string text = body;
  for (const char *name : {"floor", "ceil",  "trunc", "round", "roundeven", "rint", "nearbyint", "exp",
                           "exp2",  "exp10", "log",   "log2",  "log10",     "sin",  "cos",       "tan",
                           "asin",  "acos",  "atan",  "sinh",  "cosh",      "tanh", "sqrt"})
    for (auto [type, suffix] :
         {std::pair("float", "f32"), std::pair("double", "f64"), std::pair("half", "f16")})
      text += std::string("declare ") + type + " @llvm." + name + "." + suffix + "(" + type + ")\ndefine " +
              type + " @u_" + name + suffix + "(" + type + " %x) { %r = call " + type + " @llvm." + name +
              "." + suffix + "(" + type + " %x) ret " + type + " %r }\n";
  for (const char *name : {"pow", "atan2", "minnum", "maxnum", "minimum", "maximum", "minimumnum"})
    for (auto [type, suffix] : {std::pair("float", "f32"), std::pair("double", "f64")})
      text += std::string("declare ") + type + " @llvm." + name + "." + suffix + "(" + type + ", " + type +
              ")\ndefine " + type + " @t_" + name + suffix + "(" + type + " %x, " + type +
              " %y) { %r = call " + type + " @llvm." + name + "." + suffix + "(" + type + " %x, " + type +
              " %y) ret " + type + " %r }\n";
  for (auto [type, suffix] : {std::pair("float", "f32"), std::pair("double", "f64")})
    text += std::string("declare ") + type + " @llvm.fma." + suffix + "(" + type + "," + type + "," + type +
            ")\ndefine " + type + " @f_" + suffix + "(" + type + " %x, " + type + " %y, " + type +
            " %z) { %r = call " + type + " @llvm.fma." + suffix + "(" + type + " %x, " + type + " %y, " +
            type + " %z) ret " + type + " %r }\ndeclare " + type + " @llvm.powi." + suffix + ".i32(" + type +
            ", i32)\ndefine " + type + " @i_" + suffix + "(" + type + " %x, i32 %y) { %r = call " + type +
            " @llvm.powi." + suffix + ".i32(" + type + " %x, i32 %y) ret " + type + " %r }\ndeclare " + type +
            " @llvm.ldexp." + suffix + ".i32(" + type + ", i32)\ndefine " + type + " @l_" + suffix + "(" +
            type + " %x, i32 %y) { %r = call " + type + " @llvm.ldexp." + suffix + ".i32(" + type +
            " %x, i32 %y) ret " + type + " %r }\n";
  for (auto [arch, triple, features] :
       {std::tuple("x86_64", "x86_64-unknown-linux-gnu", ""),
        std::tuple("aarch64", "aarch64-unknown-linux-gnu", ""),
        std::tuple("riscv64", "riscv64-unknown-linux-gnu", "-target-abi=lp64d -mattr=+m,+a,+f,+d,+c")}) {
    write(folder.path / "builtins.o", tessera::cpu::builtinsObject(arch));
    write(folder.path / "all.ll", std::string("target triple = \"") + triple + "\"\n" + text);
    EXPECT_TRUE(run(folder, std::string("llc -O2 -relocation-model=pic -filetype=obj ") + features +
                                " all.ll -o all.o 2>log && ld.lld -shared -Bsymbolic --gc-sections "
                                "--no-undefined all.o builtins.o -o all.so 2>>log"))
        << arch << ":\n"
        << read(folder.path / "log");
  }
}

} // namespace

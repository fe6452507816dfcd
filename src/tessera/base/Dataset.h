// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Labelled data that accuracy is measured on: MNIST's idx files (plain or gzipped),
// CIFAR-10's binary files, and `.npz` files with `x` and `y`. Readers of untrusted bytes:
// hardened and fuzzed. What a network wants of an image (floats, a layout) is not
// decided here.
#pragma once

#include "tessera/base/Npy.h"

namespace tessera {

/// Samples and their classes. Images are u8 in NCHW order.
struct Dataset {
  std::string name;           ///< For messages: "mnist", "cifar10" or the file.
  NpyArray x;                 ///< First extent: the number of samples.
  std::vector<int64_t> label; ///< One for each sample, not negative.

  int64_t size() const { return static_cast<int64_t>(label.size()); }
};

/// Most bytes that a gzipped file may unpack to.
inline constexpr uint64_t gunzipLimit = uint64_t(4) << 30;

/// Unpacks a gzip file; several members in a row are one file.
Result<NpyArray> gunzip(std::span<const std::byte> bytes, std::string_view name,
                        uint64_t limit = gunzipLimit);
/// Parses an idx file of bytes (the only kind MNIST has), gzipped or not, into an array of u8.
Result<NpyArray> parseIdx(std::span<const std::byte> bytes, std::string_view name,
                          uint64_t limit = gunzipLimit);
/// Parses CIFAR-10's binary form: for each image a byte of label and 3072 of pixels, NCHW.
Result<Dataset> parseCifar10(std::span<const std::byte> bytes, std::string_view name);
/// Samples `x` and labels `y` of a `.npz` file.
Result<Dataset> parseLabelled(const NpzEntries &entries, std::string_view name);

/// Reads what a `--data` option names: "mnist:DIR", "cifar10:DIR" (the test images of both) or "FILE.npz".
/// Without
/// ":DIR" the folder is mnist or cifar10 in $TESSERA_DATA.
Result<Dataset> readDataset(const std::string &spec);

} // namespace tessera

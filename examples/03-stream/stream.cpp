// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 3: a bright square of 8 x 8 pixels moves to the right, 2 pixels a frame. One thread pushes frames,
// another pops what the program says of them. usage: stream motion.tsx
#include <tessera/tessera.hpp>

#include <cstdio>
#include <thread>

static constexpr int height = 48, width = 64, frames = 10;

static tsr::Buffer makeFrame(int number) {
  tsr::Buffer frame(TSR_F32, std::vector<int64_t>{height, width});
  std::span<float> pixels = frame.write<float>();
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      pixels[y * width + x] = y >= 20 && y < 28 && x >= 2 * number && x < 2 * number + 8 ? 1.0f : 0.0f;
  return frame;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: stream motion.tsx\n");
    return 1;
  }
  try {
    tsr::Program program = tsr::Program::load(argv[1]);
    tsr::Stream stream(program);
    std::thread camera([&] {
      for (int i = 0; i < frames; ++i)
        stream.push({makeFrame(i)}); // Waits while the stream is full.
      stream.close();
    });
    // Results come in the order of the frames; after the last one there is nothing.
    for (int i = 0; auto outputs = stream.pop(); ++i)
      std::printf("frame %d: %d pixels changed\n", i, (*outputs)[1].read<int32_t>()[0]);
    camera.join();
  } catch (const tsr::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}

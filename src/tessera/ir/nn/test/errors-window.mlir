// Pools and sampling: one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' with a batch, channels and spatial dimensions, but got 'tensor<2x3xf32>'}}
  %r = nn.pool max %a {kernel = array<i64>, strides = array<i64>, pads = array<i64>, dilations = array<i64>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a window that fits, but got 5 elements over 4 with pads}}
  %r = nn.pool max %a {kernel = array<i64: 5>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected p to be at least 1, but got 0}}
  %r = nn.pool l2 %a {kernel = array<i64: 2>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, p = 0 : i64} : tensor<2x3x4xf32> -> tensor<2x3x3xf32>
  return
}

// -----

func.func @f(%a: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' with channels in dimension 1, but got 'tensor<3xf32>'}}
  %r = nn.lrn %a {size = 3 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64} : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a size of at least 1, but got 0}}
  %r = nn.lrn %a {size = 0 : i64, alpha = 1.0 : f64, beta = 1.0 : f64, bias = 1.0 : f64} : tensor<1x3xf32> -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3xf32>, %b: tensor<1x0xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' with a spatial dimension or more, but got 'tensor<1x3xf32>'}}
  %r = nn.grid_sample %a, %b {mode = "linear", padding = "zeros"} : (tensor<1x3xf32>, tensor<1x0xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x4xf32>, %b: tensor<1x5x1xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'mode' to be one of linear, nearest, cubic, but got 'odd'}}
  %r = nn.grid_sample %a, %b {mode = "odd", padding = "zeros"} : (tensor<1x3x4xf32>, tensor<1x5x1xf32>) -> tensor<1x3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x4xf32>, %b: tensor<2x5x1xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected extent 0 of 'grid' to be 1, but got 2}}
  %r = nn.grid_sample %a, %b {mode = "linear", padding = "zeros"} : (tensor<1x3x4xf32>, tensor<2x5x1xf32>) -> tensor<1x3x5xf32>
  return
}

// -----

func.func @f(%a: tensor<1x1x4x4xf32>, %b: tensor<2x4xf32>, %c: tensor<2xi64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a height and width of at least 1 and sampling of at least 0, but got 0, 1 and 0}}
  %r = nn.roi_align %a, %b, %c {mode = "avg", height = 0 : i64, width = 1 : i64, sampling = 0 : i64, scale = 1.0 : f64} : (tensor<1x1x4x4xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x9xf32>) {
  // expected-error @+1 {{expected an image of rank 3 or more, but got 'tensor<1x4xf32>'}}
  %r = nn.columns_to_image %a {kernel = array<i64>, strides = array<i64>, pads = array<i64>, dilations = array<i64>} : tensor<1x4x9xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x9xf32>) {
  // expected-error @+1 {{expected an image of static spatial extents, but got 'tensor<1x2x?xf32>'}}
  %r = nn.columns_to_image %a {kernel = array<i64: 2>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : tensor<1x4x9xf32> -> tensor<1x2x?xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x8xf32>) {
  // expected-error @+1 {{expected extent 2 of 'x' to be 9, but got 8}}
  %r = nn.columns_to_image %a {kernel = array<i64: 2>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : tensor<1x4x8xf32> -> tensor<1x2x10xf32>
  return
}

// -----

func.func @f(%a: tensor<1x1x2xf32>, %b: tensor<1x1x3xi64>) {
  // expected-error @+1 {{expected an index for each element, but got shapes 1x1x2 and 1x1x3}}
  %r = nn.max_unpool %a, %b {from = array<i64: 1, 1, 4>} : (tensor<1x1x2xf32>, tensor<1x1x3xi64>) -> tensor<1x1x4xf32>
  return
}

// -----

func.func @f(%a: tensor<1x1x2xf32>, %b: tensor<1x1x2xi64>) {
  // expected-error @+1 {{expected a result of static shape, but got 'tensor<1x1x?xf32>'}}
  %r = nn.max_unpool %a, %b {from = array<i64: 1, 1, 4>} : (tensor<1x1x2xf32>, tensor<1x1x2xi64>) -> tensor<1x1x?xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2xf32>) {
  // expected-error @+1 {{expected a scale for each of 2 dimensions, but got 1}}
  %r = nn.resize %a {mode = "linear", coordinates = "half_pixel", nearest = "floor", scales = array<f64: 2.0>, roi = array<f64>} : tensor<1x2xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2xf32>) {
  // expected-error @+1 {{expected scales above 0, but got -2.0}}
  %r = nn.resize %a {mode = "linear", coordinates = "half_pixel", nearest = "floor", scales = array<f64: 1.0, -2.0>, roi = array<f64>} : tensor<1x2xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2xf32>) {
  // expected-error @+1 {{expected a region of 4 entries, but got 0}}
  %r = nn.resize %a {mode = "linear", coordinates = "tf_crop_and_resize", nearest = "floor", scales = array<f64: 1.0, 2.0>, roi = array<f64>} : tensor<1x2xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @f(%a: tensor<1x2xf32>) {
  // expected-error @+1 {{expected 'coordinates' to be one of half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, tf_crop_and_resize, tf_half_pixel_for_nn, but got 'odd'}}
  %r = nn.resize %a {mode = "linear", coordinates = "odd", nearest = "floor", scales = array<f64: 1.0, 2.0>, roi = array<f64>} : tensor<1x2xf32> -> tensor<1x4xf32>
  return
}

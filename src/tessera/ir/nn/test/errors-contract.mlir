// Products and convolutions: one case for each message.
// RUN: tessera-opt %s -split-input-file -verify-diagnostics

func.func @f(%a: tensor<3xf32>, %b: tensor<3x2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected operands of rank 2 or more, but got shapes 3 and 3x2}}
  %r = nn.matmul %a, %b : tensor<3xf32>, tensor<3x2xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected the same number of columns and rows, but got 3 and 2}}
  %r = nn.matmul %a, %b : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3x3xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected leading extents that broadcast against each other, but got shapes 2x3x3 and 4x3x3}}
  %r = nn.matmul %a, %b : tensor<2x3x3xf32>, tensor<4x3x3xf32> -> tensor<2x3x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an equation of letters like 'ij,jk->ik' with distinct labels of operands behind the arrow, but got 'ij,jk'}}
  %r = nn.einsum "ij,jk"(%a, %b) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an equation of letters like 'ij,jk->ik' with distinct labels of operands behind the arrow, but got 'ij,j1->i'}}
  %r = nn.einsum "ij,j1->i"(%a, %b) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an equation of letters like 'ij,jk->ik' with distinct labels of operands behind the arrow, but got 'ij->ii'}}
  %r = nn.einsum "ij->ii"(%a) : (tensor<2x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an equation of letters like 'ij,jk->ik' with distinct labels of operands behind the arrow, but got 'ij->k'}}
  %r = nn.einsum "ij->k"(%a) : (tensor<2x2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 2 operands as the equation says, but got 1}}
  %r = nn.einsum "ij,jk->ik"(%a) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected one extent for label 'j', but got 3 and 4}}
  %r = nn.einsum "ij,jk->ik"(%a, %b) : (tensor<2x3xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @f(%a: tensor<6x1xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected one extent for label 'i' of inputs[0], but got 6 and 1}}
  %r = nn.einsum "ii->i"(%a) : (tensor<6x1xf32>) -> tensor<6xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected at least one operand, but got none}}
  %r = nn.einsum "->"() : () -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{to have rank 2, but got 'tensor<2xf32>'}}
  %r = nn.einsum "ij->i"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'x' to have rank 3 or more, but got 'tensor<2x3xf32>'}}
  %r = nn.conv %a, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'w' to have rank 3, but got 'tensor<4x3x3x3xf32>'}}
  %r = nn.conv %a, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x3x5xf32>, tensor<4x3x3x3xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected at least one group, but got 0}}
  %r = nn.conv %a, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 0 : i64} : (tensor<1x3x5xf32>, tensor<4x3x3xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected the groups to divide the channels of 'x', but got 2 and 3}}
  %r = nn.conv %a, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 2 : i64} : (tensor<1x3x5xf32>, tensor<4x3x3xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<4x3x7xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a kernel that fits, but got 7 elements over 5 with pads}}
  %r = nn.conv %a, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x3x5xf32>, tensor<4x3x7xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 'strides' to have 1 entries, but got 2}}
  %r = nn.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x3x5xf32>, tensor<4x3x3xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected the entries of 'strides' to be at least 1, but got 0}}
  %r = nn.conv %a, %b {strides = array<i64: 0>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x3x5xf32>, tensor<4x3x3xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<4x2x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected extent 1 of 'w' to be 3, but got 2}}
  %r = nn.conv %a, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x3x5xf32>, tensor<4x2x3xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<4x3x3xf32>, %c: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected extent 0 of 'bias' to be 4, but got 3}}
  %r = nn.conv %a, %b, %c {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x3x5xf32>, tensor<4x3x3xf32>, tensor<3xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<3x4x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected pads that leave elements, but got extent -11}}
  %r = nn.conv_transpose %a, %b {strides = array<i64: 1>, pads = array<i64: 9, 9>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x3x5xf32>, tensor<3x4x3xf32>) -> tensor<1x1x1xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x5x5xf32>, %b: tensor<6x4x3x3xf32>, %c: tensor<1x18x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected at least one group of offsets, but got 0}}
  %r = nn.deform_conv %a, %b, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, offset_groups = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<1x18x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x5x5xf32>, %b: tensor<6x4x3x3xf32>, %c: tensor<1x9x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected extent 1 of 'offset' to be 18, but got 9}}
  %r = nn.deform_conv %a, %b, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<1x9x3x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

func.func @f(%a: tensor<1x4x5x5xf32>, %b: tensor<6x4x3x3xf32>, %c: tensor<1x18x4x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected extent 2 of 'offset' to be 3, but got 4}}
  %r = nn.deform_conv %a, %b, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>} : (tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<1x18x4x3xf32>) -> tensor<1x6x3x3xf32>
  return
}

// -----

func.func @f(%a: tensor<1x3x5xf32>, %b: tensor<4x3x?xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected weights of static shape, but got 'tensor<4x3x?xf32>'}}
  %r = nn.conv %a, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x3x5xf32>, tensor<4x3x?xf32>) -> tensor<1x4x?xf32>
  return
}

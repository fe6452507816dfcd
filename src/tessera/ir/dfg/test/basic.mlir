// Every construct, through text, generic text and bytecode and back.
// RUN: tessera-opt %s | tessera-opt | FileCheck %s
// RUN: tessera-opt %s -mlir-print-op-generic | tessera-opt | FileCheck %s
// RUN: tessera-opt %s --emit-bytecode | tessera-opt | FileCheck %s

// CHECK-LABEL: dfg.combiner @maxabs(%{{.*}}: f32, %{{.*}}: f32) identity 0.000000e+00 : f32 {
// CHECK: dfg.yield %{{.*}} : f32
dfg.combiner @maxabs(%a: f32, %b: f32) identity 0.0 : f32 {
  %x = math.absf %a : f32
  %y = math.absf %b : f32
  %m = arith.maximumf %x, %y : f32
  dfg.yield %m : f32
}

// Names of inputs and outputs are part of the program.
// CHECK-LABEL: dfg.graph @names(%image: tensor<?x?xf32>, %theta: f32) -> (edges: tensor<?x?xf32>, "i8": f32) {
// CHECK: dfg.return %image, %theta : tensor<?x?xf32>, f32
dfg.graph @names(%image: tensor<?x?xf32>, %theta: f32) -> (edges: tensor<?x?xf32>, "i8": f32) {
  dfg.return %image, %theta : tensor<?x?xf32>, f32
}

// A name that is no SSA name is kept as an attribute.
// CHECK-LABEL: dfg.graph @odd_names(%{{.*}}: f32) -> (result0: f32) attributes {arg_names = ["input/0:0"]} {
dfg.graph @odd_names(%x: f32) -> f32 attributes {arg_names = ["input/0:0"]} {
  dfg.return %x : f32
}

// CHECK-LABEL: dfg.graph private @empty() {
// CHECK-NEXT: dfg.return
dfg.graph private @empty() {
  dfg.return
}

// CHECK-LABEL: dfg.graph @nested() attributes {sym_visibility = "nested"} {
dfg.graph @nested() attributes {sym_visibility = "nested"} {
  dfg.return
}

// CHECK-LABEL: dfg.graph @results
dfg.graph @results(%x: tensor<?x?xf32>, %h: index, %w: index) -> (tensor<?x?xf32>, tensor<?x?x4xf32>, tensor<?xf32>, f32, f32, tensor<4xf32>) {
  // CHECK: %{{.*}}:6 = dfg.node @modes grid(%i = %h, %j = %w) (each %{{.*}} = %x : tensor<?x?xf32>, %{{.*}} = %x : tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?x4xf32>, tensor<?xf32> reduce<addf> over [1], f32 reduce<@maxabs>, f32 fold<addf>, tensor<4xf32> reduce<maximumf>) {
  %r:6 = dfg.node @modes grid(%i = %h, %j = %w) (each %e = %x : tensor<?x?xf32>, whole %all = %x : tensor<?x?xf32>) -> (tensor<?x?xf32> gather, tensor<?x?x4xf32>, tensor<?xf32> reduce<addf> over [1], f32 reduce<@maxabs>, f32 fold<addf>, tensor<4xf32> reduce<maximumf>) {
    %t = tensor.from_elements %e, %e, %e, %e : tensor<4xf32>
    // CHECK: dfg.extent 1
    %n = dfg.extent 1
    // CHECK: dfg.yield %{{.*}} : f32, tensor<4xf32>, f32, f32, f32, tensor<4xf32>
    dfg.yield %e, %t, %e, %e, %e, %t : f32, tensor<4xf32>, f32, f32, f32, tensor<4xf32>
  }
  dfg.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<?x?xf32>, tensor<?x?x4xf32>, tensor<?xf32>, f32, f32, tensor<4xf32>
}

// Tiles, with and without a static grid; an element of a tensor of rank 0.
// CHECK-LABEL: dfg.graph @tiles
dfg.graph @tiles(%x: tensor<2xf32>, %n: index) -> (tensor<8xf32>, tensor<?xf32>, tensor<f32>) {
  %four = arith.constant 4 : index
  // CHECK: dfg.node @static grid(%i = %{{.*}}) (%{{.*}} = %x : tensor<2xf32>) -> tensor<8xf32> tile {
  %a = dfg.node @static grid(%i = %four) (%v = %x : tensor<2xf32>) -> tensor<8xf32> tile {
    dfg.yield %v : tensor<2xf32>
  }
  %b = dfg.node @dynamic grid(%i = %n) (%v = %x : tensor<2xf32>) -> tensor<?xf32> tile {
    dfg.yield %v : tensor<2xf32>
  }
  %c = dfg.node @scalar grid(%i = %n) (%v = %x : tensor<2xf32>) -> tensor<f32> reduce<addf> {
    %z = arith.constant 0 : index
    %e = tensor.extract %v[%z] : tensor<2xf32>
    dfg.yield %e : f32
  }
  dfg.return %a, %b, %c : tensor<8xf32>, tensor<?xf32>, tensor<f32>
}

// CHECK-LABEL: dfg.graph @ports
dfg.graph @ports(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %n: index) -> (memref<?xf32>, memref<?xf32>, memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  // CHECK: dfg.buffer(%n) fill(%{{.*}} : f32) : memref<?xf32>
  %d = dfg.buffer(%n) fill(%zero : f32) : memref<?xf32>
  // CHECK: dfg.buffer() : memref<4xi8>
  %e = dfg.buffer() : memref<4xi8>
  // CHECK: %{{.*}}:3 = dfg.node @all grid(%i = %n) (in %{{.*}} = %a : memref<?xf32>, out %{{.*}} = %b : memref<?xf32>, inout %{{.*}} = %c : memref<?xf32>, acc<addf> %{{.*}} = %{{.*}} : memref<?xf32>) {
  %p:3 = dfg.node @all grid(%i = %n) (in %x = %a : memref<?xf32>, out %y = %b : memref<?xf32>, inout %z = %c : memref<?xf32>, acc<addf> %w = %d : memref<?xf32>) {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
    memref.store %v, %z[%i] : memref<?xf32>
    // CHECK: dfg.accumulate %{{.*}}, %{{.*}}[%i] : memref<?xf32>
    dfg.accumulate %v, %w[%i] : memref<?xf32>
    // CHECK-NOT: dfg.yield
  }
  // CHECK: dfg.return
  dfg.return %p#0, %p#1, %p#2 : memref<?xf32>, memref<?xf32>, memref<?xf32>
}

// CHECK-LABEL: dfg.graph @leaf_ops
dfg.graph @leaf_ops(%n: index) {
  // CHECK: dfg.node @n grid(%i = %n, %j = %n, %k = %n) () {
  dfg.node @n grid(%i = %n, %j = %n, %k = %n) () {
    // CHECK: dfg.scratch : memref<8xf32>
    %s = dfg.scratch : memref<8xf32>
    // CHECK: dfg.barrier
    dfg.barrier
  }
  dfg.return
}

// CHECK-LABEL: dfg.graph @hints
dfg.graph @hints() {
  // CHECK: dfg.node @n () attributes {cost = 1.000000e+02 : f64, criticality = "critical", depth = 4 : i64, quality = #dfg.demand<"l2", 2.000000e-02 : f64>, targets = ["cuda", "cpu"], versions = [#dfg.version<"cpu", script = "@tile", knobs = {perforate = 2 : i64}>, #dfg.version<"cuda" as @form>]} {
  dfg.node @n () attributes {cost = 100.0 : f64, criticality = "critical", depth = 4 : i64, quality = #dfg.demand<"l2", 0.02 : f64>, targets = ["cuda", "cpu"], versions = [#dfg.version<"cpu", script = "@tile", knobs = {perforate = 2}>, #dfg.version<"cuda" as @form>]} {
  }
  dfg.return
}

// CHECK-LABEL: dfg.graph @hierarchy
dfg.graph @hierarchy(%x: tensor<?x4xf32>, %n: index) -> tensor<?x4xf32> {
  // CHECK: dfg.node @group grid(%i = %n) (each %{{.*}} = %x : tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = dfg.node @group grid(%i = %n) (each %row = %x : tensor<?x4xf32>) -> tensor<?x4xf32> {
    %four = arith.constant 4 : index
    // CHECK: dfg.node @child grid(%{{.*}} = %{{.*}}) (each %{{.*}} = %{{.*}} : tensor<4xf32>) -> tensor<4xf32> {
    %a = dfg.node @child grid(%j = %four) (each %e = %row : tensor<4xf32>) -> tensor<4xf32> {
      dfg.yield %e : f32
    }
    // CHECK: dfg.call @sub(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
    %b = dfg.call @sub(%a) : (tensor<4xf32>) -> tensor<4xf32>
    dfg.yield %b : tensor<4xf32>
  }
  dfg.return %y : tensor<?x4xf32>
}
dfg.graph private @sub(%x: tensor<4xf32>) -> tensor<4xf32> {
  dfg.return %x : tensor<4xf32>
}

// CHECK-LABEL: dfg.graph @state
dfg.graph @state(%x: f32) -> f32 {
  // CHECK: %[[S:.*]] = dfg.state init(%x : f32) : f32
  %s = dfg.state init(%x : f32) : f32
  // CHECK: dfg.update %[[S]], %x : f32
  dfg.update %s, %x : f32
  dfg.return %s : f32
}

// CHECK-LABEL: func.func @host
func.func @host(%x: f32) -> (f32, f32) {
  // CHECK: %[[R:.*]] = dfg.launch @state(%{{.*}}) : f32
  %r = dfg.launch @state(%x) : f32
  // CHECK: dfg.launch @empty()
  %e = dfg.launch @empty()
  // CHECK: dfg.wait %[[R]] : f32
  %y = dfg.wait %r : f32
  // CHECK: dfg.wait %{{.*$}}
  dfg.wait %e
  // CHECK: %[[T:.*]] = dfg.open @state
  %s = dfg.open @state
  // CHECK: dfg.push %[[T]](%{{.*}}) : f32
  dfg.push %s(%x) : f32
  // CHECK: dfg.pop %[[T]] : f32
  %z = dfg.pop %s : f32
  // CHECK: dfg.close %[[T]]
  dfg.close %s
  return %y, %z : f32, f32
}

// CHECK-LABEL: func.func private @types(!dfg.run, !dfg.stream)
func.func private @types(!dfg.run, !dfg.stream)

// Names of the graph may be used again inside a node, which sees nothing of the graph but its operands.
// CHECK-LABEL: dfg.graph @shadow
dfg.graph @shadow(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %y = dfg.node @same grid(%i = %n) (each %x = %x : tensor<?xf32>) -> tensor<?xf32> {
    %n = arith.addf %x, %x : f32
    dfg.yield %n : f32
  }
  dfg.return %y : tensor<?xf32>
}

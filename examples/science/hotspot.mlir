// Temperatures of a chip by an explicit difference scheme, four steps of it: heat flows between neighbours and to the surroundings, and comes from the power
// that each cell takes. The constants are those of a chip of 16 x 16 mm cut into 1024 x 1024 cells. examples/hetero/hotspot has the same in C++.
dfg.graph private @advance(%from: tensor<?x?xf32>, %power: tensor<?x?xf32>) -> (to: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %from, %c0 : tensor<?x?xf32>
  %w = tensor.dim %from, %c1 : tensor<?x?xf32>
  %to = dfg.node @cells grid(%i = %h, %j = %w) (%x = %from : tensor<?x?xf32>, each %p = %power : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %bottom = arith.subi %eh, %one : index
    %right = arith.subi %ew, %one : index
    %iu = arith.subi %i, %one : index
    %id = arith.addi %i, %one : index
    %jl = arith.subi %j, %one : index
    %jr = arith.addi %j, %one : index
    %u = arith.maxsi %iu, %zero : index
    %d = arith.minsi %id, %bottom : index
    %l = arith.maxsi %jl, %zero : index
    %r = arith.minsi %jr, %right : index
    %v = tensor.extract %x[%i, %j] : tensor<?x?xf32>
    %vu = tensor.extract %x[%u, %j] : tensor<?x?xf32>
    %vd = tensor.extract %x[%d, %j] : tensor<?x?xf32>
    %vl = tensor.extract %x[%i, %l] : tensor<?x?xf32>
    %vr = tensor.extract %x[%i, %r] : tensor<?x?xf32>
    %four = arith.constant 4.0 : f32
    %flow = arith.constant 0.1 : f32
    %loss = arith.constant 4.8828125e-05 : f32
    %ambient = arith.constant 80.0 : f32
    %s0 = arith.addf %vu, %vd : f32
    %s1 = arith.addf %vl, %vr : f32
    %s = arith.addf %s0, %s1 : f32
    %v4 = arith.mulf %v, %four : f32
    %difference = arith.subf %s, %v4 : f32
    %between = arith.mulf %difference, %flow : f32
    %above = arith.subf %ambient, %v : f32
    %out = arith.mulf %above, %loss : f32
    %change0 = arith.addf %between, %out : f32
    %change = arith.addf %change0, %p : f32
    %next = arith.addf %v, %change : f32
    dfg.yield %next : f32
  }
  dfg.return %to : tensor<?x?xf32>
}

dfg.graph @hotspot(%temperature: tensor<?x?xf32>, %power: tensor<?x?xf32>) -> (after: tensor<?x?xf32>) {
  %1 = dfg.call @advance(%temperature, %power) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = dfg.call @advance(%1, %power) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = dfg.call @advance(%2, %power) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %4 = dfg.call @advance(%3, %power) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  dfg.return %4 : tensor<?x?xf32>
}

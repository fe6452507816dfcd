// Steps until z -> z^2 + c leaves the circle of radius 2, at most `limit`, for c on a grid of points.
dfg.graph @mandelbrot(%height: index, %width: index, %limit: i32) -> (steps: tensor<?x?xi32>) {
  %steps = dfg.node @escape grid(%i = %height, %j = %width) (%most = %limit : i32) -> tensor<?x?xi32> {
    %zero = arith.constant 0.0 : f32
    %two = arith.constant 2.0 : f32
    %four = arith.constant 4.0 : f32
    %left = arith.constant -2.0 : f32
    %top = arith.constant -1.25 : f32
    %wide = arith.constant 3.0 : f32
    %high = arith.constant 2.5 : f32
    %n0 = arith.constant 0 : i32
    %n1 = arith.constant 1 : i32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %hi = arith.index_cast %eh : index to i32
    %wi = arith.index_cast %ew : index to i32
    %hf = arith.sitofp %hi : i32 to f32
    %wf = arith.sitofp %wi : i32 to f32
    %ii = arith.index_cast %i : index to i32
    %ji = arith.index_cast %j : index to i32
    %if = arith.sitofp %ii : i32 to f32
    %jf = arith.sitofp %ji : i32 to f32
    %dx = arith.divf %wide, %wf : f32
    %dy = arith.divf %high, %hf : f32
    %px = arith.mulf %jf, %dx : f32
    %py = arith.mulf %if, %dy : f32
    %cx = arith.addf %left, %px : f32
    %cy = arith.addf %top, %py : f32
    %r:3 = scf.while (%x = %zero, %y = %zero, %n = %n0) : (f32, f32, i32) -> (f32, f32, i32) {
      %xx = arith.mulf %x, %x : f32
      %yy = arith.mulf %y, %y : f32
      %s = arith.addf %xx, %yy : f32
      %inside = arith.cmpf ole, %s, %four : f32
      %more = arith.cmpi slt, %n, %most : i32
      %go = arith.andi %inside, %more : i1
      scf.condition(%go) %x, %y, %n : f32, f32, i32
    } do {
    ^bb0(%x: f32, %y: f32, %n: i32):
      %xx = arith.mulf %x, %x : f32
      %yy = arith.mulf %y, %y : f32
      %d = arith.subf %xx, %yy : f32
      %nx = arith.addf %d, %cx : f32
      %xy = arith.mulf %x, %y : f32
      %xy2 = arith.mulf %xy, %two : f32
      %ny = arith.addf %xy2, %cy : f32
      %m = arith.addi %n, %n1 : i32
      scf.yield %nx, %ny, %m : f32, f32, i32
    }
    dfg.yield %r#2 : i32
  }
  dfg.return %steps : tensor<?x?xi32>
}

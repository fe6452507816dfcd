// Edge detection as a graph of six nodes: smooth the picture, estimate its Laplacian by the difference of a
// dilation and an erosion, find where that changes sign, measure the gradient, find the strongest gradient of the
// whole picture, and keep the zero crossings whose gradient is at least theta times as strong.
//
// All windows clamp at the border: a pixel outside takes the value of the nearest one inside.

dfg.graph @edges(%image: tensor<?x?xf32>, %theta: f32) -> (edges: tensor<?x?xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %image, %c0 : tensor<?x?xf32>
  %w = tensor.dim %image, %c1 : tensor<?x?xf32>
  %weights = arith.constant dense<[0.07015933, 0.13107488, 0.19071282, 0.21610594, 0.19071282, 0.13107488, 0.07015933]> : tensor<7xf32>

  %smooth = dfg.node @gaussian grid(%i = %h, %j = %w) (%x = %image : tensor<?x?xf32>, %g = %weights : tensor<7xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %seven = arith.constant 7 : index
    %f0 = arith.constant 0.0 : f32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %hmax = arith.subi %eh, %one : index
    %wmax = arith.subi %ew, %one : index
    %sum = scf.for %di = %zero to %seven step %one iter_args(%acc = %f0) -> f32 {
      %y0 = arith.addi %i, %di : index
      %y1 = arith.subi %y0, %three : index
      %y2 = arith.maxsi %y1, %zero : index
      %y = arith.minsi %y2, %hmax : index
      %gi = tensor.extract %g[%di] : tensor<7xf32>
      %row = scf.for %dj = %zero to %seven step %one iter_args(%racc = %f0) -> f32 {
        %x0 = arith.addi %j, %dj : index
        %x1 = arith.subi %x0, %three : index
        %x2 = arith.maxsi %x1, %zero : index
        %x3 = arith.minsi %x2, %wmax : index
        %v = tensor.extract %x[%y, %x3] : tensor<?x?xf32>
        %gj = tensor.extract %g[%dj] : tensor<7xf32>
        %p = arith.mulf %v, %gj : f32
        %s = arith.addf %racc, %p : f32
        scf.yield %s : f32
      }
      %p = arith.mulf %row, %gi : f32
      %s = arith.addf %acc, %p : f32
      scf.yield %s : f32
    }
    dfg.yield %sum : f32
  }

  // Dilation (maximum of the 3x3 window) + erosion (minimum) - 2 * centre: an estimate of the Laplacian.
  %laplacian = dfg.node @laplacian grid(%i = %h, %j = %w) (%x = %smooth : tensor<?x?xf32>, each %e = %smooth : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %two = arith.constant 2.0 : f32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %hmax = arith.subi %eh, %one : index
    %wmax = arith.subi %ew, %one : index
    %mx, %mn = scf.for %di = %zero to %three step %one iter_args(%a = %e, %b = %e) -> (f32, f32) {
      %y0 = arith.addi %i, %di : index
      %y1 = arith.subi %y0, %one : index
      %y2 = arith.maxsi %y1, %zero : index
      %y = arith.minsi %y2, %hmax : index
      %rx, %rn = scf.for %dj = %zero to %three step %one iter_args(%ra = %a, %rb = %b) -> (f32, f32) {
        %x0 = arith.addi %j, %dj : index
        %x1 = arith.subi %x0, %one : index
        %x2 = arith.maxsi %x1, %zero : index
        %x3 = arith.minsi %x2, %wmax : index
        %v = tensor.extract %x[%y, %x3] : tensor<?x?xf32>
        %na = arith.maximumf %ra, %v : f32
        %nb = arith.minimumf %rb, %v : f32
        scf.yield %na, %nb : f32, f32
      }
      scf.yield %rx, %rn : f32, f32
    }
    %s = arith.addf %mx, %mn : f32
    %c = arith.mulf %e, %two : f32
    %d = arith.subf %s, %c : f32
    dfg.yield %d : f32
  }

  // A zero crossing: the 3x3 window holds both signs and the centre is not negative.
  %crossing = dfg.node @crossings grid(%i = %h, %j = %w) (%x = %laplacian : tensor<?x?xf32>, each %e = %laplacian : tensor<?x?xf32>) -> tensor<?x?xi1> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %f0 = arith.constant 0.0 : f32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %hmax = arith.subi %eh, %one : index
    %wmax = arith.subi %ew, %one : index
    %iu = arith.subi %i, %one : index
    %id = arith.addi %i, %one : index
    %jl = arith.subi %j, %one : index
    %jr = arith.addi %j, %one : index
    %u = arith.maxsi %iu, %zero : index
    %d = arith.minsi %id, %hmax : index
    %l = arith.maxsi %jl, %zero : index
    %r = arith.minsi %jr, %wmax : index
    %vu = tensor.extract %x[%u, %j] : tensor<?x?xf32>
    %vd = tensor.extract %x[%d, %j] : tensor<?x?xf32>
    %vl = tensor.extract %x[%i, %l] : tensor<?x?xf32>
    %vr = tensor.extract %x[%i, %r] : tensor<?x?xf32>
    %m0 = arith.minimumf %vu, %vd : f32
    %m1 = arith.minimumf %vl, %vr : f32
    %m = arith.minimumf %m0, %m1 : f32
    %neg = arith.cmpf olt, %m, %f0 : f32
    %pos = arith.cmpf oge, %e, %f0 : f32
    %z = arith.andi %neg, %pos : i1
    dfg.yield %z : i1
  }

  // The Sobel operator's magnitude.
  %gradient = dfg.node @gradient grid(%i = %h, %j = %w) (%x = %smooth : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2.0 : f32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %hmax = arith.subi %eh, %one : index
    %wmax = arith.subi %ew, %one : index
    %iu = arith.subi %i, %one : index
    %id = arith.addi %i, %one : index
    %jl = arith.subi %j, %one : index
    %jr = arith.addi %j, %one : index
    %u = arith.maxsi %iu, %zero : index
    %d = arith.minsi %id, %hmax : index
    %l = arith.maxsi %jl, %zero : index
    %r = arith.minsi %jr, %wmax : index
    %ul = tensor.extract %x[%u, %l] : tensor<?x?xf32>
    %uc = tensor.extract %x[%u, %j] : tensor<?x?xf32>
    %ur = tensor.extract %x[%u, %r] : tensor<?x?xf32>
    %cl = tensor.extract %x[%i, %l] : tensor<?x?xf32>
    %cr = tensor.extract %x[%i, %r] : tensor<?x?xf32>
    %dl = tensor.extract %x[%d, %l] : tensor<?x?xf32>
    %dc = tensor.extract %x[%d, %j] : tensor<?x?xf32>
    %dr = tensor.extract %x[%d, %r] : tensor<?x?xf32>
    %cr2 = arith.mulf %cr, %two : f32
    %cl2 = arith.mulf %cl, %two : f32
    %gx0 = arith.addf %ur, %dr : f32
    %gx1 = arith.addf %gx0, %cr2 : f32
    %gx2 = arith.addf %ul, %dl : f32
    %gx3 = arith.addf %gx2, %cl2 : f32
    %gx = arith.subf %gx1, %gx3 : f32
    %dc2 = arith.mulf %dc, %two : f32
    %uc2 = arith.mulf %uc, %two : f32
    %gy0 = arith.addf %dl, %dr : f32
    %gy1 = arith.addf %gy0, %dc2 : f32
    %gy2 = arith.addf %ul, %ur : f32
    %gy3 = arith.addf %gy2, %uc2 : f32
    %gy = arith.subf %gy1, %gy3 : f32
    %xx = arith.mulf %gx, %gx : f32
    %yy = arith.mulf %gy, %gy : f32
    %ss = arith.addf %xx, %yy : f32
    %mag = math.sqrt %ss : f32
    dfg.yield %mag : f32
  }

  %peak = dfg.node @peak grid(%i = %h, %j = %w) (each %e = %gradient : tensor<?x?xf32>) -> f32 reduce<maximumf> {
    dfg.yield %e : f32
  }

  %edges = dfg.node @reject grid(%i = %h, %j = %w) (each %z = %crossing : tensor<?x?xi1>, each %e = %gradient : tensor<?x?xf32>, %max = %peak : f32, %t = %theta : f32) -> tensor<?x?xi8> attributes {criticality = "elevated"} {
    %limit = arith.mulf %max, %t : f32
    %strong = arith.cmpf oge, %e, %limit : f32
    %both = arith.andi %z, %strong : i1
    %on = arith.constant 127 : i8
    %off = arith.constant 0 : i8
    %v = arith.select %both, %on, %off : i8
    dfg.yield %v : i8
  }
  dfg.return %edges : tensor<?x?xi8>
}

// Five filters of pictures and chains of them. A picture is a tensor of grey values from 0 to 1; every filter clamps its results to that range, so
// that its intermediate values are pictures too. A pixel outside takes the value of the nearest one inside.

// A blur by binomial weights, close to a Gaussian of deviation 1.
dfg.graph private @gaussian(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %image, %c0 : tensor<?x?xf32>
  %w = tensor.dim %image, %c1 : tensor<?x?xf32>
  %weights = arith.constant dense<[[0.00390625, 0.015625, 0.0234375, 0.015625, 0.00390625], [0.015625, 0.0625, 0.09375, 0.0625, 0.015625], [0.0234375, 0.09375, 0.140625, 0.09375, 0.0234375], [0.015625, 0.0625, 0.09375, 0.0625, 0.015625], [0.00390625, 0.015625, 0.0234375, 0.015625, 0.00390625]]> : tensor<5x5xf32>
  %filtered = dfg.node @filter grid(%i = %h, %j = %w) (%x = %image : tensor<?x?xf32>, %g = %weights : tensor<5x5xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %radius = arith.constant 2 : index
    %size = arith.constant 5 : index
    %dark = arith.constant 0.0 : f32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %bottom = arith.subi %eh, %one : index
    %right = arith.subi %ew, %one : index
    %sum = scf.for %di = %zero to %size step %one iter_args(%rows = %dark) -> f32 {
      %y0 = arith.addi %i, %di : index
      %y1 = arith.subi %y0, %radius : index
      %y2 = arith.maxsi %y1, %zero : index
      %y = arith.minsi %y2, %bottom : index
      %row = scf.for %dj = %zero to %size step %one iter_args(%taps = %rows) -> f32 {
        %x0 = arith.addi %j, %dj : index
        %x1 = arith.subi %x0, %radius : index
        %x2 = arith.maxsi %x1, %zero : index
        %x3 = arith.minsi %x2, %right : index
        %v = tensor.extract %x[%y, %x3] : tensor<?x?xf32>
        %k = tensor.extract %g[%di, %dj] : tensor<5x5xf32>
        %p = arith.mulf %v, %k : f32
        %s = arith.addf %taps, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    dfg.yield %sum : f32
  }
  dfg.return %filtered : tensor<?x?xf32>
}

// The mean of nine pixels on a diagonal: what a moving camera sees.
dfg.graph private @motion(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %image, %c0 : tensor<?x?xf32>
  %w = tensor.dim %image, %c1 : tensor<?x?xf32>
  %filtered = dfg.node @filter grid(%i = %h, %j = %w) (%x = %image : tensor<?x?xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %radius = arith.constant 4 : index
    %size = arith.constant 9 : index
    %dark = arith.constant 0.0 : f32
    %ninth = arith.constant 0.111111111 : f32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %bottom = arith.subi %eh, %one : index
    %right = arith.subi %ew, %one : index
    %sum = scf.for %d = %zero to %size step %one iter_args(%taps = %dark) -> f32 {
      %y0 = arith.addi %i, %d : index
      %y1 = arith.subi %y0, %radius : index
      %y2 = arith.maxsi %y1, %zero : index
      %y = arith.minsi %y2, %bottom : index
      %x0 = arith.addi %j, %d : index
      %x1 = arith.subi %x0, %radius : index
      %x2 = arith.maxsi %x1, %zero : index
      %x3 = arith.minsi %x2, %right : index
      %v = tensor.extract %x[%y, %x3] : tensor<?x?xf32>
      %s = arith.addf %taps, %v : f32
      scf.yield %s : f32
    }
    %mean = arith.mulf %sum, %ninth : f32
    dfg.yield %mean : f32
  }
  dfg.return %filtered : tensor<?x?xf32>
}

// Each pixel against its four neighbours.
dfg.graph private @sharpen(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %image, %c0 : tensor<?x?xf32>
  %w = tensor.dim %image, %c1 : tensor<?x?xf32>
  %weights = arith.constant dense<[[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]]> : tensor<3x3xf32>
  %filtered = dfg.node @filter grid(%i = %h, %j = %w) (%x = %image : tensor<?x?xf32>, %g = %weights : tensor<3x3xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %radius = arith.constant 1 : index
    %size = arith.constant 3 : index
    %dark = arith.constant 0.0 : f32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %bottom = arith.subi %eh, %one : index
    %right = arith.subi %ew, %one : index
    %sum = scf.for %di = %zero to %size step %one iter_args(%rows = %dark) -> f32 {
      %y0 = arith.addi %i, %di : index
      %y1 = arith.subi %y0, %radius : index
      %y2 = arith.maxsi %y1, %zero : index
      %y = arith.minsi %y2, %bottom : index
      %row = scf.for %dj = %zero to %size step %one iter_args(%taps = %rows) -> f32 {
        %x0 = arith.addi %j, %dj : index
        %x1 = arith.subi %x0, %radius : index
        %x2 = arith.maxsi %x1, %zero : index
        %x3 = arith.minsi %x2, %right : index
        %v = tensor.extract %x[%y, %x3] : tensor<?x?xf32>
        %k = tensor.extract %g[%di, %dj] : tensor<3x3xf32>
        %p = arith.mulf %v, %k : f32
        %s = arith.addf %taps, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %bright = arith.constant 1.0 : f32
    %above = arith.maximumf %sum, %dark : f32
    %value = arith.minimumf %above, %bright : f32
    dfg.yield %value : f32
  }
  dfg.return %filtered : tensor<?x?xf32>
}

// Each pixel against its eight neighbours: flat surfaces go dark.
dfg.graph private @outline(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %image, %c0 : tensor<?x?xf32>
  %w = tensor.dim %image, %c1 : tensor<?x?xf32>
  %weights = arith.constant dense<[[-1.0, -1.0, -1.0], [-1.0, 8.0, -1.0], [-1.0, -1.0, -1.0]]> : tensor<3x3xf32>
  %filtered = dfg.node @filter grid(%i = %h, %j = %w) (%x = %image : tensor<?x?xf32>, %g = %weights : tensor<3x3xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %radius = arith.constant 1 : index
    %size = arith.constant 3 : index
    %dark = arith.constant 0.0 : f32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %bottom = arith.subi %eh, %one : index
    %right = arith.subi %ew, %one : index
    %sum = scf.for %di = %zero to %size step %one iter_args(%rows = %dark) -> f32 {
      %y0 = arith.addi %i, %di : index
      %y1 = arith.subi %y0, %radius : index
      %y2 = arith.maxsi %y1, %zero : index
      %y = arith.minsi %y2, %bottom : index
      %row = scf.for %dj = %zero to %size step %one iter_args(%taps = %rows) -> f32 {
        %x0 = arith.addi %j, %dj : index
        %x1 = arith.subi %x0, %radius : index
        %x2 = arith.maxsi %x1, %zero : index
        %x3 = arith.minsi %x2, %right : index
        %v = tensor.extract %x[%y, %x3] : tensor<?x?xf32>
        %k = tensor.extract %g[%di, %dj] : tensor<3x3xf32>
        %p = arith.mulf %v, %k : f32
        %s = arith.addf %taps, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %bright = arith.constant 1.0 : f32
    %above = arith.maximumf %sum, %dark : f32
    %value = arith.minimumf %above, %bright : f32
    dfg.yield %value : f32
  }
  dfg.return %filtered : tensor<?x?xf32>
}

// Light from the upper left.
dfg.graph private @emboss(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %image, %c0 : tensor<?x?xf32>
  %w = tensor.dim %image, %c1 : tensor<?x?xf32>
  %weights = arith.constant dense<[[-2.0, -1.0, 0.0], [-1.0, 1.0, 1.0], [0.0, 1.0, 2.0]]> : tensor<3x3xf32>
  %filtered = dfg.node @filter grid(%i = %h, %j = %w) (%x = %image : tensor<?x?xf32>, %g = %weights : tensor<3x3xf32>) -> tensor<?x?xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %radius = arith.constant 1 : index
    %size = arith.constant 3 : index
    %dark = arith.constant 0.0 : f32
    %eh = dfg.extent 0
    %ew = dfg.extent 1
    %bottom = arith.subi %eh, %one : index
    %right = arith.subi %ew, %one : index
    %sum = scf.for %di = %zero to %size step %one iter_args(%rows = %dark) -> f32 {
      %y0 = arith.addi %i, %di : index
      %y1 = arith.subi %y0, %radius : index
      %y2 = arith.maxsi %y1, %zero : index
      %y = arith.minsi %y2, %bottom : index
      %row = scf.for %dj = %zero to %size step %one iter_args(%taps = %rows) -> f32 {
        %x0 = arith.addi %j, %dj : index
        %x1 = arith.subi %x0, %radius : index
        %x2 = arith.maxsi %x1, %zero : index
        %x3 = arith.minsi %x2, %right : index
        %v = tensor.extract %x[%y, %x3] : tensor<?x?xf32>
        %k = tensor.extract %g[%di, %dj] : tensor<3x3xf32>
        %p = arith.mulf %v, %k : f32
        %s = arith.addf %taps, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %bright = arith.constant 1.0 : f32
    %above = arith.maximumf %sum, %dark : f32
    %value = arith.minimumf %above, %bright : f32
    dfg.yield %value : f32
  }
  dfg.return %filtered : tensor<?x?xf32>
}

dfg.graph @geo(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %g = dfg.call @gaussian(%image) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = dfg.call @emboss(%g) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %o = dfg.call @outline(%e) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  dfg.return %o : tensor<?x?xf32>
}

dfg.graph @gemo(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %g = dfg.call @gaussian(%image) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = dfg.call @emboss(%g) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %m = dfg.call @motion(%e) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %o = dfg.call @outline(%m) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  dfg.return %o : tensor<?x?xf32>
}

dfg.graph @gsm(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %g = dfg.call @gaussian(%image) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = dfg.call @sharpen(%g) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %m = dfg.call @motion(%s) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  dfg.return %m : tensor<?x?xf32>
}

dfg.graph @gsme(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %g = dfg.call @gaussian(%image) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = dfg.call @sharpen(%g) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %m = dfg.call @motion(%s) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %e = dfg.call @emboss(%m) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  dfg.return %e : tensor<?x?xf32>
}

dfg.graph @gsmo(%image: tensor<?x?xf32>) -> (filtered: tensor<?x?xf32>) {
  %g = dfg.call @gaussian(%image) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = dfg.call @sharpen(%g) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %m = dfg.call @motion(%s) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %o = dfg.call @outline(%m) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  dfg.return %o : tensor<?x?xf32>
}

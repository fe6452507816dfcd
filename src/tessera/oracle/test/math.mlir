// Functions at 0.3125 and 0.8125 in f32 (acosh: one more); expected values from mpmath with 300 bits, rounded once.
// EXPECT: 0x3FAEF48C, 0x401039EA, 0xBF94E220, 0xBE549F6A, 0x3E9D6895, 0x3F39DBB4, 0x3F7399F5, 0x3F300C29, 0x3EA56B8F, 0x3F872215, 0x3E9AFCC5, 0x3F2BC480, 0x3EA29DEE, 0x3F67A71E, 0x3F864D10, 0x3FACA045, 0x3EA2B9CA, 0x3F72CC2B, 0x3FA06168, 0x3F1F538B, 0x3E9B13BA, 0x3F2EAC4C, 0x3E9D8108, 0x3F3E0DE3, 0x3F457468, 0x3F99C19C, 0x3EA5895C, 0x3F91321C, 0x3EAED4FA, 0x3F3FDCE0, 0x3F289583, 0x3E804640, 0x3F9EF532, 0x3FE0CCDF, 0x3EBBD22F, 0x3FA073D4, 0x3E8B3AE5, 0x3F183EBA, 0xBFD6CB0F, 0xBE995FF7, 0xBF015182, 0xBDB8AE86, 0x3F2DB905, 0x3F6EE176, 0x3F0F1BBD, 0x3F66C15A, 0x3FE4F92E, 0x3F8E00D5
func.func @main() -> tensor<48xf32> {
  %x0 = arith.constant 0.3125 : f32
  %y0 = arith.constant 1.3125 : f32
  %x1 = arith.constant 0.8125 : f32
  %y1 = arith.constant 1.8125 : f32
  %r0_0 = math.exp %x0 : f32
  %r0_1 = math.exp %x1 : f32
  %r1_0 = math.log %x0 : f32
  %r1_1 = math.log %x1 : f32
  %r2_0 = math.sin %x0 : f32
  %r2_1 = math.sin %x1 : f32
  %r3_0 = math.cos %x0 : f32
  %r3_1 = math.cos %x1 : f32
  %r4_0 = math.tan %x0 : f32
  %r4_1 = math.tan %x1 : f32
  %r5_0 = math.tanh %x0 : f32
  %r5_1 = math.tanh %x1 : f32
  %r6_0 = math.sinh %x0 : f32
  %r6_1 = math.sinh %x1 : f32
  %r7_0 = math.cosh %x0 : f32
  %r7_1 = math.cosh %x1 : f32
  %r8_0 = math.asin %x0 : f32
  %r8_1 = math.asin %x1 : f32
  %r9_0 = math.acos %x0 : f32
  %r9_1 = math.acos %x1 : f32
  %r10_0 = math.atan %x0 : f32
  %r10_1 = math.atan %x1 : f32
  %r11_0 = math.asinh %x0 : f32
  %r11_1 = math.asinh %x1 : f32
  %r12_0 = math.acosh %y0 : f32
  %r12_1 = math.acosh %y1 : f32
  %r13_0 = math.atanh %x0 : f32
  %r13_1 = math.atanh %x1 : f32
  %r14_0 = math.erf %x0 : f32
  %r14_1 = math.erf %x1 : f32
  %r15_0 = math.erfc %x0 : f32
  %r15_1 = math.erfc %x1 : f32
  %r16_0 = math.exp2 %x0 : f32
  %r16_1 = math.exp2 %x1 : f32
  %r17_0 = math.expm1 %x0 : f32
  %r17_1 = math.expm1 %x1 : f32
  %r18_0 = math.log1p %x0 : f32
  %r18_1 = math.log1p %x1 : f32
  %r19_0 = math.log2 %x0 : f32
  %r19_1 = math.log2 %x1 : f32
  %r20_0 = math.log10 %x0 : f32
  %r20_1 = math.log10 %x1 : f32
  %r21_0 = math.cbrt %x0 : f32
  %r21_1 = math.cbrt %x1 : f32
  %r22_0 = math.sqrt %x0 : f32
  %r22_1 = math.sqrt %x1 : f32
  %r23_0 = math.rsqrt %x0 : f32
  %r23_1 = math.rsqrt %x1 : f32
  %t = tensor.from_elements %r0_0, %r0_1, %r1_0, %r1_1, %r2_0, %r2_1, %r3_0, %r3_1, %r4_0, %r4_1, %r5_0, %r5_1, %r6_0, %r6_1, %r7_0, %r7_1, %r8_0, %r8_1, %r9_0, %r9_1, %r10_0, %r10_1, %r11_0, %r11_1, %r12_0, %r12_1, %r13_0, %r13_1, %r14_0, %r14_1, %r15_0, %r15_1, %r16_0, %r16_1, %r17_0, %r17_1, %r18_0, %r18_1, %r19_0, %r19_1, %r20_0, %r20_1, %r21_0, %r21_1, %r22_0, %r22_1, %r23_0, %r23_1 : tensor<48xf32>
  return %t : tensor<48xf32>
}
// -----
// Functions at 0.3125 and 0.8125 in f64 (acosh: one more); expected values from mpmath with 300 bits, rounded once.
// EXPECT: 0x3FF5DE9176045FF5, 0x4002073D3F1BD518, 0xBFF29C440606E6AB, 0xBFCA93ED3C8AD9E3, 0x3FD3AD129769D3D8, 0x3FE73B7680DEA578, 0x3FEE733EA0193D40, 0x3FE6018526F563DF, 0x3FD4AD71ED51CE39, 0x3FF0E442AA4C1EA0, 0x3FD35F98A0EA650E, 0x3FE5788FF10D2998, 0x3FD453BDBE16906C, 0x3FECF4E3B6AFE2AD, 0x3FF0C9A2067EBBDA, 0x3FF59408A2DFB8DA, 0x3FD457393B90E2AA, 0x3FEE5985567B665D, 0x3FF40C2D055FF46E, 0x3FE3EA71520CF3D3, 0x3FD362773707EBCC, 0x3FE5D58987169B18, 0x3FD3B0210CF74A63, 0x3FE7C1BC5AB36CA9, 0x3FE8AE8CFB09EB75, 0x3FF33833884149F0, 0x3FD4B12B73C1DD95, 0x3FF226438E777C99, 0x3FD5DA9F415FF23F, 0x3FE7FB9BFAED8078, 0x3FE512B05F5006E1, 0x3FD008C80A24FF10, 0x3FF3DEA64C123422, 0x3FFC199BDD85529C, 0x3FD77A45D8117FD5, 0x3FF40E7A7E37AA30, 0x3FD1675CABABA60E, 0x3FE307D7334F10BE, 0xBFFAD961ED0CB91D, 0xBFD32BFEE370EE68, 0xBFE02A30498EB0FD, 0xBFB715D0CE367AFC, 0x3FE5B7209557B0EE, 0x3FEDDC2ECF33E1B5, 0x3FE1E3779B97F4A8, 0x3FECD82B446159F3, 0x3FFC9F25C5BFEDD9, 0x3FF1C01AA03BE896
func.func @main() -> tensor<48xf64> {
  %x0 = arith.constant 0.3125 : f64
  %y0 = arith.constant 1.3125 : f64
  %x1 = arith.constant 0.8125 : f64
  %y1 = arith.constant 1.8125 : f64
  %r0_0 = math.exp %x0 : f64
  %r0_1 = math.exp %x1 : f64
  %r1_0 = math.log %x0 : f64
  %r1_1 = math.log %x1 : f64
  %r2_0 = math.sin %x0 : f64
  %r2_1 = math.sin %x1 : f64
  %r3_0 = math.cos %x0 : f64
  %r3_1 = math.cos %x1 : f64
  %r4_0 = math.tan %x0 : f64
  %r4_1 = math.tan %x1 : f64
  %r5_0 = math.tanh %x0 : f64
  %r5_1 = math.tanh %x1 : f64
  %r6_0 = math.sinh %x0 : f64
  %r6_1 = math.sinh %x1 : f64
  %r7_0 = math.cosh %x0 : f64
  %r7_1 = math.cosh %x1 : f64
  %r8_0 = math.asin %x0 : f64
  %r8_1 = math.asin %x1 : f64
  %r9_0 = math.acos %x0 : f64
  %r9_1 = math.acos %x1 : f64
  %r10_0 = math.atan %x0 : f64
  %r10_1 = math.atan %x1 : f64
  %r11_0 = math.asinh %x0 : f64
  %r11_1 = math.asinh %x1 : f64
  %r12_0 = math.acosh %y0 : f64
  %r12_1 = math.acosh %y1 : f64
  %r13_0 = math.atanh %x0 : f64
  %r13_1 = math.atanh %x1 : f64
  %r14_0 = math.erf %x0 : f64
  %r14_1 = math.erf %x1 : f64
  %r15_0 = math.erfc %x0 : f64
  %r15_1 = math.erfc %x1 : f64
  %r16_0 = math.exp2 %x0 : f64
  %r16_1 = math.exp2 %x1 : f64
  %r17_0 = math.expm1 %x0 : f64
  %r17_1 = math.expm1 %x1 : f64
  %r18_0 = math.log1p %x0 : f64
  %r18_1 = math.log1p %x1 : f64
  %r19_0 = math.log2 %x0 : f64
  %r19_1 = math.log2 %x1 : f64
  %r20_0 = math.log10 %x0 : f64
  %r20_1 = math.log10 %x1 : f64
  %r21_0 = math.cbrt %x0 : f64
  %r21_1 = math.cbrt %x1 : f64
  %r22_0 = math.sqrt %x0 : f64
  %r22_1 = math.sqrt %x1 : f64
  %r23_0 = math.rsqrt %x0 : f64
  %r23_1 = math.rsqrt %x1 : f64
  %t = tensor.from_elements %r0_0, %r0_1, %r1_0, %r1_1, %r2_0, %r2_1, %r3_0, %r3_1, %r4_0, %r4_1, %r5_0, %r5_1, %r6_0, %r6_1, %r7_0, %r7_1, %r8_0, %r8_1, %r9_0, %r9_1, %r10_0, %r10_1, %r11_0, %r11_1, %r12_0, %r12_1, %r13_0, %r13_1, %r14_0, %r14_1, %r15_0, %r15_1, %r16_0, %r16_1, %r17_0, %r17_1, %r18_0, %r18_1, %r19_0, %r19_1, %r20_0, %r20_1, %r21_0, %r21_1, %r22_0, %r22_1, %r23_0, %r23_1 : tensor<48xf64>
  return %t : tensor<48xf64>
}
// -----
// Functions at 0.3125 and 0.8125 in f16 (acosh: one more); expected values from mpmath with 300 bits, rounded once.
// EXPECT: 0x3D78, 0x4082, 0xBCA7, 0xB2A5, 0x34EB, 0x39CF, 0x3B9D, 0x3980, 0x352B, 0x3C39, 0x34D8, 0x395E, 0x3515, 0x3B3D, 0x3C32, 0x3D65, 0x3516, 0x3B96, 0x3D03, 0x38FB, 0x34D9, 0x3975, 0x34EC, 0x39F0, 0x3A2C, 0x3CCE, 0x352C, 0x3C8A, 0x3577, 0x39FF, 0x3945, 0x3402, 0x3CF8, 0x3F06, 0x35DF, 0x3D04, 0x345A, 0x38C2, 0xBEB6, 0xB4CB, 0xB80B, 0xADC5, 0x396E, 0x3B77, 0x3879, 0x3B36, 0x3F28, 0x3C70
func.func @main() -> tensor<48xf16> {
  %x0 = arith.constant 0.3125 : f16
  %y0 = arith.constant 1.3125 : f16
  %x1 = arith.constant 0.8125 : f16
  %y1 = arith.constant 1.8125 : f16
  %r0_0 = math.exp %x0 : f16
  %r0_1 = math.exp %x1 : f16
  %r1_0 = math.log %x0 : f16
  %r1_1 = math.log %x1 : f16
  %r2_0 = math.sin %x0 : f16
  %r2_1 = math.sin %x1 : f16
  %r3_0 = math.cos %x0 : f16
  %r3_1 = math.cos %x1 : f16
  %r4_0 = math.tan %x0 : f16
  %r4_1 = math.tan %x1 : f16
  %r5_0 = math.tanh %x0 : f16
  %r5_1 = math.tanh %x1 : f16
  %r6_0 = math.sinh %x0 : f16
  %r6_1 = math.sinh %x1 : f16
  %r7_0 = math.cosh %x0 : f16
  %r7_1 = math.cosh %x1 : f16
  %r8_0 = math.asin %x0 : f16
  %r8_1 = math.asin %x1 : f16
  %r9_0 = math.acos %x0 : f16
  %r9_1 = math.acos %x1 : f16
  %r10_0 = math.atan %x0 : f16
  %r10_1 = math.atan %x1 : f16
  %r11_0 = math.asinh %x0 : f16
  %r11_1 = math.asinh %x1 : f16
  %r12_0 = math.acosh %y0 : f16
  %r12_1 = math.acosh %y1 : f16
  %r13_0 = math.atanh %x0 : f16
  %r13_1 = math.atanh %x1 : f16
  %r14_0 = math.erf %x0 : f16
  %r14_1 = math.erf %x1 : f16
  %r15_0 = math.erfc %x0 : f16
  %r15_1 = math.erfc %x1 : f16
  %r16_0 = math.exp2 %x0 : f16
  %r16_1 = math.exp2 %x1 : f16
  %r17_0 = math.expm1 %x0 : f16
  %r17_1 = math.expm1 %x1 : f16
  %r18_0 = math.log1p %x0 : f16
  %r18_1 = math.log1p %x1 : f16
  %r19_0 = math.log2 %x0 : f16
  %r19_1 = math.log2 %x1 : f16
  %r20_0 = math.log10 %x0 : f16
  %r20_1 = math.log10 %x1 : f16
  %r21_0 = math.cbrt %x0 : f16
  %r21_1 = math.cbrt %x1 : f16
  %r22_0 = math.sqrt %x0 : f16
  %r22_1 = math.sqrt %x1 : f16
  %r23_0 = math.rsqrt %x0 : f16
  %r23_1 = math.rsqrt %x1 : f16
  %t = tensor.from_elements %r0_0, %r0_1, %r1_0, %r1_1, %r2_0, %r2_1, %r3_0, %r3_1, %r4_0, %r4_1, %r5_0, %r5_1, %r6_0, %r6_1, %r7_0, %r7_1, %r8_0, %r8_1, %r9_0, %r9_1, %r10_0, %r10_1, %r11_0, %r11_1, %r12_0, %r12_1, %r13_0, %r13_1, %r14_0, %r14_1, %r15_0, %r15_1, %r16_0, %r16_1, %r17_0, %r17_1, %r18_0, %r18_1, %r19_0, %r19_1, %r20_0, %r20_1, %r21_0, %r21_1, %r22_0, %r22_1, %r23_0, %r23_1 : tensor<48xf16>
  return %t : tensor<48xf16>
}
// -----
// Functions at 0.3125 and 0.8125 in bf16 (acosh: one more); expected values from mpmath with 300 bits, rounded once.
// EXPECT: 0x3FAF, 0x4010, 0xBF95, 0xBE55, 0x3E9D, 0x3F3A, 0x3F74, 0x3F30, 0x3EA5, 0x3F87, 0x3E9B, 0x3F2C, 0x3EA3, 0x3F68, 0x3F86, 0x3FAD, 0x3EA3, 0x3F73, 0x3FA0, 0x3F1F, 0x3E9B, 0x3F2F, 0x3E9E, 0x3F3E, 0x3F45, 0x3F9A, 0x3EA6, 0x3F91, 0x3EAF, 0x3F40, 0x3F29, 0x3E80, 0x3F9F, 0x3FE1, 0x3EBC, 0x3FA0, 0x3E8B, 0x3F18, 0xBFD7, 0xBE99, 0xBF01, 0xBDB9, 0x3F2E, 0x3F6F, 0x3F0F, 0x3F67, 0x3FE5, 0x3F8E
func.func @main() -> tensor<48xbf16> {
  %x0 = arith.constant 0.3125 : bf16
  %y0 = arith.constant 1.3125 : bf16
  %x1 = arith.constant 0.8125 : bf16
  %y1 = arith.constant 1.8125 : bf16
  %r0_0 = math.exp %x0 : bf16
  %r0_1 = math.exp %x1 : bf16
  %r1_0 = math.log %x0 : bf16
  %r1_1 = math.log %x1 : bf16
  %r2_0 = math.sin %x0 : bf16
  %r2_1 = math.sin %x1 : bf16
  %r3_0 = math.cos %x0 : bf16
  %r3_1 = math.cos %x1 : bf16
  %r4_0 = math.tan %x0 : bf16
  %r4_1 = math.tan %x1 : bf16
  %r5_0 = math.tanh %x0 : bf16
  %r5_1 = math.tanh %x1 : bf16
  %r6_0 = math.sinh %x0 : bf16
  %r6_1 = math.sinh %x1 : bf16
  %r7_0 = math.cosh %x0 : bf16
  %r7_1 = math.cosh %x1 : bf16
  %r8_0 = math.asin %x0 : bf16
  %r8_1 = math.asin %x1 : bf16
  %r9_0 = math.acos %x0 : bf16
  %r9_1 = math.acos %x1 : bf16
  %r10_0 = math.atan %x0 : bf16
  %r10_1 = math.atan %x1 : bf16
  %r11_0 = math.asinh %x0 : bf16
  %r11_1 = math.asinh %x1 : bf16
  %r12_0 = math.acosh %y0 : bf16
  %r12_1 = math.acosh %y1 : bf16
  %r13_0 = math.atanh %x0 : bf16
  %r13_1 = math.atanh %x1 : bf16
  %r14_0 = math.erf %x0 : bf16
  %r14_1 = math.erf %x1 : bf16
  %r15_0 = math.erfc %x0 : bf16
  %r15_1 = math.erfc %x1 : bf16
  %r16_0 = math.exp2 %x0 : bf16
  %r16_1 = math.exp2 %x1 : bf16
  %r17_0 = math.expm1 %x0 : bf16
  %r17_1 = math.expm1 %x1 : bf16
  %r18_0 = math.log1p %x0 : bf16
  %r18_1 = math.log1p %x1 : bf16
  %r19_0 = math.log2 %x0 : bf16
  %r19_1 = math.log2 %x1 : bf16
  %r20_0 = math.log10 %x0 : bf16
  %r20_1 = math.log10 %x1 : bf16
  %r21_0 = math.cbrt %x0 : bf16
  %r21_1 = math.cbrt %x1 : bf16
  %r22_0 = math.sqrt %x0 : bf16
  %r22_1 = math.sqrt %x1 : bf16
  %r23_0 = math.rsqrt %x0 : bf16
  %r23_1 = math.rsqrt %x1 : bf16
  %t = tensor.from_elements %r0_0, %r0_1, %r1_0, %r1_1, %r2_0, %r2_1, %r3_0, %r3_1, %r4_0, %r4_1, %r5_0, %r5_1, %r6_0, %r6_1, %r7_0, %r7_1, %r8_0, %r8_1, %r9_0, %r9_1, %r10_0, %r10_1, %r11_0, %r11_1, %r12_0, %r12_1, %r13_0, %r13_1, %r14_0, %r14_1, %r15_0, %r15_1, %r16_0, %r16_1, %r17_0, %r17_1, %r18_0, %r18_1, %r19_0, %r19_1, %r20_0, %r20_1, %r21_0, %r21_1, %r22_0, %r22_1, %r23_0, %r23_1 : tensor<48xbf16>
  return %t : tensor<48xbf16>
}
// -----
// Functions of two and three numbers. The product of the fma is not rounded: (1+2^-12)^2 - (1+2^-11) is 2^-24.
// EXPECT: 0x401F5CB9; 0x40056C6E7397F5AE; 0x33800000; -2.5; 3.0; -0.0
func.func @main() -> (f32, f64, f32, f32, f32, f32) {
  %a = arith.constant 1.5 : f32
  %b = arith.constant 2.25 : f32
  %p = math.powf %a, %b : f32
  %c = arith.constant 1.0 : f64
  %d = arith.constant -2.0 : f64
  %q = math.atan2 %c, %d : f64
  %e = arith.constant 0x39800000 : f32
  %one = arith.constant 1.0 : f32
  %two = arith.constant -2.0 : f32
  %nt = arith.addf %one, %e : f32
  %m = arith.constant -1.00048828125 : f32
  %f = math.fma %nt, %nt, %m : f32
  %h = arith.constant 2.5 : f32
  %s = math.copysign %h, %two : f32
  %three = arith.constant 3.0 : f32
  %big = arith.constant 9.0 : f32
  %k = math.clampf %big to [%one, %three] : f32
  %r = arith.constant -0.25 : f32
  %re = math.roundeven %r : f32
  return %p, %q, %f, %s, %k, %re : f32, f64, f32, f32, f32, f32
}
// -----
// Rounding: ties away from zero, ties to even, and the directed ones.
// EXPECT: 3.0, 2.0, -3.0, -2.0, 2.0, -3.0, 3.0, -2.0
func.func @main() -> tensor<8xf32> {
  %p = arith.constant 2.5 : f32
  %m = arith.constant -2.5 : f32
  %0 = math.round %p : f32
  %1 = math.roundeven %p : f32
  %2 = math.round %m : f32
  %3 = math.roundeven %m : f32
  %4 = math.floor %p : f32
  %5 = math.floor %m : f32
  %6 = math.ceil %p : f32
  %7 = math.trunc %m : f32
  %t = tensor.from_elements %0, %1, %2, %3, %4, %5, %6, %7 : tensor<8xf32>
  return %t : tensor<8xf32>
}
// -----
// Classes, bits and integer powers.
// EXPECT: 1, 0, 1, 0, 1; 5, 27, 2, 3; -8, 0, -1, 1; 0.125
func.func @main() -> (tensor<5xi1>, tensor<4xi32>, tensor<4xi32>, f32) {
  %nan = arith.constant 0x7FC00000 : f32
  %inf = arith.constant 0xFF800000 : f32
  %tiny = arith.constant 0x00000001 : f32
  %0 = math.isnan %nan : f32
  %1 = math.isfinite %inf : f32
  %2 = math.isinf %inf : f32
  %3 = math.isnormal %tiny : f32
  %4 = math.isfinite %tiny : f32
  %c = tensor.from_elements %0, %1, %2, %3, %4 : tensor<5xi1>
  %m5 = arith.constant -5 : i32
  %a = math.absi %m5 : i32
  %twenty = arith.constant 20 : i32
  %lz = math.ctlz %twenty : i32
  %pc = math.ctpop %twenty : i32
  %eight = arith.constant 8 : i32
  %tz = math.cttz %eight : i32
  %b = tensor.from_elements %a, %lz, %pc, %tz : tensor<4xi32>
  %m2 = arith.constant -2 : i32
  %three = arith.constant 3 : i32
  %m3 = arith.constant -3 : i32
  %m1 = arith.constant -1 : i32
  %one = arith.constant 1 : i32
  %p0 = math.ipowi %m2, %three : i32
  %p1 = math.ipowi %m2, %m3 : i32
  %p2 = math.ipowi %m1, %m3 : i32
  %p3 = math.ipowi %one, %m3 : i32
  %p = tensor.from_elements %p0, %p1, %p2, %p3 : tensor<4xi32>
  %two = arith.constant 2.0 : f32
  %fp = math.fpowi %two, %m3 : f32, i32
  return %c, %b, %p, %fp : tensor<5xi1>, tensor<4xi32>, tensor<4xi32>, f32
}
// -----
// EXPECT: 0x3EF57744; 0x3F60A940; 1.5, 0.5
func.func @main() -> (f32, f32, vector<2xf16>) {
  %x = arith.constant 0.5 : f32
  %s, %c = math.sincos %x : f32
  %v = arith.constant dense<[-1.5, -0.5]> : vector<2xf16>
  %a = math.absf %v : vector<2xf16>
  return %s, %c, %a : f32, f32, vector<2xf16>
}
// -----
// ERROR: raises zero to a negative power
func.func @main() -> i32 {
  %z = arith.constant 0 : i32
  %m = arith.constant -1 : i32
  %p = math.ipowi %z, %m : i32
  return %p : i32
}

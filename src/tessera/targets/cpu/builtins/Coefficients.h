// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Written by fit.py; edit that. POLY_X(x) is a polynomial in Horner's form; 32 marks those short enough for
// single precision computed in double, F and FAST those in single precision throughout. TOP_X over BOTTOM_X
// is a quotient.
#pragma once
// clang-format off

// Degree 11 on [-0.34692, 0.34692], relative error 2^-60.6.
#define POLY_EXP(x) ((((((((((((0x1.61bff1c64f494p-33) * (x) + 0x1.1f7f6aa421dd8p-29) * (x) + 0x1.ae642c5c1fa33p-26) * (x) + 0x1.27e4d3f50d87fp-22) * (x) + 0x1.71de3a5aaefb9p-19) * (x) + 0x1.a01a01a9f72adp-16) * (x) + 0x1.a01a01a01969bp-13) * (x) + 0x1.6c16c16c15a48p-10) * (x) + 0x1.1111111111111p-7) * (x) + 0x1.5555555555557p-5) * (x) + 0x1.5555555555555p-3) * (x) + 0x1.0000000000000p-1)
// Degree 6 on [-0.34692, 0.34692], relative error 2^-37.8.
#define POLY_EXP32(x) (((((((0x1.a113930ccbff5p-16) * (x) + 0x1.a152099da25bap-13) * (x) + 0x1.6c1685542fcb2p-10) * (x) + 0x1.1110c5ed7d6c9p-7) * (x) + 0x1.5555555c910d6p-5) * (x) + 0x1.555555676c1bbp-3) * (x) + 0x1.0000000000000p-1)
// Degree 5 on [-0.34692, 0.34692], relative error 2^-30.3.
#define POLY_EXPF(x) ((((((0x1.a1256c0000000p-13f) * (x) + 0x1.6d43b00000000p-10f) * (x) + 0x1.1110e00000000p-7f) * (x) + 0x1.5554e80000000p-5f) * (x) + 0x1.5555560000000p-3f) * (x) + 0x1.0000000000000p-1f)
// Degree 12 on [-0.34692, 0.34692], relative error 2^-59.5.
#define POLY_EXPM1(x) (((((((((((((0x1.943fcff2e8ee0p-37) * (x) + 0x1.61cceadf9a709p-33) * (x) + 0x1.1eed75a39d69dp-29) * (x) + 0x1.ae6423c5c2f87p-26) * (x) + 0x1.27e4fb7b33aaep-22) * (x) + 0x1.71de3a5cc0234p-19) * (x) + 0x1.a01a01a0197dfp-16) * (x) + 0x1.a01a01a018fa4p-13) * (x) + 0x1.6c16c16c16c17p-10) * (x) + 0x1.1111111111112p-7) * (x) + 0x1.5555555555555p-5) * (x) + 0x1.5555555555555p-3) * (x) + 0x1.0000000000000p-1)
// Degree 6 on [-0.34692, 0.34692], relative error 2^-36.5.
#define POLY_EXPM132(x) (((((((0x1.a113930ccbff5p-16) * (x) + 0x1.a152099da25bap-13) * (x) + 0x1.6c1685542fcb2p-10) * (x) + 0x1.1110c5ed7d6c9p-7) * (x) + 0x1.5555555c910d6p-5) * (x) + 0x1.555555676c1bbp-3) * (x) + 0x1.0000000000000p-1)
// Degree 7 on [0, 0.0294667], relative error 2^-60.7.
#define POLY_LOG(x) ((((((((0x1.0c0aff044a970p-3) * (x) + 0x1.0fbde0f4ad17bp-3) * (x) + 0x1.3b1c3c1c81c8fp-3) * (x) + 0x1.745cf8e4bba1bp-3) * (x) + 0x1.c71c7201a55d7p-3) * (x) + 0x1.2492492476a1ap-2) * (x) + 0x1.9999999999a39p-2) * (x) + 0x1.5555555555555p-1)
// Degree 3 on [0, 0.0294667], relative error 2^-35.8.
#define POLY_LOG32(x) ((((0x1.ddd4dad98e4c4p-3) * (x) + 0x1.245c273432202p-2) * (x) + 0x1.9999eb9d6ddfep-2) * (x) + 0x1.5555554ba8b0ep-1)
// Degree 3 on [0, 0.0294667], relative error 2^-31.6.
#define POLY_LOGF(x) ((((0x1.ddd4da0000000p-3f) * (x) + 0x1.245c280000000p-2f) * (x) + 0x1.9999ec0000000p-2f) * (x) + 0x1.5555560000000p-1f)
// Degree 8 on [0, 0.0294667], relative error 2^-72.1.
#define POLY_LOGTAIL(x) (((((((((0x1.92ea848d005e3p-5) * (x) + 0x1.8373836f665bcp-5) * (x) + 0x1.af3cd208171ecp-5) * (x) + 0x1.e1e1869976042p-5) * (x) + 0x1.11111188bd5c6p-4) * (x) + 0x1.3b13b13a63b13p-4) * (x) + 0x1.745d1745d1f5ep-4) * (x) + 0x1.c71c71c71c71ap-4) * (x) + 0x1.2492492492492p-3)
// Degree 7 on [0, 0.616974], relative error 2^-57.1.
#define POLY_SIN(x) ((((((((0x1.924296786f1a3p-49) * (x) + -0x1.ae7c5380b1d5fp-41) * (x) + 0x1.61245fb4cbac1p-33) * (x) + -0x1.ae64567e72f38p-26) * (x) + 0x1.71de3a556c2c7p-19) * (x) + -0x1.a01a01a01a019p-13) * (x) + 0x1.1111111111111p-7) * (x) + -0x1.5555555555555p-3)
// Degree 3 on [0, 0.616974], relative error 2^-35.6.
#define POLY_SIN32(x) ((((0x1.6dbdd26f56d2dp-19) * (x) + -0x1.a013a6edc8f34p-13) * (x) + 0x1.11110deeb33b2p-7) * (x) + -0x1.555555545dd83p-3)
// Degree 6 on [0, 0.616974], relative error 2^-59.5.
#define POLY_COS(x) (((((((0x1.ab783376962cfp-45) * (x) + -0x1.9394b9c9c20a4p-37) * (x) + 0x1.1eed8deb6d561p-29) * (x) + -0x1.27e4fb7712bdfp-22) * (x) + 0x1.a01a01a019d0ap-16) * (x) + -0x1.6c16c16c16c16p-10) * (x) + 0x1.5555555555555p-5)
// Degree 3 on [0, 0.616974], relative error 2^-39.5.
#define POLY_COS32(x) ((((-0x1.25242a3a17327p-22) * (x) + 0x1.a015c40ec65ecp-16) * (x) + -0x1.6c16bf5495185p-10) * (x) + 0x1.5555555502be6p-5)
// Degree 13 on [0, 0.2501], relative error 2^-58.9.
#define POLY_ASIN(x) ((((((((((((((0x1.e58a4f278e007p-6) * (x) + -0x1.3bd7e353ddbc2p-6) * (x) + 0x1.40c91fa8deb7ep-6) * (x) + 0x1.8dcdf11997e0fp-9) * (x) + 0x1.31777489dfd29p-7) * (x) + 0x1.3b462d121c5d2p-7) * (x) + 0x1.7b02ef007d23ep-7) * (x) + 0x1.c990a42b32b03p-7) * (x) + 0x1.1c4efd20ebb99p-6) * (x) + 0x1.6e8ba121b9d5fp-6) * (x) + 0x1.f1c71c7a5e151p-6) * (x) + 0x1.6db6db6dac0eap-5) * (x) + 0x1.3333333333389p-4) * (x) + 0x1.5555555555555p-3)
// Degree 7 on [0, 0.2501], relative error 2^-38.0.
#define POLY_ASIN32(x) ((((((((0x1.e055c6ab71d4cp-6) * (x) + 0x1.64157dc57bfb9p-8) * (x) + 0x1.3c5d44991a0f2p-6) * (x) + 0x1.6a9c2ffd8a6d0p-6) * (x) + 0x1.f20913ba8d370p-6) * (x) + 0x1.6db5cef583cefp-5) * (x) + 0x1.333334d009e10p-4) * (x) + 0x1.55555554ede81p-3)
// Degree 11 on [0, 0.171744], relative error 2^-58.2.
#define POLY_ATAN(x) ((((((((((((0x1.0a997ba33c1dbp-6) * (x) + -0x1.1b1992aa413c9p-5) * (x) + 0x1.74d3a7b43351ap-5) * (x) + -0x1.ac7858539e493p-5) * (x) + 0x1.e199c62156609p-5) * (x) + -0x1.110e84aa36d9dp-4) * (x) + 0x1.3b1392a9c2d8bp-4) * (x) + -0x1.745d165c497f3p-4) * (x) + 0x1.c71c71c2fc236p-4) * (x) + -0x1.249249248d739p-3) * (x) + 0x1.9999999999952p-3) * (x) + -0x1.5555555555555p-2)
// Degree 6 on [0, 0.171744], relative error 2^-38.3.
#define POLY_ATAN32(x) (((((((-0x1.4b107f787f967p-5) * (x) + 0x1.2439d1666cb6dp-4) * (x) + -0x1.71d214eaeb143p-4) * (x) + 0x1.c6f664c251f89p-4) * (x) + -0x1.2491bfec7eaaap-3) * (x) + 0x1.9999982386384p-3) * (x) + -0x1.55555555018d3p-2)
// Degree 14 on [0, 1], relative error 2^-56.3.
#define POLY_ERF(x) (((((((((((((((0x1.3c01fd3a74542p-42) * (x) + -0x1.b40e7abf9f000p-38) * (x) + 0x1.9a0fcb5e22c5bp-34) * (x) + -0x1.517ce02f1265fp-30) * (x) + 0x1.fcbb312b48443p-27) * (x) + -0x1.5f73c3bf14b91p-23) * (x) + 0x1.b9e6c38e5cf3dp-20) * (x) + -0x1.f4d25bf9af03ap-17) * (x) + 0x1.f9a326f7ac5b1p-14) * (x) + -0x1.c02db40035f1ep-11) * (x) + 0x1.565bcd0e6a2eep-8) * (x) + -0x1.b82ce31288b47p-6) * (x) + 0x1.ce2f21a042be2p-4) * (x) + -0x1.812746b0379e7p-2) * (x) + 0x1.06eba8214db69p-3)
// Degree 8 on [0, 1], relative error 2^-40.0.
#define POLY_ERF32(x) (((((((((0x1.1c41ab6eec487p-20) * (x) + -0x1.d2b8522d6f7cbp-17) * (x) + 0x1.f57e9cee106c1p-14) * (x) + -0x1.bfe158a7be278p-11) * (x) + 0x1.56588b32275a7p-8) * (x) + -0x1.b82cbae7577a7p-6) * (x) + 0x1.ce2f20a7415c6p-4) * (x) + -0x1.812746ade3c08p-2) * (x) + 0x1.06eba821465c6p-3)
// Degree 11 on [-0.684211, 0.448276], relative error 2^-33.8.
#define POLY_ERFCX32(x) ((((((((((((-0x1.bfeb2405e882fp-12) * (x) + -0x1.8b49d7678f06bp-11) * (x) + 0x1.51a7b680749c9p-8) * (x) + -0x1.08f9d06138894p-6) * (x) + 0x1.3047a206c5229p-5) * (x) + -0x1.0fb700607b8fdp-4) * (x) + 0x1.7ff047afd5c00p-4) * (x) + -0x1.9dda9367f669cp-4) * (x) + 0x1.16ecd8eb60752p-4) * (x) + 0x1.f7f5beccc7b01p-7) * (x) + -0x1.1df1acf23bed8p-3) * (x) + 0x1.3ba5916ee7dc1p+0)
// Degree 23 on [-0.684211, 0.75], relative error 2^-56.8.
#define POLY_ERFCX(x) ((((((((((((((((((((((((-0x1.51cbc94d27ac7p-31) * (x) + 0x1.affe9953dc04fp-30) * (x) + 0x1.2c6bb936114bdp-28) * (x) + -0x1.fc1bbfe793707p-27) * (x) + -0x1.82900d75fd35ep-26) * (x) + 0x1.daf3fcbc03fd2p-24) * (x) + 0x1.550561e8e6e14p-24) * (x) + -0x1.bb2e68d1d8a6ap-21) * (x) + 0x1.381b8bbe5a5d9p-22) * (x) + 0x1.7f29ae9f3fed7p-18) * (x) + -0x1.7880de228cb3ap-17) * (x) + -0x1.99594da0261b2p-16) * (x) + 0x1.3be0306f74de7p-13) * (x) + -0x1.a1df255b06fa4p-13) * (x) + -0x1.8d4a99793003cp-11) * (x) + 0x1.49c672862e51fp-8) * (x) + -0x1.096238855aff6p-6) * (x) + 0x1.3079edf682953p-5) * (x) + -0x1.0fb06dfe48709p-4) * (x) + 0x1.7fee004e1254ap-4) * (x) + -0x1.9ddb23c3e9121p-4) * (x) + 0x1.16ecefcfa5396p-4) * (x) + 0x1.f7f5df66fd7c0p-7) * (x) + -0x1.1df1ad154a28ep-3)
// Degree 8 on [0, 1.01], relative error 2^-26.9.
#define POLY_TANHF(x) (((((((((-0x1.90e4cc0000000p-15f) * (x) + 0x1.5f674a0000000p-12f) * (x) + -0x1.4497a80000000p-10f) * (x) + 0x1.c782360000000p-9f) * (x) + -0x1.212c6e0000000p-7f) * (x) + 0x1.6630ec0000000p-6f) * (x) + -0x1.ba1a2c0000000p-5f) * (x) + 0x1.11110e0000000p-3f) * (x) + -0x1.5555560000000p-2f)
// Degree 6 on [-0.34692, 0.34692], relative error 2^-25.5.
#define POLY_EXPFAST(x) (((((((0x1.6d75e60000000p-10f) * (x) + 0x1.12705a0000000p-7f) * (x) + 0x1.5554ac0000000p-5f) * (x) + 0x1.5554020000000p-3f) * (x) + 0x1.0000000000000p-1f) * (x) + 0x1.0000000000000p+0f) * (x) + 0x1.0000000000000p+0f)
// Degrees 5 and 5 on [0, 81.3604], relative error 2^-25.0.
#define TOP_TANHFAST(x) ((((((0x1.02d6c00000000p-35f) * (x) + 0x1.a568f00000000p-24f) * (x) + 0x1.4e0e500000000p-15f) * (x) + 0x1.1b937e0000000p-8f) * (x) + 0x1.1f36740000000p-3f) * (x) + 0x1.0000000000000p+0f)
#define BOTTOM_TANHFAST(x) ((((((0x1.56573e0000000p-29f) * (x) + 0x1.3fe7960000000p-19f) * (x) + 0x1.f984480000000p-12f) * (x) + 0x1.d8b4d80000000p-6f) * (x) + 0x1.e4f08a0000000p-2f) * (x) + 0x1.0000000000000p+0f)
// Degrees 6 and 5 on [0, 15.4056], relative error 2^-24.6.
#define TOP_ERFFAST(x) (((((((-0x1.00ba1c0000000p-26f) * (x) + 0x1.526da80000000p-18f) * (x) + 0x1.9ac0240000000p-12f) * (x) + 0x1.f5cdf20000000p-9f) * (x) + 0x1.bddb500000000p-5f) * (x) + 0x1.7840f60000000p-3f) * (x) + 0x1.20dd760000000p+0f)
#define BOTTOM_ERFFAST(x) ((((((0x1.16ed360000000p-14f) * (x) + 0x1.59e74e0000000p-10f) * (x) + 0x1.faac980000000p-7f) * (x) + 0x1.d15e120000000p-4f) * (x) + 0x1.fc0e8c0000000p-2f) * (x) + 0x1.0000000000000p+0f)
// Degree 4 on [1, 2], relative error 2^-16.2.
#define POLY_CBRT(x) (((((-0x1.4b077fcd0882bp-7) * (x) + 0x1.544aaec5e4624p-4) * (x) + -0x1.2d024eeecb9cbp-2) * (x) + 0x1.6c697f83452edp-1) * (x) + 0x1.04bc2bde493b9p-1)
// 2/pi, the most significant word first.
#define TWO_OVER_PI_WORDS 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull
#define TWO_OVER_PI_A 0x1.45f306c000000p-1, 0x1.17cc1b4000000p-3, 0x1.c9c8828000000p-29, 0x1.4a7f09c000000p-54, 0x1.57d1f50000000p-80
#define TWO_OVER_PI_B 0x1.c9c8828000000p-29, 0x1.9391054000000p-30, 0x1.29fc274000000p-56, 0x1.5f47d4c000000p-82, 0x1.a6ee06c000000p-107
#define TWO_OVER_PI_C 0x1.29fc2757d1f53p-56, 0x1.4fe13abe8fa9ap-59, 0x1.7d1f534ddc0dbp-84, 0x1.377036d8a5665p-110, 0x1.b14acc9e21c82p-135
// Constants in parts: _0 has few enough bits that a product with a small integer is exact.
#define LN2_0 0x1.62e42fee00000p-1
#define LN2_1 0x1.a39ef35793c76p-33
#define LN2H_0 0x1.62e42f8000000p-1
#define LN2H_1 0x1.be8e7bcd5e4f2p-27
#define PIO2_0 0x1.921fb54400000p+0
#define PIO2_1 0x1.0b4611a600000p-34
#define PIO2_2 0x1.3198a2e000000p-69
#define PIO2_3 0x1.b839a252049c1p-104
#define PIO2D_0 0x1.921fb54442d18p+0
#define PIO2D_1 0x1.1a62633145c07p-54
#define PIO4X3D_0 0x1.2d97c7f3321d2p+1
#define PIO4X3D_1 0x1.a79394c9e8a0ap-54
#define LOG2E_0 0x1.7154764000000p+0
#define LOG2E_1 0x1.2b82fe1777d10p-28
#define LOG2ED_0 0x1.71547652b82fep+0
#define LOG2ED_1 0x1.777d0ffda0d24p-56
#define LOG10E_0 0x1.bcb7b14000000p-2
#define LOG10E_1 0x1.26e50e32a6ab7p-30
#define LOG10_2_0 0x1.3441350800000p-2
#define LOG10_2_1 0x1.f79fef311f12bp-34
#define LN2D_0 0x1.62e42fefa39efp-1
#define LN2D_1 0x1.abc9e3b39803fp-56
#define THIRDD_0 0x1.5555555555555p-2
#define THIRDD_1 0x1.5555555555555p-56
#define FIFTHD_0 0x1.9999999999999p-3
#define FIFTHD_1 0x1.3333333333333p-56
#define ERFCX0_0 0x1.3ba5916e9fd7ep+0
#define ERFCX0_1 0x1.9558efaa61864p-53
#define LN10D_0 0x1.26bb1bbb55515p+1
#define LN10D_1 0x1.05ba95b58ae0bp-52

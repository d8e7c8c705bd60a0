"""What the four documents print: the numbers of their tables and of labels in their figures."""

# wu2010, tables 4.1 and 4.2 (Tesla C1060), ms by antennas and QAM: synchronous, asynchronous, kernel.
WU2010_USES = {2: 8 * 16384, 4: 8 * 8192}
WU2010_MTT = {2: {4: (5.05, 0.75, 0.61), 16: (9.49, 3.70, 3.57), 64: (46.85, 39.97, 39.80)},
              4: {4: (12.52, 1.76, 1.62), 16: (19.85, 8.31, 8.19), 64: (138.17, 124.62, 124.52)}}
# wu2010 table 4.3, 2x2, 16800 subcarriers: warp instructions I, milliseconds T, share R of the peak instruction rate.
WU2010_RATIO = {4: (13894, 0.08, 0.549), 16: (137712, 0.45, 0.940), 64: (1601220, 4.98, 0.996)}
# wu2010 table 4.4: instructions of a thread block, which are those of a thread; a use has Q threads. Model, profiler.
WU2010_INSTRUCTIONS = {(2, 4): (209, 209), (2, 16): (497, 496), (2, 64): (1649, 1780),
                       (4, 4): (988, 1014), (4, 16): (2152, 2137), (4, 64): (6808, 9749)}
WU2010_PAIRS = {2: 24, 4: 97}  # eqs 4.5 and 4.6: instructions that a thread has for each of Q points
WU2010_LOOP_SHARE = {16: 0.74, 64: 0.93}  # 2x2
# wu2010 table 4.5, 4x4, Mb/s by QAM.
WU2010_OTHERS = {"wu2010, GPU (Tesla C1060), trellis, soft": {4: 284.7, 16: 120.0, 64: 12.0},
                 "FPGA, relaxed K-best, K = 48 (its [34])": {64: 8.57},
                 "ASIP, K-best, K = 7 (its [6])": {16: 5.3},
                 "ASIC, depth first (its [33])": {4: 19.2, 16: 38.4},
                 "ASIC, K-best, K = 5, real (its [3])": {16: 53.3},
                 "ASIC, trellis (its [26])": {4: 300, 16: 600}}
# wu2010 table 5.3 (Tesla C1060), Mb/s by W, for 1 to 6 iterations.
WU2010_TURBO = {
    "max_log_map": {32: (49.02, 24.14, 16.01, 11.98, 9.57, 7.97), 64: (34.75, 17.09, 11.34, 8.48, 6.77, 5.64),
                    96: (26.32, 12.98, 8.57, 6.41, 5.12, 4.26), 128: (17.95, 8.82, 5.85, 4.37, 3.49, 2.91)},
    "log_map": {32: (36.59, 18.09, 12.00, 9.01, 7.19, 5.99), 64: (23.87, 12.72, 8.45, 6.51, 5.20, 4.33),
                96: (19.50, 9.62, 6.39, 4.78, 3.82, 3.18), 128: (12.19, 5.59, 3.97, 2.97, 2.37, 1.97)}}
# wu2010 tables 5.1 and 5.2, by thread: (predecessor or successor, parity) for u = 0 and 1.
WU2010_ALPHA = (((0, 0), (1, 1)), ((3, 1), (2, 0)), ((4, 1), (5, 0)), ((5, 0), (6, 1)), ((1, 0), (0, 0)), ((2, 1), (3, 1)), ((5, 1), (4, 1)), ((6, 0), (7, 0)))
WU2010_BETA = (((0, 0), (4, 0)), ((4, 1), (0, 0)), ((5, 1), (1, 1)), ((1, 0), (5, 1)), ((2, 0), (6, 1)), ((6, 1), (2, 1)), ((7, 1), (3, 0)), ((3, 0), (7, 0)))
# wu2010 table 5.4: decoder, MAP algorithm, iterations, Mb/s.
WU2010_DECODERS = [
    ("Intel Pentium 3", "max-log-MAP", 1, 0.366), ("Motorola 56603", "max-log-MAP", 5, 0.0486), ("STM VLIW DSP", "log-MAP", 5, 0.2),
    ("TigerSHARC DSP", "max-log-MAP", 4, 2.399), ("TMS320C6201 DSP", "max-log-MAP", 4, 0.5), ("32-wide SIMD", "max-log-MAP", 5, 2.08),
    ("NVIDIA C1060 (wu2010)", "max-log-MAP", 5, 6.77), ("NVIDIA C1060 (wu2010)", "log-MAP", 5, 5.2)]
# What was published since.
DECODERS_SINCE = [
    ("NVIDIA GTX 480, published 2013", "enhanced max-log-MAP", 6, 123), ("NVIDIA GTX 580, published 2014", "8-bit SOVA", 5, 128),
    ("24 AVX2 cores, int8, published 2019", "max-log-MAP", 6, 1735)]

# wu2012 (GeForce GTX 560 Ti, 448 cores), 8400 uses, ms by N: table I (QR alone), II (detection without QR), III (all, with copies).
WU2012_QR = {2: (0.030, 0.052), 4: (0.137, 0.257, 0.399, 0.501)}
WU2012_DETECTION = {(2, 16): (0.0768, 0.159), (4, 16): (0.164, 0.332, 0.500, 0.665),
                    (2, 64): (0.524, 1.040), (4, 64): (0.833, 1.658, 2.474, 3.297)}
WU2012_ALL = {(2, 16): (0.342, 0.462), (4, 16): (0.739, 1.048, 1.349, 1.629),
              (2, 64): (0.818, 1.363), (4, 64): (1.457, 2.415, 3.390, 4.30)}

# K. Li's thesis (GeForce GTX 980 Ti). Table 3.1: iterations of CG that lose less than 1 dB, by antennas and users.
LI_ITERATIONS = {(128, 8): 3, (128, 16): 3, (128, 32): 5, (128, 64): 8, (256, 8): 3, (256, 16): 3, (256, 32): 4, (256, 64): 6,
                 (512, 8): 3, (512, 16): 3, (512, 32): 4, (512, 64): 5}
# Table 5.1, Mb/s by size, mode, symbols: kernel, and kernel with copies.
LI_SINGLE = {
    ("128x16", "cholesky"): {8: (88.92, 61.80), 16: (106.56, 78.39), 32: (118.19, 90.74), 64: (130.45, 102.51)},
    ("128x16", "cg"): {8: (106.74, 71.58), 16: (127.87, 88.86), 32: (144.51, 102.65), 64: (155.02, 113.93)},
    ("256x32", "cholesky"): {2: (36.98, 16.96), 4: (43.63, 24.98), 8: (52.14, 34.02), 16: (54.15, 40.82)},
    ("256x32", "cg"): {2: (39.10, 20.31), 4: (49.16, 28.97), 8: (57.76, 39.37), 16: (58.09, 45.78)}}
# Figure 5.1, 128x16: ms of a frame by direction, mode, symbols.
LI_LATENCY = {
    ("uplink", "cholesky"): {8: 0.73, 16: 1.16, 32: 2.17, 64: 4.02, 128: 7.91},
    ("uplink", "cg"): {8: 0.61, 16: 1.10, 32: 1.93, 64: 3.38, 128: 6.55},
    ("downlink", "cholesky"): {8: 0.71, 16: 1.14, 32: 2.06, 64: 4.03, 128: 7.98},
    ("downlink", "cg"): {8: 0.56, 16: 1.07, 32: 1.90, 64: 3.37, 128: 6.57}}
# Tables 5.2 and 5.3, 128x16, one GPU with 8 streams of 8 symbols, then two GPUs with 4 of 16: Mb/s, ms.
LI_STREAMS = {("uplink", "cholesky"): ((131.62, 3.98), (265.94, 3.94)), ("uplink", "cg"): ((148.67, 3.54), (286.57, 3.66)),
              ("downlink", "cholesky"): ((125.67, 4.17), (258.59, 4.06)), ("downlink", "cg"): ((145.40, 3.61), (284.49, 3.69))}
# Table 5.4: hardware, detector, antennas, Mb/s.
LI_DETECTORS = [("Virtex 7 FPGA", "MMSE (CGLS)", "128x8", 20), ("Virtex 7 FPGA", "MMSE (Cholesky)", "128x8", 603),
                ("Quadro FX1700", "SSFE", "2x2", 36.06), ("Tesla C2070", "FPFSD", "4x4", 92.31), ("Tesla C1060", "trellis", "4x4", 120),
                ("Tesla C2050", "MMSE", "4x4", 100), ("2 GTX 980 Ti (the thesis)", "MMSE (Cholesky)", "128x16", 265.94),
                ("2 GTX 980 Ti (the thesis)", "MMSE (CG)", "128x16", 286.57)]
LI_CROSSOVERS = {40: 4, 100: 2, 500: 1}  # figure 5.3: ms below which the matched filter has more capacity, by Gb/s

# Bollapalli et al., table III, by the binary logarithm of the number of symbols: seconds on a CPU; speed-ups on a GTX 280 and on a Tesla C1060.
BOLLAPALLI_FRAGMENTS = {
    4: {23: (30.86, 190.18, 514.92), 22: (15.86, 196.6, 529.09), 21: (7.78, 191.3, 518.32), 20: (3.9, 186.56, 517.9),
        19: (1.97, 180.61, 522.55), 18: (1, 173.95, 528.66), 17: (0.52, 166.34, 540.75), 16: (0.33, 232.61, 675.44),
        15: (0.18, 238.8, 698.46), 14: (0.09, 256.8, 626.7), 13: (0.04, 363.41, 374.39), 12: (0.02, 285.46, 316.65),
        11: (0.01, 154.62, 197.27)},
    16: {23: (462.56, 721.83, 591.76), 22: (231.28, 721.83, 591.76), 21: (115.64, 721.83, 591.76), 20: (57.82, 721.83, 591.76),
         19: (28.91, 721.83, 591.76), 18: (14.46, 716.67, 591.02), 17: (7.22, 720.27, 587.99), 16: (3.61, 720.68, 584.94),
         15: (1.8, 691.51, 579.36), 14: (0.9, 668.84, 566.57), 13: (0.45, 603.37, 548.22), 12: (0.22, 606.27, 511.64),
         11: (0.11, 515.31, 477.24), 10: (0.05, 406.35, 400.62), 9: (0.02, 265.52, 246.38), 8: (0.01, 162.4, None)},
    64: {23: (7214.08, 709.22, 626.75), 22: (3607.04, 709.22, 626.75), 21: (1803.52, 709.22, 626.75),
         20: (901.76, 709.22, 626.75), 19: (450.88, 709.22, 626.75), 18: (225.44, 709.22, 626.75), 17: (112.72, 709.22, 626.75),
         16: (56.36, 709.22, 626.75), 15: (28.18, 709.22, 626.75), 14: (14.12, 708.6, 627.06), 13: (7.06, 707.49, 624.54),
         12: (3.56, 695.52, 625.64), 11: (1.81, 706.06, 630.62), 10: (0.92, 720.29, 632.5), 9: (0.49, 656.64, 642.51),
         8: (0.34, 892.5, 836.47), 7: (0.17, 800.09, 811.59), 6: (0.08, 587.67, 652.67), 5: (0.04, 385.88, 461.37),
         4: (0.02, 226.14, None), 3: (0.01, 145.76, None)}}
# Table IV (Tesla C1060), frames of 4, 5, 10, 20 ms: milliseconds, or in brackets the tones that it decodes in time.
TONES_38 = ("(38)",) * 4
TONES_565 = ("(565)",) * 4
BOLLAPALLI_FRAMES = {
    "mobile_128": {4: ("0.04", "0.05", "0.1", "0.2"), 16: ("0.51", "0.64", "1.3", "2.6"), 64: TONES_38},
    "fixed_256": {4: ("0.1", "0.13", "0.27", "0.53"), 16: ("1.36", "1.72", "3.47", "6.93"), 64: TONES_38},
    "mobile_512": {4: ("0.2", "0.25", "0.5", "1"), 16: ("2.55", "3.22", "6.5", "13"), 64: TONES_38},
    "mobile_1024": {4: ("0.39", "0.49", "1", "1.99"), 16: TONES_565, 64: TONES_38},
    "mobile_2048": {4: ("0.78", "0.99", "1.99", "3.99"), 16: TONES_565, 64: TONES_38}}

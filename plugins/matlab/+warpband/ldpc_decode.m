function [bits, status, iterations] = ldpc_decode(llr, varargin)
% LDPC_DECODE  Decodes code blocks of 5G NR (3GPP TS 38.212 sections 5.3.2 and 5.4.2).
%
%   [bits, status, iterations] = warpband.ldpc_decode(llr, 'base_graph', 1, 'lifting_size', 384, ...)
%
%   llr         [E, n]: a column for each code block, in the order in which the bits were sent. single (or double), int8 or int16.
%               L = ln P(0)/P(1): positive means 0. An integer is value / 2^llr_decimals.
%   bits        uint8 [K - F, n], 0 and 1; less the CRC with 'drop_crc'
%   status      uint32 [1, n]: 0, or a sum of 2 (parity checks fail), 4 (the CRC fails), 8 (device failed)
%   iterations  uint32 [1, n]
%
%   Setting             Default  Range
%   'base_graph'        1        1 or 2
%   'lifting_size'      384      Z: one of the 51 sizes from 2 to 384
%   'fillers'           0        F of the K = 22 Z (base graph 2: 10 Z) bits
%   'buffer'            0        N_cb; 0: all of the circular buffer
%   'rv'                0        redundancy version, 0 to 3
%   'modulation_order'  1        Q_m of the bit interleaver, 1 (none), 2, 4, 6, 8, 10
%   'iterations'        8        at most, 1 to 1000
%   'early_stop'        1        0 or 1
%   'crc'               0        what the bits end with: 0 none, 1 CRC24A, 2 CRC24B, 3 CRC16
%   'drop_crc'          0        0 or 1: leave the CRC out of bits
%   'llr_decimals'      0        0 to 7, for integers
%   'device'            'cpu'    'cpu', 'cpu:8' or 'cuda:0'
%
%   Errors: warpband:argument, warpband:failed, with the name of the argument and what is allowed.
%
%   Example:
%     bits = uint8(rand(8448, 10) < 0.5);
%     coded = warpband.ldpc_encode(bits, 16896);
%     decoded = warpband.ldpc_decode(4 - 8 * single(coded));
%     isequal(decoded, bits)
[device, settings] = warpband.settings_of(varargin);
if isa(llr, 'double')
  llr = single(llr);
end
[bits, status, iterations] = warpband_mex('ldpc_decode', device, llr, settings);
end

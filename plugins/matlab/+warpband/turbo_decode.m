function [bits, status, iterations] = turbo_decode(llr, k, varargin)
% TURBO_DECODE  Decodes code blocks of LTE's turbo code (3GPP TS 36.212 section 5.1.3).
%
%   [bits, status, iterations] = warpband.turbo_decode(llr, k, ...)
%
%   llr         a column for each code block, single (or double), int8 or int16. L = ln P(0)/P(1): positive means 0.
%               [3 K_pi, n]: the circular buffer with its NULLs, K_pi = 32 ceil((k + 4) / 32);
%               with 'streams' [3 (k + 4), n]: d0, d1, d2 one after the other.
%   k           bits of a block, one of the 188 sizes from 40 to 6144
%   bits        uint8 [k, n], 0 and 1; less the CRC with 'drop_crc'
%   status      uint32 [1, n]: 0, or a sum of 4 (the CRC fails), 8 (device failed)
%   iterations  uint32 [1, n]
%
%   Setting             Default  Range
%   'streams'           0        0 or 1
%   'iterations'        8        at most, 1 to 1000
%   'least_iterations'  1        1 to iterations
%   'early_stop'        1        0 or 1
%   'crc'               0        what the bits end with: 0 none, 1 CRC24A, 2 CRC24B
%   'drop_crc'          0        0 or 1: leave the CRC out of bits
%   'llr_decimals'      0        0 to 7: an integer is value / 2^llr_decimals
%   'device'            'cpu'    'cpu', 'cpu:8' or 'cuda:0'
%
%   Example: bits = warpband.turbo_decode(ones(132, 1), 40, 'streams', 1);
[device, settings] = warpband.settings_of(varargin);
settings.k = double(k);
if isa(llr, 'double')
  llr = single(llr);
end
[bits, status, iterations] = warpband_mex('turbo_decode', device, llr, settings);
end

function coded = ldpc_encode(bits, sent_bits, varargin)
% LDPC_ENCODE  Encodes code blocks of 5G NR: CRC, LDPC code, rate matching, bit interleaver (3GPP TS 38.212).
%
%   coded = warpband.ldpc_encode(bits, sent_bits, 'base_graph', 1, 'lifting_size', 384, ...)
%
%   bits       [K - F - CRC, n] of 0 and 1: a column for each code block, without fillers and CRC. uint8, logical or double
%   sent_bits  E: bits to send of each
%   coded      uint8 [E, n]
%
%   Settings: 'base_graph', 'lifting_size', 'fillers', 'buffer', 'rv', 'modulation_order', 'crc' (attached), 'device', as of
%   warpband.ldpc_decode.
%
%   Errors: warpband:argument, warpband:failed.
%
%   Example: size(warpband.ldpc_encode(zeros(3840, 2), 9600, 'base_graph', 2))
[device, settings] = warpband.settings_of(varargin);
settings.sent_bits = double(sent_bits);
coded = warpband_mex('ldpc_encode', device, uint8(bits), settings);
end

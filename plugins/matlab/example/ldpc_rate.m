% Measures the rate of README's last comparison: 5G NR LDPC (base graph 1, Z = 384, 46 parity rows), int8, 10 iterations, on one core.
%
%   addpath('plugins/matlab'); build; run('plugins/matlab/example/ldpc_rate.m')
%
% Unpacked bits and the call from MATLAB are part of the time. The rate counts the 8448 information bits of a block.
addpath(fileparts(fileparts(mfilename('fullpath'))));
blocks = 64;
bits = uint8(rand(8448, blocks) < 0.5);
coded = warpband.ldpc_encode(bits, 25344);
llr = int8(max(-127, min(127, round(8 * (1 - 2 * double(coded)) + 8 * randn(size(coded))))));
settings = {'iterations', 10, 'early_stop', 0, 'device', 'cpu:1'};
decoded = warpband.ldpc_decode(llr, settings{:});  % opens the device
best = inf;
for repetition = 1:10
  started = tic;
  decoded = warpband.ldpc_decode(llr, settings{:});
  best = min(best, toc(started));
end
fprintf('%d of %d bits wrong; %.1f Mb/s, the best of 10 calls of %d blocks\n', nnz(decoded ~= bits), numel(bits), numel(bits) / best / 1e6, blocks);

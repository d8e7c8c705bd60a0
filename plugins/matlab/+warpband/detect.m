function llr = detect(kind, channel, received, noise_var, qam, varargin)
% DETECT  Soft MIMO detection of y = H s + n with Gray QAM of mean energy 1.
%
%   llr = warpband.detect('nway', channel, received, noise_var, 16, 'settings', 'ways = 4')
%
%   kind       'mmse', 'nway', 'kbest', 'ml', ...: a detector by its name in scenarios
%   channel    H, complex [rx_antennas, streams, n]
%   received   y, complex [rx_antennas, n]
%   noise_var  N0 of a complex entry: a number, or n of them
%   qam        points of the constellation: 4, 16, 64 or 256
%   llr        single [streams * log2(qam), n]: ln P(0)/P(1), the first stream's bits in 3GPP order, then the next one's.
%              A use with NaN, Inf or a singular H has zeros.
%
%   'settings'  text of the detector's own settings, as 'ways = 4, llr_clip = 8'
%   'device'    'cpu' (default), 'cpu:8' or 'cuda:0'
%
%   Errors: warpband:argument, warpband:failed.
%
%   Example: warpband.detect('mmse', eye(2), [1; -1], 0.1, 4)
[device, options] = warpband.settings_of(varargin);
settings = '';
if isfield(options, 'settings')
  settings = options.settings;
  options = rmfield(options, 'settings');
end
unknown = fieldnames(options);
if ~isempty(unknown)
  error('warpband:argument', 'there is no setting %s', unknown{1});
end
bits = log2(qam);
if ~isscalar(qam) || bits ~= round(bits) || bits < 1
  error('warpband:argument', 'qam is not allowed: expected 4, 16, 64 or 256');
end
uses = size(channel, 3);
noise_var = single(noise_var(:));
if isscalar(noise_var)
  noise_var = repmat(noise_var, uses, 1);
end
llr = warpband_mex('detect', device, kind, settings, bits, single(real(channel)), single(imag(channel)), single(real(received)), ...
                   single(imag(received)), noise_var);
end

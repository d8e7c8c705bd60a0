% Compares the N-way detector's LLRs with those that the Python package gave (plugins/detected/nway_4x4_16qam.csv).
%
%   addpath('plugins/matlab'); build; run('plugins/matlab/example/compare_detector.m')
here = fileparts(mfilename('fullpath'));
addpath(fileparts(here));
rows = single(dlmread(fullfile(here, '..', '..', 'detected', 'nway_4x4_16qam.csv'), ',', 1, 0));
uses = size(rows, 1);
numbers = @(first, count) complex(rows(:, first:2:first + 2 * count - 1), rows(:, first + 1:2:first + 2 * count - 1)).';
channel = permute(reshape(numbers(1, 16), 4, 4, uses), [2 1 3]);  % stored row after row of H
received = numbers(33, 4);
llr = warpband.detect('nway', channel, received, rows(:, 41), 16, 'settings', 'ways = 4');
expected = rows(:, 42:57).';
fprintf('%d of %d LLRs differ from Python''s\n', nnz(llr ~= expected), numel(llr));
if ~isequal(llr, expected)
  error('warpband:example', 'LLRs differ');
end

function [device, settings] = settings_of(pairs)
% SETTINGS_OF  Names and values, as the functions of warpband take them, to the device and a struct of the others.
if mod(numel(pairs), 2) ~= 0
  error('warpband:argument', 'settings are not allowed: expected pairs of name and value');
end
device = 'cpu';
settings = struct();
for i = 1:2:numel(pairs)
  if ~ischar(pairs{i})
    error('warpband:argument', 'the name of a setting is not allowed: expected text');
  elseif strcmp(pairs{i}, 'device')
    device = pairs{i + 1};
  else
    settings.(pairs{i}) = pairs{i + 1};
  end
end
end

function build(include, library)
% BUILD  Compiles the gateway warpband_mex in this folder, in MATLAB or Octave.
%
%   build                    where pkg-config knows warpband_c
%   build(include, library)  include: the folder that has warpband/c/warpband.h; library: the folder that has libwarpband_c.so
here = fileparts(mfilename('fullpath'));
if nargin == 0
  [status, include] = system('pkg-config --variable=includedir warpband_c');
  [failed, library] = system('pkg-config --variable=libdir warpband_c');
  if status ~= 0 || failed ~= 0
    error('warpband:build', 'pkg-config does not know warpband_c: expected build(include, library)');
  end
  include = strtrim(include);
  library = strtrim(library);
end
before = cd(here);
restored = onCleanup(@() cd(before));
search = ['-Wl,-rpath,' library];
if exist('OCTAVE_VERSION', 'builtin')
  mex(['-I' include], ['-L' library], search, 'warpband_mex.c', '-lwarpband_c');
else
  mex(['-I' include], ['-L' library], ['LDFLAGS=$LDFLAGS ' search], 'warpband_mex.c', '-lwarpband_c');
end
end

#!/bin/bash -eu
# Builds the fuzz targets into $OUT, as OSS-Fuzz calls it: with $CXX, $CXXFLAGS and $LIB_FUZZING_ENGINE, $SRC and $WORK. README.md says how to try it.
cd "$SRC/warpband"
targets=(hdf5 csi scenario stream result bench)

# The library is not instrumented and is compiled by g++, as for scripts/fuzz.sh; the readers are compiled again, with the targets. Both use GCC's C++
# library, because that is what the system's libfmt uses.
env -u CC -u CFLAGS -u CXXFLAGS CXX=g++ cmake -S . -B "$WORK/library" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE= \
    -DWARPBAND_ISAS=scalar -DWARPBAND_APP=OFF -DWARPBAND_BENCH=OFF -DWARPBAND_TESTS=OFF
cmake --build "$WORK/library" --parallel "$(nproc)" --target warpband
cmake -S tests/fuzz -B "$WORK/fuzz" -G Ninja "-DCMAKE_CXX_COMPILER=$CXX" "-DCMAKE_CXX_FLAGS=${CXXFLAGS//-stdlib=libc++/}" \
    "-DLIBRARY=$WORK/library/libwarpband.a" "-DENGINE=$LIB_FUZZING_ENGINE" '-DCMAKE_BUILD_RPATH=$ORIGIN/lib' \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags
cmake --build "$WORK/fuzz" --parallel "$(nproc)" --target "${targets[@]/#/fuzz_}"

rm -rf "$WORK/seeds"
python3 tests/fuzz/short_seeds.py "$WORK/seeds"
mkdir -p "$OUT/lib" "${targets[@]/#/$WORK/seeds/}"
cp "$WORK/library/warpband-hdf5" "$OUT/" # reads the files of hdf5 and csi
for target in "${targets[@]}"; do
    cp "$WORK/fuzz/fuzz_$target" "$OUT/"
    # Targets run in an image without the libraries of this one; the C library is there.
    ldd "$WORK/fuzz/fuzz_$target" | awk '$2 == "=>" && $3 ~ /^\// && $3 !~ /\/lib(c|m|dl|rt|pthread|resolv)\.so/ {print $3}' | xargs -r cp -L -t "$OUT/lib"
    case $target in
        hdf5 | csi) find tests/fuzz/seeds/hdf5 -name '*.h5' -exec cp -t "$WORK/seeds/$target" {} + ;;
    esac
    (cd "$WORK/seeds/$target" && python3 -m zipfile -c "$OUT/fuzz_${target}_seed_corpus.zip" ./*)
    cp tests/fuzz/words.dict "$OUT/fuzz_$target.dict"
    {
        printf '[asan]\nallocator_may_return_null=1\ndetect_container_overflow=0\n' # the library is not instrumented
        case $target in
            hdf5 | csi) printf 'detect_leaks=0\n\n[libfuzzer]\nmax_len=16384\n' ;;
        esac
    } > "$OUT/fuzz_$target.options"
done

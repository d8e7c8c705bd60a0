# Compares the N-way detector's LLRs with those that the Python package gave (plugins/detected/nway_4x4_16qam.csv).
#
#   WARPBAND_C_LIBRARY=build/release/libwarpband_c.so julia plugins/julia/example.jl
include("Warpband.jl")
using DelimitedFiles

rows = readdlm(joinpath(@__DIR__, "..", "detected", "nway_4x4_16qam.csv"), ',', Float32; comments = true)
uses = size(rows, 1)
numbers(first, count) = permutedims(complex.(rows[:, first:2:first+2count-1], rows[:, first+1:2:first+2count-1]))
channel = permutedims(reshape(numbers(1, 16), 4, 4, uses), (2, 1, 3))  # stored row after row of H
received, noise_var, expected = numbers(33, 4), rows[:, 41], permutedims(rows[:, 42:57])

Warpband.open_device("cpu") do device
    detector = Warpband.open_detector(device, "nway"; rx_antennas = 4, streams = 4, qam = 16, settings = "ways = 4")
    llr = Warpband.detect(detector, channel, received, noise_var)
    close(detector)
    println(count(llr .!= expected), " of ", length(llr), " LLRs differ from Python's")
    llr == expected || exit(1)
end

# Measures the rate of README's last comparison: 5G NR LDPC (base graph 1, Z = 384, 46 parity rows), int8, 10 iterations, on one core.
#
#   WARPBAND_C_LIBRARY=build/release/libwarpband_c.so julia plugins/julia/ldpc_rate.jl
#
# Unpacked bits are part of the time. The rate counts the 8448 information bits of a block.
include("Warpband.jl")

Warpband.open_device("cpu:1") do device
    bits = rand(UInt8[0, 1], 8448, 64)
    coded = Warpband.ldpc_encode(device, bits; sent_bits = 25344)
    llr = Int8.(clamp.(round.(8 .* (1 .- 2 .* Float64.(coded)) .+ 8 .* randn(size(coded)...)), -127, 127))
    decode() = Warpband.ldpc_decode(device, llr; iterations = 10, early_stop = false)
    wrong = count(first(decode()) .!= bits)
    best = minimum(@elapsed(decode()) for _ in 1:10)
    println(wrong, " of ", length(bits), " bits wrong; ", round(length(bits) / best / 1e6; digits = 1), " Mb/s, the best of 10 calls of 64 blocks")
end

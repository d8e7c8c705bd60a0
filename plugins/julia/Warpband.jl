"""
The C interface of Warpband (`warpband/c/warpband.h`) in Julia, 1.6 or newer: LDPC code blocks of 5G NR, turbo code blocks of LTE, soft MIMO
detection.

    include("Warpband.jl")
    Warpband.open_device("cpu") do device
        coded = Warpband.ldpc_encode(device, rand(UInt8[0, 1], 8448, 10); sent_bits = 16896)
        bits, status, iterations = Warpband.ldpc_decode(device, 4 .- 8 .* Float32.(coded))
    end

A column is an item. LLRs are ln P(0)/P(1): positive means 0. The library is `libwarpband_c.so.1` of the system, or the file that the
environment variable WARPBAND_C_LIBRARY names when this file is read. Threads: one thread at a time uses a detector; a device serves any number.
"""
module Warpband

export Device, Detector, close_device, detect, ldpc_decode, ldpc_encode, open_device, open_detector, turbo_decode

const library = get(ENV, "WARPBAND_C_LIBRARY", "libwarpband_c.so.1")
const ABI_MAJOR, ABI_MINOR = 1, 0

const EARLY_STOP, DROP_CRC, STREAMS = UInt32(1), UInt32(2), UInt32(8)
const CRC_BITS = (0, 24, 24, 16)  # of the numbers 0 none, 1 CRC24A, 2 CRC24B, 3 CRC16

# The structures of warpband.h, field by field.
struct LdpcDecode
    size::UInt32
    flags::UInt32
    tag::UInt64
    base_graph::UInt16
    lifting_size::UInt16
    fillers::UInt32
    buffer::UInt32
    first::UInt32
    sent_bits::UInt32
    modulation_order::UInt16
    iterations::UInt16
    crc::UInt32
    llr_format::UInt32
    llr_decimals::UInt32
    harq_format::UInt32
    llr::Ptr{Cvoid}
    harq_in::Ptr{Cvoid}
    harq_in_length::Csize_t
    harq_out::Ptr{Cvoid}
    harq_out_length::Csize_t
    bits::Ptr{UInt8}
    bits_bytes::Csize_t
end

struct LdpcEncode
    size::UInt32
    flags::UInt32
    tag::UInt64
    base_graph::UInt16
    lifting_size::UInt16
    fillers::UInt32
    buffer::UInt32
    first::UInt32
    sent_bits::UInt32
    modulation_order::UInt16
    reserved::UInt16
    crc::UInt32
    reserved1::UInt32
    bits::Ptr{UInt8}
    bits_bytes::Csize_t
    out::Ptr{UInt8}
    out_bytes::Csize_t
end

struct TurboDecode
    size::UInt32
    flags::UInt32
    tag::UInt64
    k::UInt32
    least_iterations::UInt16
    iterations::UInt16
    crc::UInt32
    llr_format::UInt32
    llr_decimals::UInt32
    reserved::UInt32
    llr::Ptr{Cvoid}
    llr_count::Csize_t
    bits::Ptr{UInt8}
    bits_bytes::Csize_t
    soft::Ptr{Int8}
    soft_length::Csize_t
end

struct Done
    tag::UInt64
    status::UInt32
    iterations::UInt32
    bytes::UInt32
    harq_length::UInt32
    reserved::UInt64
    reserved1::UInt64
end

"""A call of the library failed: the code's name, and the argument, its value and what is allowed."""
struct WarpbandError <: Exception
    name::String
    message::String
end
Base.showerror(io::IO, error::WarpbandError) = print(io, error.name, ": ", error.message)

function check(status)
    status == 0 && return
    name = unsafe_string(ccall((:wb_status_name, library), Cstring, (Cint,), status))
    throw(WarpbandError(name, unsafe_string(ccall((:wb_last_error, library), Cstring, ()))))
end

"""A GPU or this machine's cores. `close_device` ends it."""
mutable struct Device
    handle::Ptr{Cvoid}
end

"""
    open_device(name)
    open_device(f, name)

Opens "cpu" (all cores), "cpu:8" (so many threads) or "cuda:0"; with a function `f` it is closed behind it.
"""
function open_device(name::AbstractString)
    version = ccall((:wb_abi_version, library), UInt32, ())
    if version >> 16 != ABI_MAJOR || version & 0xffff < ABI_MINOR
        throw(WarpbandError("unsupported", "ABI $(version >> 16).$(version & 0xffff) is not allowed: expected $ABI_MAJOR.$ABI_MINOR or a later minor"))
    end
    handle = Ref{Ptr{Cvoid}}(C_NULL)
    check(ccall((:wb_device_open, library), Cint, (Cstring, Ref{Ptr{Cvoid}}), name, handle))
    Device(handle[])
end

function open_device(f::Function, name::AbstractString)
    device = open_device(name)
    try
        f(device)
    finally
        close_device(device)
    end
end

function close_device(device::Device)
    ccall((:wb_device_close, library), Cvoid, (Ptr{Cvoid},), device.handle)
    device.handle = C_NULL
    nothing
end

llr_format(::AbstractMatrix{Int8}) = UInt32(0)
llr_format(::AbstractMatrix{Int16}) = UInt32(1)
llr_format(::AbstractMatrix{Float32}) = UInt32(2)

contiguous(llr::AbstractMatrix{T}) where {T<:Union{Int8,Int16,Float32}} = Matrix{T}(llr)
contiguous(llr::AbstractMatrix{<:Real}) = Matrix{Float32}(llr)

# Packed bits, the first in the most significant place, to one a byte, and back.
unpacked(bytes::Matrix{UInt8}, count) = UInt8[bytes[(i - 1) >> 3 + 1, j] >> (7 - (i - 1) & 7) & 1 for i in 1:count, j in 1:size(bytes, 2)]

function packed(bits::AbstractMatrix{<:Integer})
    all(bit -> bit == 0 || bit == 1, bits) || throw(ArgumentError("bits are not allowed: expected 0 and 1"))
    bytes = zeros(UInt8, cld(size(bits, 1), 8), size(bits, 2))
    for j in axes(bits, 2), i in 1:size(bits, 1)
        bytes[(i - 1) >> 3 + 1, j] |= UInt8(bits[i, j]) << (7 - (i - 1) & 7)
    end
    bytes
end

function first_place(base_graph, lifting_size, buffer, rv)
    first = Ref{UInt32}(0)
    check(ccall((:wb_nr_first_place, library), Cint, (UInt32, UInt32, UInt32, UInt32, Ref{UInt32}), base_graph, lifting_size, buffer, rv, first))
    first[]
end

function checked_crc(crc)
    crc in 0:3 || throw(ArgumentError("crc = $crc is not allowed: expected 0 to 3"))
    crc
end

function block_bits(base_graph, lifting_size, fillers)
    bits = (base_graph == 1 ? 22 : 10) * lifting_size - fillers
    bits > 0 || throw(ArgumentError("fillers = $fillers is not allowed: nothing is left of the code block"))
    bits
end

"""
    bits, status, iterations = ldpc_decode(device, llr; base_graph = 1, lifting_size = 384, ...)

Decodes code blocks of 5G NR (3GPP TS 38.212 sections 5.3.2 and 5.4.2).

`llr`, `[E, n]` of Float32, Int8 or Int16: a column for each block; an integer is `value / 2^llr_decimals`. `bits`: `[K - F, n]` of 0 and 1,
less the CRC with `drop_crc`. `status` of each: 0, or a sum of 2 (parity checks fail), 4 (the CRC fails), 8 (the device failed).

Keywords: `base_graph` 1 or 2; `lifting_size` Z; `fillers` F; `buffer` N_cb, 0 for all; `rv` 0 to 3; `modulation_order` Q_m of the bit
interleaver, 1 for none; `iterations` at most; `early_stop`; `crc` that the bits end with: 0 none, 1 CRC24A, 2 CRC24B, 3 CRC16; `drop_crc`;
`llr_decimals` 0 to 7. Throws `WarpbandError` and `ArgumentError`.
"""
function ldpc_decode(device::Device, llr::AbstractMatrix{<:Real}; base_graph = 1, lifting_size = 384, fillers = 0, buffer = 0, rv = 0,
                     modulation_order = 1, iterations = 8, early_stop = true, crc = 0, drop_crc = false, llr_decimals = 0)
    values, (sent, n) = contiguous(llr), size(llr)
    count = block_bits(base_graph, lifting_size, fillers) - (drop_crc ? CRC_BITS[checked_crc(crc) + 1] : 0)
    first = first_place(base_graph, lifting_size, buffer, rv)
    out, done = zeros(UInt8, cld(count, 8), n), Vector{Done}(undef, n)
    flags = (early_stop ? EARLY_STOP : UInt32(0)) | (drop_crc ? DROP_CRC : UInt32(0))
    GC.@preserve values out begin
        ops = [LdpcDecode(sizeof(LdpcDecode), flags, i, base_graph, lifting_size, fillers, buffer, first, sent, modulation_order, iterations, crc,
                          llr_format(values), llr_decimals, 0, pointer(values, (i - 1) * sent + 1), C_NULL, 0, C_NULL, 0,
                          pointer(out, (i - 1) * size(out, 1) + 1), size(out, 1)) for i in 1:n]
        n == 0 || check(ccall((:wb_ldpc_decode_check, library), Cint, (Ptr{LdpcDecode},), ops))
        check(ccall((:wb_ldpc_decode_run, library), Cint, (Ptr{Cvoid}, Ptr{LdpcDecode}, Csize_t, Ptr{Done}), device.handle, ops, n, done))
    end
    unpacked(out, count), [d.status for d in done], [d.iterations for d in done]
end

"""
    coded = ldpc_encode(device, bits; sent_bits, base_graph = 1, lifting_size = 384, ...)

Encodes code blocks of 5G NR. `bits`: `[K - F - CRC, n]` of 0 and 1. `coded`: `[sent_bits, n]`. Keywords as of [`ldpc_decode`](@ref); `crc` is
attached.
"""
function ldpc_encode(device::Device, bits::AbstractMatrix{<:Integer}; sent_bits, base_graph = 1, lifting_size = 384, fillers = 0, buffer = 0,
                     rv = 0, modulation_order = 1, crc = 0)
    expected, n = block_bits(base_graph, lifting_size, fillers) - CRC_BITS[checked_crc(crc) + 1], size(bits, 2)
    size(bits, 1) == expected || throw(ArgumentError("bits = $(size(bits, 1)) rows is not allowed: expected $expected"))
    first = first_place(base_graph, lifting_size, buffer, rv)
    source, out, done = packed(bits), zeros(UInt8, cld(sent_bits, 8), n), Vector{Done}(undef, n)
    GC.@preserve source out begin
        ops = [LdpcEncode(sizeof(LdpcEncode), 0, i, base_graph, lifting_size, fillers, buffer, first, sent_bits, modulation_order, 0, crc, 0,
                          pointer(source, (i - 1) * size(source, 1) + 1), size(source, 1), pointer(out, (i - 1) * size(out, 1) + 1), size(out, 1)) for i in 1:n]
        n == 0 || check(ccall((:wb_ldpc_encode_check, library), Cint, (Ptr{LdpcEncode},), ops))
        check(ccall((:wb_ldpc_encode_run, library), Cint, (Ptr{Cvoid}, Ptr{LdpcEncode}, Csize_t, Ptr{Done}), device.handle, ops, n, done))
    end
    all(d -> d.status == 0, done) || throw(WarpbandError("failed", "the device failed"))
    unpacked(out, sent_bits)
end

"""
    bits, status, iterations = turbo_decode(device, llr; k, streams = false, ...)

Decodes code blocks of LTE's turbo code (3GPP TS 36.212). `llr`: a column for each block, the circular buffer of `3 * 32 * cld(k + 4, 32)` with
its NULLs, or with `streams` d0, d1, d2 one after the other, `3 (k + 4)`. `bits`: `[k, n]`, less the CRC with `drop_crc`.

Keywords: `k`, one of the 188 sizes; `least_iterations`, `iterations`; `early_stop`; `crc`, `drop_crc`, `llr_decimals` as of [`ldpc_decode`](@ref).
"""
function turbo_decode(device::Device, llr::AbstractMatrix{<:Real}; k, streams = false, least_iterations = 1, iterations = 8, early_stop = true,
                      crc = 0, drop_crc = false, llr_decimals = 0)
    values, (rows, n) = contiguous(llr), size(llr)
    count = k - (drop_crc ? CRC_BITS[checked_crc(crc) + 1] : 0)
    out, done = zeros(UInt8, cld(count, 8), n), Vector{Done}(undef, n)
    flags = (early_stop ? EARLY_STOP : UInt32(0)) | (drop_crc ? DROP_CRC : UInt32(0)) | (streams ? STREAMS : UInt32(0))
    GC.@preserve values out begin
        ops = [TurboDecode(sizeof(TurboDecode), flags, i, k, least_iterations, iterations, crc, llr_format(values), llr_decimals, 0,
                           pointer(values, (i - 1) * rows + 1), rows, pointer(out, (i - 1) * size(out, 1) + 1), size(out, 1), C_NULL, 0) for i in 1:n]
        n == 0 || check(ccall((:wb_turbo_decode_check, library), Cint, (Ptr{TurboDecode},), ops))
        check(ccall((:wb_turbo_decode_run, library), Cint, (Ptr{Cvoid}, Ptr{TurboDecode}, Csize_t, Ptr{Done}), device.handle, ops, n, done))
    end
    unpacked(out, count), [d.status for d in done], [d.iterations for d in done]
end

"""A soft MIMO detector of a device. `close` ends it, before its device."""
mutable struct Detector
    handle::Ptr{Cvoid}
    rx_antennas::Int
    streams::Int
    bits::Int
end

"""
    open_detector(device, kind; rx_antennas, streams, qam, settings = "")

`kind`: "mmse", "nway", "kbest", "ml", ..., a detector by its name in scenarios. `settings`: text as "ways = 4, llr_clip = 8".
"""
function open_detector(device::Device, kind::AbstractString; rx_antennas, streams, qam, settings = "")
    bits = qam < 2 ? 0 : round(Int, log2(qam))
    2^bits == qam || throw(ArgumentError("qam = $qam is not allowed: expected 4, 16, 64 or 256"))
    handle = Ref{Ptr{Cvoid}}(C_NULL)
    check(ccall((:wb_detector_open, library), Cint, (Ptr{Cvoid}, Cstring, Cstring, UInt32, UInt32, UInt32, Ref{Ptr{Cvoid}}), device.handle, kind,
                settings, rx_antennas, streams, bits, handle))
    Detector(handle[], rx_antennas, streams, bits)
end

function Base.close(detector::Detector)
    ccall((:wb_detector_close, library), Cvoid, (Ptr{Cvoid},), detector.handle)
    detector.handle = C_NULL
    nothing
end

"""
    llr = detect(detector, channel, received, noise_var)

Soft detection of y = H s + n. `channel`: `[rx_antennas, streams, n]`; `received`: `[rx_antennas, n]`; `noise_var`: N0, a number or n of them.
`llr`: `[streams * log2(qam), n]`, the first stream's bits in 3GPP order, then the next one's.
"""
function detect(detector::Detector, channel::AbstractArray{<:Number,3}, received::AbstractMatrix{<:Number}, noise_var)
    n = size(received, 2)
    size(channel) == (detector.rx_antennas, detector.streams, n) ||
        throw(ArgumentError("channel = $(size(channel)) is not allowed: expected ($(detector.rx_antennas), $(detector.streams), $n)"))
    size(received, 1) == detector.rx_antennas ||
        throw(ArgumentError("received = $(size(received)) is not allowed: expected ($(detector.rx_antennas), n)"))
    n0 = noise_var isa Number ? fill(Float32(noise_var), n) : Vector{Float32}(vec(noise_var))
    length(n0) == n || throw(ArgumentError("noise_var = $(length(n0)) numbers is not allowed: expected 1 or $n"))
    h = Array{ComplexF32}(permutedims(channel, (2, 1, 3)))  # C has the streams of an antenna side by side
    llr = zeros(Float32, detector.streams * detector.bits, n)
    check(ccall((:wb_detect, library), Cint, (Ptr{Cvoid}, Csize_t, Ptr{ComplexF32}, Ptr{ComplexF32}, Ptr{Float32}, Ptr{Float32}), detector.handle, n,
                h, Matrix{ComplexF32}(received), n0, llr))
    llr
end

end

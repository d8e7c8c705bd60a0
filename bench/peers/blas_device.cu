#include <bench/peers/blas_device.hpp>

namespace wb::bench {
namespace {

constexpr int block = 256;
unsigned blocks(std::size_t threads) { return static_cast<unsigned>((threads + block - 1) / block); }
__device__ std::size_t thread() { return static_cast<std::size_t>(blockIdx.x) * block + threadIdx.x; }

__global__ void regularise_kernel(float2* a, const float* n0, int users, std::size_t entries) {
  const std::size_t i = thread();
  if (i >= entries) return;
  const std::size_t u = i % users;
  a[i / users * users * users + u * users + u].x += *n0;
}
__global__ void identity_kernel(float2* a, int users, std::size_t entries) {
  const std::size_t i = thread();
  if (i >= entries) return;
  const std::size_t entry = i % (users * users);
  a[i] = {entry / users == entry % users ? 1.f : 0.f, 0.f};
}
__global__ void pointers_kernel(float2** pointers, float2* first, std::size_t entries, std::size_t count) {
  const std::size_t i = thread();
  if (i < count) pointers[i] = first + i * entries;
}

/// Sums over `users` neighbouring threads, a power of 2 up to 32.
__device__ float sum_over(float x, int users) {
  for (int away = users / 2; away > 0; away /= 2) x += __shfl_xor_sync(0xffffffffu, x, away);
  return x;
}
__device__ float norm_of(float2 x) { return x.x * x.x + x.y * x.y; }

// All threads of a warp take part in the sums, those behind the end with zeros.
__global__ void start_kernel(const float2* b, float2* x, float2* r, float2* t, float2* energies, int users,
                             std::size_t values) {
  const std::size_t i = thread();
  const float2 value = i < values ? b[i] : float2{0, 0};
  const float energy = sum_over(norm_of(value), users);
  if (i >= values) return;
  x[i] = {0, 0};
  r[i] = t[i] = value;
  if (i % users == 0) energies[i / users] = {energy, energy};  // of r now and at first
}
__global__ void step_kernel(const float2* s, float2* x, float2* r, float2* t, float2* energies, int users,
                            std::size_t values) {
  const std::size_t i = thread(), j = i < values ? i : values - 1;
  const float2 product = s[j], direction = t[j], energy = energies[j / users];
  float2 rest = r[j];
  const float curvature = sum_over(direction.x * product.x + direction.y * product.y, users);
  const bool done = !(curvature > 0) || energy.x <= 1e-14f * energy.y;
  const float step = done ? 0.f : energy.x / curvature;
  rest.x -= step * product.x, rest.y -= step * product.y;
  const float left = sum_over(norm_of(rest), users), turn = done ? 0.f : left / energy.x;
  if (i >= values || done) return;
  float2 estimate = x[i];
  estimate.x += step * direction.x, estimate.y += step * direction.y;
  x[i] = estimate;
  r[i] = rest;
  t[i] = {rest.x + turn * direction.x, rest.y + turn * direction.y};
  if (i % users == 0) energies[i / users].x = left;
}

/// Both bits of one dimension: least squared distances to the points where a bit is 1 and where it is 0.
__device__ float2 llrs_of(float v, float sinr) {
  const float unit = 0.31622777f;
  const float far_low = (v + 3 * unit) * (v + 3 * unit), low = (v + unit) * (v + unit),
              high = (v - unit) * (v - unit), far_high = (v - 3 * unit) * (v - 3 * unit);
  return {sinr * (fminf(far_low, low) - fminf(high, far_high)),
          sinr * (fminf(far_low, far_high) - fminf(low, high))};
}
__global__ void soften_kernel(const float2* x, const float2* a, const float* n0, float4* llr, bool exact,
                              bool factor, int users, int vectors_of_matrix, std::size_t values) {
  const std::size_t i = thread();
  if (i >= values) return;
  const std::size_t u = i % users, vector = i / users;
  const float2* column = a + (vector / vectors_of_matrix * users + u) * users;
  float sinr, gain;
  if (exact) {
    float inverse = 0;
    if (factor)
      for (int k = static_cast<int>(u); k < users; k++) inverse += norm_of(column[k]);
    else
      inverse = column[u].x;
    const float error = *n0 * inverse;
    gain = 1 / (1 - error);
    sinr = (1 - error) / error;
  } else {
    const float power = column[u].x - *n0;
    gain = (power + *n0) / power;
    sinr = power / *n0;
  }
  const float2 re = llrs_of(gain * x[i].x, sinr), im = llrs_of(gain * x[i].y, sinr);
  llr[i] = {re.x, im.x, re.y, im.y};
}

__global__ void normalise_kernel(float2* m, int antennas, std::size_t vectors) {
  const std::size_t vector = thread() / 32, lane = threadIdx.x % 32;
  if (vector >= vectors) return;
  float2* column = m + vector * antennas;
  float energy = 0;
  for (int b = lane; b < antennas; b += 32) energy += norm_of(column[b]);
  const float gain = rsqrtf(sum_over(energy, 32));
  for (int b = lane; b < antennas; b += 32) column[b] = {gain * column[b].x, gain * column[b].y};
}

}  // namespace

void regularise(cudaStream_t stream, float2* a, const float* n0, int users, std::size_t count) {
  const std::size_t entries = count * users;
  regularise_kernel<<<blocks(entries), block, 0, stream>>>(a, n0, users, entries);
}
void make_identities(cudaStream_t stream, float2* a, int users, std::size_t count) {
  const std::size_t entries = count * users * users;
  identity_kernel<<<blocks(entries), block, 0, stream>>>(a, users, entries);
}
void make_pointers(cudaStream_t stream, float2** pointers, float2* first, std::size_t entries,
                   std::size_t count) {
  pointers_kernel<<<blocks(count), block, 0, stream>>>(pointers, first, entries, count);
}
void start_cg(cudaStream_t stream, const float2* b, float2* x, float2* r, float2* t, float2* energies,
              int users, std::size_t vectors) {
  const std::size_t values = vectors * users;
  start_kernel<<<blocks(values), block, 0, stream>>>(b, x, r, t, energies, users, values);
}
void step_cg(cudaStream_t stream, const float2* s, float2* x, float2* r, float2* t, float2* energies,
             int users, std::size_t vectors) {
  const std::size_t values = vectors * users;
  step_kernel<<<blocks(values), block, 0, stream>>>(s, x, r, t, energies, users, values);
}
void soften(cudaStream_t stream, const float2* x, const float2* a, const float* n0, float4* llr, bool exact,
            bool factor, int users, int vectors_of_matrix, std::size_t vectors) {
  const std::size_t values = vectors * users;
  soften_kernel<<<blocks(values), block, 0, stream>>>(x, a, n0, llr, exact, factor, users, vectors_of_matrix,
                                                      values);
}
void normalise(cudaStream_t stream, float2* m, int antennas, std::size_t vectors) {
  normalise_kernel<<<blocks(vectors * 32), block, 0, stream>>>(m, antennas, vectors);
}

}  // namespace wb::bench

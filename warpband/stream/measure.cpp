#include <warpband/stream/measure.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>

#include <warpband/core/check.hpp>
#include <warpband/exec/executor.hpp>

namespace wb {
namespace {

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}
double p999(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[(v.size() * 999 + 999) / 1000 - 1];  // nearest rank
}
double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Copies of groups of frames to a device and back from it.
struct copier {
  static constexpr std::size_t groups = 4;  // in host memory, used in turn
  copier(const std::string& name, std::size_t in_bytes, std::size_t out_bytes)
      : up(open_executor(name)),
        down(open_executor(name)),
        host_in(up->make_host<std::byte>(groups, in_bytes)),
        host_out(up->make_host<std::byte>(groups, out_bytes)),
        own_in(up->make<std::byte>(1, in_bytes)),
        own_out(up->make<std::byte>(1, out_bytes)) {
    std::memset(host_in.data(), 0, host_in.bytes());
    std::memset(host_out.data(), 0, host_out.bytes());
  }
  void copy(std::size_t group) {
    up->upload(own_in.data(), host_in.data() + group % groups * own_in.bytes(), own_in.bytes());
    down->download(host_out.data() + group % groups * own_out.bytes(), own_out.data(), own_out.bytes());
  }
  void sync() {
    up->sync();
    down->sync();
  }
  std::unique_ptr<executor> up, down;
  array<std::byte> host_in, host_out, own_in, own_out;
};

}  // namespace

double measure_copies(const frame_receiver& chain, const std::vector<std::string>& devices, std::size_t items,
                      int repetitions, int batch) {
  if (devices.empty()) throw argument_error("devices", "none", "CUDA devices, at least one");
  for (const std::string& d : devices)
    if (!d.starts_with("cuda")) throw argument_error("devices", d, "CUDA devices");
  check_items(chain, "items", items);
  check_range("repetitions", repetitions, 1, 1'000'000);
  check_range("batch", batch, 1, 64);
  constexpr std::size_t groups = 48;
  const std::size_t frames = static_cast<std::size_t>(batch);
  std::vector<std::unique_ptr<copier>> copiers;
  for (const std::string& d : devices)
    copiers.push_back(
        std::make_unique<copier>(d, frames * offset_of(chain.inputs(), chain.inputs().size(), items),
                                 frames * offset_of(chain.outputs(), chain.outputs().size(), items)));
  std::vector<double> times;
  for (int r = 0; r < std::min(repetitions, 30) + 1; r++) {
    const double start = now_us();
    for (std::size_t g = 0; g < groups; g++)
      for (auto& c : copiers) c->copy(g);
    for (auto& c : copiers) c->sync();
    if (r > 0) times.push_back((now_us() - start) / static_cast<double>(groups * frames * copiers.size()));
  }
  return median(times);
}

stage_times measure_stages(const frame_receiver& chain, const std::string& device, int threads,
                           std::size_t items, const std::vector<const void*>& inputs, int repetitions,
                           int batch, const std::function<bool()>& enough) {
  check_items(chain, "items", items);
  check_range("repetitions", repetitions, 1, 1'000'000);
  check_range("batch", batch, 1, 64);
  const std::vector<frame_port>&in = chain.inputs(), &out = chain.outputs();
  check_range("inputs", static_cast<long long>(inputs.size()), static_cast<long long>(in.size()),
              static_cast<long long>(in.size()));
  const auto exec = open_executor(device, threads);
  const auto timer = exec->make_timer();
  const auto run = chain.attach(*exec, items);
  stage_times t;
  t.upload_bytes = offset_of(in, in.size(), items);
  t.download_bytes = offset_of(out, out.size(), items);
  auto host_in = exec->make_host<std::byte>(1, t.upload_bytes),
       host_out = exec->make_host<std::byte>(1, t.download_bytes),
       own_in = exec->make<std::byte>(1, t.upload_bytes),
       own_out = exec->make<std::byte>(1, t.download_bytes);
  frame_arrays f;
  f.items = f.frame_items = items;
  for (std::size_t i = 0; i < in.size(); i++) {
    std::memcpy(host_in.data() + offset_of(in, i, items), inputs[i], in[i].bytes_of(items));
    f.inputs[i] = own_in.data() + offset_of(in, i, items);
  }
  for (std::size_t i = 0; i < out.size(); i++) f.outputs[i] = own_out.data() + offset_of(out, i, items);
  const auto upload = [&] { exec->upload(own_in.data(), host_in.data(), t.upload_bytes); };
  const auto download = [&] { exec->download(host_out.data(), own_out.data(), t.download_bytes); };
  const auto stages = [&] {
    for (std::size_t s = 0; s < chain.stages().size(); s++) run(s, f);
  };
  upload(), stages(), download();
  exec->sync();

  /// The median time of one call, and all of them.
  std::vector<double> samples;
  const auto goes_on = [&] {
    return samples.empty() ||
           (samples.size() < static_cast<std::size_t>(repetitions) && !(enough && enough()));
  };
  const auto time_of = [&](const auto& call) {
    samples.clear();
    while (goes_on()) {
      timer->hold();  // launches wait, so that the device does not wait for the host
      timer->start();
      call();
      timer->stop();
      timer->release();
      samples.push_back(timer->seconds() * 1e6);
    }
    return median(samples);
  };
  if (exec->is_device()) {
    t.upload_us = time_of(upload);
    t.upload_p999_us = p999(samples), t.upload_max_us = *std::max_element(samples.begin(), samples.end());
    t.download_us = time_of(download);
  }
  for (std::size_t s = 0; s < chain.stages().size(); s++) t.stage_us.push_back(time_of([&] { run(s, f); }));
  t.kernel_us = time_of(stages);
  samples.clear();
  while (goes_on()) {
    const double start = now_us();
    if (exec->is_device()) upload();
    stages();
    if (exec->is_device()) download();
    exec->sync();
    samples.push_back(now_us() - start);
  }
  t.synchronous_us = median(samples);
  if (exec->is_device())
    t.copies_us = measure_copies(chain, {device}, items, enough && enough() ? 1 : repetitions, batch);
  t.synchronous_p999_us = p999(samples),
  t.synchronous_max_us = *std::max_element(samples.begin(), samples.end());
  return t;
}

}  // namespace wb

#include <warpband/c/device.hpp>

#include <charconv>
#include <string_view>

#include <warpband/c/errors.hpp>
#include <warpband/core/printable.hpp>

namespace wb::c {

void lease::give_back() noexcept {
  if (lane_) device_->give(std::move(lane_));
}

}  // namespace wb::c

wb_device::wb_device(const char* name) : name_(name) {
  constexpr std::string_view threads = "cpu:";
  if (name_.starts_with(threads)) {
    const char *first = name_.data() + threads.size(), *last = name_.data() + name_.size();
    const auto [end, fault] = std::from_chars(first, last, threads_);
    if (fault != std::errc{} || end != last || threads_ < 1)
      throw wb::argument_error("device", "\"" + wb::printable(name_) + "\"",
                               "\"cpu:N\" with N = 1..4096 threads");
    name_ = "cpu";
  } else if (name_ != "cpu" && !name_.starts_with("cuda")) {
    throw wb::argument_error("device", "\"" + wb::printable(name_) + "\"",
                             "\"cpu\", \"cpu:N\" or \"cuda:N\"");
  }
  auto lane = open();
  description_ = lane->exec->description();
  is_device_ = lane->exec->is_device();
  free_.push_back(std::move(lane));
  lanes_ = 1;
}

std::unique_ptr<wb::c::lane> wb_device::open() const {
  return std::make_unique<wb::c::lane>(wb::open_executor(name_, threads_));
}

wb::c::lease wb_device::take() {
  {
    std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto lane = std::move(free_.back());
      free_.pop_back();
      return {*this, std::move(lane)};
    }
    free_.reserve(++lanes_);
  }
  return {*this, open()};
}

void wb_device::give(std::unique_ptr<wb::c::lane> lane) noexcept {
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(lane));
}

extern "C" {

wb_status wb_device_open(const char* name, wb_device** device) {
  return wb::c::guarded([&] {
    wb::c::check_given("device", device);
    *device = nullptr;
    wb::c::check_given("name", name);
    *device = new wb_device(name);
  });
}

void wb_device_close(wb_device* device) { delete device; }

const char* wb_device_description(const wb_device* device) {
  return device == nullptr ? "" : device->description();
}

}  // extern "C"

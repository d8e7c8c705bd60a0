// baseband_warpband: a BBDEV device over the C library, on the virtual bus.
// --vdev=baseband_warpband,device=cuda:0,harq_mb=512,batch=64
#include <rte_bbdev.h>
#include <rte_bbdev_pmd.h>
#include <rte_byteorder.h>
#include <rte_eal.h>
#include <rte_kvargs.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <warpband/c/warpband.h>

#include "harq_memory.hpp"
#include "operations.hpp"
#include "queue.hpp"
#include "vdev.hpp"

namespace wb_bbdev {
namespace {

constexpr char driver_name[] = "baseband_warpband";
constexpr unsigned most_queues = 128;
constexpr std::uint32_t most_operations = 1024;  // in a queue
constexpr std::uint8_t priorities = 16;          // accepted, all alike

int log_type = RTE_LOGTYPE_USER1;

template <class... Values>
void log_error(const char* format, Values... values) {
  rte_log(RTE_LOG_ERR, static_cast<std::uint32_t>(log_type), format, values...);
}

struct settings {
  std::string device = "cpu:1";  // computes in the thread that dequeues
  std::uint32_t harq_mb = 0;     // 0: HARQ buffers are mbufs
  std::uint32_t batch = 64;
};

/// Of a whole number of an argument.
bool read_number(const char* key, std::string_view text, std::uint32_t lowest, std::uint32_t highest,
                 std::uint32_t& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault == std::errc{} && end == text.data() + text.size() && number >= lowest && number <= highest)
    return true;
  log_error("%s: %s = \"%.64s\": %u..%u are allowed\n", driver_name, key, text.data(), lowest, highest);
  return false;
}

std::optional<settings> read_settings(const char* text) {
  constexpr std::array<const char*, 5> keys = {"device", "harq", "harq_mb", "batch", nullptr};
  const std::unique_ptr<rte_kvargs, void (*)(rte_kvargs*)> given(rte_kvargs_parse(text, keys.data()),
                                                                 rte_kvargs_free);
  if (given == nullptr) {
    log_error("%s: arguments \"%.256s\": device, harq, harq_mb and batch are allowed\n", driver_name, text);
    return std::nullopt;
  }
  for (const char* key : keys)
    if (key != nullptr && rte_kvargs_count(given.get(), key) > 1) {
      log_error("%s: %s is given twice\n", driver_name, key);
      return std::nullopt;
    }
  settings read;
  const auto value = [&](const char* key) {
    const char* found = rte_kvargs_get(given.get(), key);
    return found == nullptr ? "" : found;
  };
  if (const char* device = value("device"); *device != 0) read.device = device;
  constexpr std::uint32_t most_harq_mb = 4095;  // BBDEV's offsets have 32 bits
  if (const char* batch = value("batch");
      *batch != 0 && !read_number("batch", batch, 1, most_operations, read.batch))
    return std::nullopt;
  if (const char* size = value("harq_mb");
      *size != 0 && !read_number("harq_mb", size, 1, most_harq_mb, read.harq_mb))
    return std::nullopt;
  const std::string_view harq = value("harq");
  if (harq == "device" && read.harq_mb == 0) read.harq_mb = 512;
  if ((harq != "" && harq != "host" && harq != "device") || (harq == "host" && read.harq_mb != 0)) {
    log_error("%s: harq = \"%.64s\": host, without harq_mb, or device are allowed\n", driver_name,
              harq.data());
    return std::nullopt;
  }
  return read;
}

using capabilities = std::array<rte_bbdev_op_cap, 5>;
/// In the order of ACC100: OpenAirInterface takes the fourth for the LDPC decoder.
capabilities make_capabilities(bool memory) {
  capabilities list{};
  list[0].type = RTE_BBDEV_OP_TURBO_DEC;
  list[0].cap.turbo_dec = {.capability_flags = turbo_dec_flags,
                           .max_llr_modulus = 127,
                           .num_buffers_src = RTE_BBDEV_TURBO_MAX_CODE_BLOCKS,
                           .num_buffers_hard_out = RTE_BBDEV_TURBO_MAX_CODE_BLOCKS,
                           .num_buffers_soft_out = RTE_BBDEV_TURBO_MAX_CODE_BLOCKS};
  list[1].type = RTE_BBDEV_OP_TURBO_ENC;
  list[1].cap.turbo_enc = {.capability_flags = turbo_enc_flags,
                           .num_buffers_src = RTE_BBDEV_TURBO_MAX_CODE_BLOCKS,
                           .num_buffers_dst = RTE_BBDEV_TURBO_MAX_CODE_BLOCKS};
  list[2].type = RTE_BBDEV_OP_LDPC_ENC;
  list[2].cap.ldpc_enc = {.capability_flags = ldpc_enc_flags,
                          .num_buffers_src = RTE_BBDEV_LDPC_MAX_CODE_BLOCKS,
                          .num_buffers_dst = RTE_BBDEV_LDPC_MAX_CODE_BLOCKS};
  list[3].type = RTE_BBDEV_OP_LDPC_DEC;
  list[3].cap.ldpc_dec = {.capability_flags = ldpc_dec_flags(memory),
                          .llr_size = 8,
                          .llr_decimals = llr_decimals,
                          .num_buffers_src = RTE_BBDEV_LDPC_MAX_CODE_BLOCKS,
                          .num_buffers_hard_out = RTE_BBDEV_LDPC_MAX_CODE_BLOCKS,
                          .num_buffers_soft_out = 0};
  list[4].type = RTE_BBDEV_OP_NONE;
  return list;
}

/// What one --vdev owns.
struct device {
  settings given;
  wb_device* base = nullptr;
  std::unique_ptr<harq_memory> memory;
  capabilities list{};
  ~device() { wb_device_close(base); }
};
device& device_of(rte_bbdev* dev) { return *static_cast<device*>(dev->data->dev_private); }

void info_get(rte_bbdev* dev, rte_bbdev_driver_info* info) {
  device& opened = device_of(dev);
  info->driver_name = driver_name;
  info->max_num_queues = most_queues;
  info->queue_size_lim = most_operations;
  info->hardware_accelerated = opened.given.device.starts_with("cuda");
  info->max_dl_queue_priority = info->max_ul_queue_priority = priorities - 1;
  info->queue_intr_supported = false;
  info->device_status = RTE_BBDEV_DEV_NOT_SUPPORTED;
  info->harq_buffer_size =
      opened.memory == nullptr ? 0 : static_cast<std::uint32_t>(opened.memory->bytes() >> 10);
  info->min_alignment = 1;
  info->data_endianness = RTE_LITTLE_ENDIAN;
  info->default_queue_conf = {};
  info->default_queue_conf.socket = dev->data->socket_id;
  info->default_queue_conf.queue_size = most_operations;
  info->capabilities = opened.list.data();
  info->cpu_flag_reqs = nullptr;
  for (const rte_bbdev_op_type type :
       {RTE_BBDEV_OP_TURBO_DEC, RTE_BBDEV_OP_TURBO_ENC, RTE_BBDEV_OP_LDPC_DEC, RTE_BBDEV_OP_LDPC_ENC}) {
    info->num_queues[type] = most_queues;  // any share of the 128
    info->queue_priority[type] = priorities;
  }
}

template <class Kind>
std::unique_ptr<queue_base> open_queue(device& opened, std::uint32_t size) {
  return queue<Kind>::open(opened.base, opened.memory.get(), size, opened.given.batch);
}

int queue_setup(rte_bbdev* dev, std::uint16_t id, const rte_bbdev_queue_conf* conf) {
  device& opened = device_of(dev);
  const std::uint32_t size = conf->queue_size;
  if (size == 0 || (size & (size - 1)) != 0 || size > most_operations) return -EINVAL;
  try {
    std::unique_ptr<queue_base> made;
    switch (conf->op_type) {
      case RTE_BBDEV_OP_LDPC_DEC:
        made = open_queue<ldpc_dec>(opened, size);
        break;
      case RTE_BBDEV_OP_LDPC_ENC:
        made = open_queue<ldpc_enc>(opened, size);
        break;
      case RTE_BBDEV_OP_TURBO_DEC:
        made = open_queue<turbo_dec>(opened, size);
        break;
      case RTE_BBDEV_OP_NONE:  // a default configuration has no type and is replaced before use
        dev->data->queues[id].queue_private = nullptr;
        return 0;
      case RTE_BBDEV_OP_TURBO_ENC:
        made = open_queue<turbo_enc>(opened, size);
        break;
      default:
        log_error("%s: queue %u: operation %d is not supported\n", driver_name, id,
                  static_cast<int>(conf->op_type));
        return -EINVAL;
    }
    if (made == nullptr) {
      log_error("%s: queue %u: %s\n", driver_name, id, wb_last_error());
      return -EIO;
    }
    dev->data->queues[id].queue_private = made.release();
    return 0;
  } catch (const std::bad_alloc&) {
    log_error("%s: queue %u: out of memory\n", driver_name, id);
    return -ENOMEM;
  }
}

int queue_release(rte_bbdev* dev, std::uint16_t id) {
  delete static_cast<queue_base*>(dev->data->queues[id].queue_private);
  dev->data->queues[id].queue_private = nullptr;
  return 0;
}

constexpr rte_bbdev_ops functions = [] {
  rte_bbdev_ops made{};
  made.info_get = info_get;
  made.queue_setup = queue_setup;
  made.queue_release = queue_release;
  return made;
}();

/// Null for a queue of another operation.
template <class Kind>
queue<Kind>* queue_of(rte_bbdev_queue_data* data) {
  auto* found = static_cast<queue_base*>(data->queue_private);
  return found != nullptr && found->type() == Kind::type ? static_cast<queue<Kind>*>(found) : nullptr;
}
template <class Kind>
std::uint16_t enqueue(rte_bbdev_queue_data* data, typename Kind::op** ops, std::uint16_t n) {
  queue<Kind>* found = queue_of<Kind>(data);
  if (found != nullptr) return found->enqueue(ops, n, *data);
  data->enqueue_status = RTE_BBDEV_ENQ_STATUS_INVALID_OP;
  data->queue_stats.enqueue_err_count += n;
  ++data->queue_stats.enqueue_status_count[RTE_BBDEV_ENQ_STATUS_INVALID_OP];
  return 0;
}
template <class Kind>
std::uint16_t dequeue(rte_bbdev_queue_data* data, typename Kind::op** ops, std::uint16_t n) {
  queue<Kind>* found = queue_of<Kind>(data);
  return found == nullptr ? 0 : found->dequeue(ops, n, *data);
}

int probe(bus::device* given) {
  if (rte_eal_process_type() != RTE_PROC_PRIMARY) {
    log_error("%s: only the primary process can use it\n", driver_name);
    return -ENOTSUP;
  }
  const char* name = bus::device_name(given);
  try {
    std::optional<settings> read = read_settings(bus::device_arguments(given));
    if (!read) return -EINVAL;
    auto opened = std::make_unique<device>();
    opened->given = *std::move(read);
    if (wb_device_open(opened->given.device.c_str(), &opened->base) != WB_OK) {
      log_error("%s: %s\n", name, wb_last_error());
      return -ENODEV;
    }
    if (opened->given.harq_mb != 0) opened->memory = std::make_unique<harq_memory>(opened->given.harq_mb);
    opened->list = make_capabilities(opened->memory != nullptr);

    rte_bbdev* dev = rte_bbdev_allocate(name);
    if (dev == nullptr) return -ENODEV;
    dev->dev_ops = &functions;
    dev->device = bus::generic(given);
    dev->intr_handle = nullptr;
    dev->data->socket_id = static_cast<int>(rte_socket_id());
    dev->enqueue_dec_ops = enqueue<turbo_dec>;
    dev->dequeue_dec_ops = dequeue<turbo_dec>;
    dev->enqueue_enc_ops = enqueue<turbo_enc>;
    dev->dequeue_enc_ops = dequeue<turbo_enc>;
    dev->enqueue_ldpc_dec_ops = enqueue<ldpc_dec>;
    dev->dequeue_ldpc_dec_ops = dequeue<ldpc_dec>;
    dev->enqueue_ldpc_enc_ops = enqueue<ldpc_enc>;
    dev->dequeue_ldpc_enc_ops = dequeue<ldpc_enc>;
    rte_log(RTE_LOG_INFO, static_cast<std::uint32_t>(log_type), "%s: %s, Warpband %s\n", name,
            wb_device_description(opened->base), wb_version());
    dev->data->dev_private = opened.release();
    return 0;
  } catch (const std::bad_alloc&) {
    log_error("%s: out of memory\n", name);
    return -ENOMEM;
  }
}

int remove(bus::device* given) {
  rte_bbdev* dev = rte_bbdev_get_named_dev(bus::device_name(given));
  if (dev == nullptr) return -ENODEV;
  if (dev->data->num_queues != 0) rte_bbdev_close(dev->data->dev_id);
  delete &device_of(dev);
  dev->data->dev_private = nullptr;
  return rte_bbdev_release(dev);
}

bus::driver registered{};

[[gnu::constructor]] void register_driver() {
  log_type = rte_log_register_type_and_pick_level("pmd.bb.warpband", RTE_LOG_NOTICE);
  bus::name(registered, driver_name);
  registered.probe = probe;
  registered.remove = remove;
  rte_vdev_register(&registered);
}
[[gnu::destructor]] void unregister_driver() { rte_vdev_unregister(&registered); }

}  // namespace
}  // namespace wb_bbdev

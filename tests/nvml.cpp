// A stand-in for NVIDIA's management library with one GPU, 0000:65:00.0. Each look at its counter finds
// 1.5 J more.
#include <string.h>

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  static int gpu;
  *device = &gpu;
  return strcmp(id, "0000:65:00.0") == 0 ? 0 : 6;  // NVML_ERROR_NOT_FOUND
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  static unsigned long long counted = 123456789;
  *millijoules = counted += 1500;
  return 0;
}
}

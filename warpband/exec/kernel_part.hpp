#pragma once
// For a source whose kernels are a unit each (wb_kernel_parts in cmake/kernels.cmake). WB_PART: the name of
// this unit's kernel.
#include <warpband/exec/launch.hpp>

/// Exports the kernel WB_PART, of the builds that with_<WB_PART>(args, f) chooses from: WB_EXPORT_KERNEL_OF.
#define WB_EXPORT_PART(args_type, items) WB_EXPORT_PART_(WB_PART, args_type, items)
#define WB_EXPORT_PART_(part, args_type, items) WB_EXPORT_PART_NAMED(part, args_type, items)
#define WB_EXPORT_PART_NAMED(name, args_type, items) WB_EXPORT_KERNEL_OF(name, args_type, with_##name, items)

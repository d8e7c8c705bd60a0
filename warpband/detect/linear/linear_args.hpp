#pragma once

namespace wb {
enum class linear_algorithm { mf, zf, mmse };
}

#pragma once

namespace wb {
enum class trellis_algorithm { one_pass, multi_pass };
}

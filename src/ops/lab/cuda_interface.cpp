#include "base/error.hpp"
#include "ops/lab/c_interface.hpp"

namespace warpladder::ops {

warpladder_handle library_handle() {
  static const warpladder_handle handle = [] {
    warpladder_handle made = nullptr;
    require_success(warpladder_create(&made));
    return made;
  }();
  return handle;
}

void require_success(warpladder_status status) {
  if (status == WARPLADDER_SUCCESS) return;
  if (status == WARPLADDER_INVALID_ARGUMENT) throw_bad_input(warpladder_last_error());
  throw_resource(warpladder_last_error());
}

}  // namespace warpladder::ops

// Makes libibverbs know the providers that are linked with it: the static library has no list of
// its own, and would look for shared ones on the machine.
#include <infiniband/verbs.h>

extern "C" {
extern const struct verbs_device_ops verbs_provider_mlx4;
extern const struct verbs_device_ops verbs_provider_mlx5;
void ibv_static_providers(void* unused, ...);
}

namespace {

__attribute__((constructor)) void register_providers() {
  ibv_static_providers(nullptr, &verbs_provider_mlx4, &verbs_provider_mlx5, nullptr);
}

}  // namespace

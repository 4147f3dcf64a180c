# NATXY_STATIC: programs for other machines, which need only the C library there. DPDK, its drivers
# and what these need are linked with them. A driver that this DPDK does not have is left out;
# net_pcap always is, because libpcap needs D-Bus.
set(virtual bus_vdev mempool_ring mempool_stack
  net_af_packet net_af_xdp net_memif net_null net_ring net_tap net_vhost)
set(nics atlantic avp axgbe bnx2x bnxt cpfl cxgbe e1000 ena enic failsafe fm10k gve hinic hns3 i40e iavf
  ice idpf igc ionic ixgbe mlx4 mlx5 netvsc nfp ngbe ntnic qede r8169 sfc txgbe vdev_netvsc virtio
  vmxnet3 zxdh)
list(TRANSFORM nics PREPEND net_)
list(APPEND nics bus_auxiliary bus_pci bus_vmbus)

pkg_get_variable(folder libdpdk libdir)
foreach(group IN ITEMS virtual nics)
  list(TRANSFORM ${group} REPLACE "(.+)" "${folder}/librte_\\1.a")
endforeach()
file(GLOB others ${folder}/librte_*.a)
foreach(nic IN LISTS nics)
  if(NOT EXISTS ${nic})
    list(REMOVE_ITEM nics ${nic})
  endif()
endforeach()
list(FILTER others EXCLUDE REGEX "librte_(net|crypto|compress|regex|vdpa|event|baseband|raw|dma|gpu|ml)_")
list(REMOVE_ITEM others ${virtual} ${nics})
# AF_XDP, the verbs of mlx4 and mlx5, NUMA. The static libxdp contains its BPF objects, which the
# shared one reads from files.
foreach(name IN ITEMS xdp bpf elf z mlx5 mlx4 ibverbs nl-route-3 nl-3 numa bsd md)
  list(APPEND others ${folder}/lib${name}.a)
endforeach()

# Drivers are linked as a whole, since nothing refers to them: a constructor registers each. Those of
# NICs are for the engine alone (NATXY_NICS); the calibration gateway has virtual ports.
add_library(natxy_verbs OBJECT packaging/verbs.cpp)
set(of_nics $<TARGET_OBJECTS:natxy_verbs> "$<LINK_LIBRARY:WHOLE_ARCHIVE,${nics}>")
target_link_libraries(natxy_dpdk INTERFACE
  "$<LINK_LIBRARY:WHOLE_ARCHIVE,${virtual}>" "$<$<BOOL:$<TARGET_PROPERTY:NATXY_NICS>>:${of_nics}>"
  "$<LINK_GROUP:RESCAN,${others}>" -l:libatomic.a ${CMAKE_DL_LIBS} rt m)
target_link_options(natxy_flags INTERFACE -static-libstdc++ -static-libgcc)

if(DEFINED SKBUILD_PLATLIB_DIR)  # in the package, whose user calls the programs through natxy
  set(NATXY_PROGRAMS ${SKBUILD_PLATLIB_DIR}/natxy/programs)
endif()

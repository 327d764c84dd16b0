# Finds libtorch inside the Python wheel without importing Python: only files are looked at.
# The wheel's own TorchConfig.cmake insists on a working CUDA set-up, so imported targets are made here.
#
# Input:   LZERO_TORCH_DIR or the environment variable of that name (a folder "torch" of a wheel);
#          otherwise the virtual environment that tools/setup.sh makes.
# Output:  LzTorch::torch (c10 + torch_cpu), LzTorch::torch_cuda (for liblzero_cuda_graph alone), LzTorch_DIR,
#          LzTorch_VERSION, LzTorch_CUDA_VERSION (that it was built for; empty without).

set(LZERO_TORCH_DIR "$ENV{LZERO_TORCH_DIR}" CACHE PATH "Folder 'torch' of an unpacked torch wheel")
if(NOT LZERO_TORCH_DIR)
  file(GLOB candidates ${CMAKE_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/torch)
  list(LENGTH candidates found)
  if(found GREATER 0)
    list(GET candidates 0 LzTorch_DIR)
  endif()
else()
  set(LzTorch_DIR ${LZERO_TORCH_DIR})
endif()

set(LzTorch_VERSION "")
if(LzTorch_DIR AND EXISTS ${LzTorch_DIR}/version.py)
  file(STRINGS ${LzTorch_DIR}/version.py version_line REGEX "^__version__")
  string(REGEX REPLACE ".*'([0-9.]+).*" "\\1" LzTorch_VERSION "${version_line}")
  set(LzTorch_CUDA_VERSION "")
  file(STRINGS ${LzTorch_DIR}/version.py cuda_line REGEX "^cuda.*'[0-9.]+'")
  if(cuda_line)
    string(REGEX REPLACE ".*'([0-9.]+)'.*" "\\1" LzTorch_CUDA_VERSION "${cuda_line}")
  endif()
endif()

# libtorch_cpu needs CUDA's runtime and profiling libraries even where there is no GPU: from the
# toolkit, or from the two small wheels beside torch (tools/setup.sh installs them when needed).
set(LzTorch_CUDA_DIRS "")
file(GLOB toolkits /usr/local/cuda*)
set(folders ${LzTorch_DIR}/../nvidia/cu13/lib)
foreach(toolkit ${toolkits})
  list(APPEND folders ${toolkit}/lib64 ${toolkit}/lib ${toolkit}/targets/x86_64-linux/lib
       ${toolkit}/extras/CUPTI/lib64)
endforeach()
foreach(folder ${folders})
  if(EXISTS ${folder}/libcudart.so.13 OR EXISTS ${folder}/libcupti.so.13)
    get_filename_component(folder ${folder} REALPATH)
    list(APPEND LzTorch_CUDA_DIRS ${folder})
  endif()
endforeach()
list(REMOVE_DUPLICATES LzTorch_CUDA_DIRS)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LzTorch
  REQUIRED_VARS LzTorch_DIR LzTorch_VERSION
  VERSION_VAR LzTorch_VERSION
  REASON_FAILURE_MESSAGE "run tools/setup.sh, or point LZERO_TORCH_DIR at the folder 'torch' of a torch 2.11 wheel")

if(LzTorch_FOUND AND NOT TARGET LzTorch::torch)
  foreach(library c10 torch_cpu c10_cuda torch_cuda)
    if(NOT EXISTS ${LzTorch_DIR}/lib/lib${library}.so)
      continue()  # a wheel without CUDA
    endif()
    add_library(LzTorch::${library} SHARED IMPORTED)
    set_target_properties(LzTorch::${library} PROPERTIES
      IMPORTED_LOCATION ${LzTorch_DIR}/lib/lib${library}.so)
  endforeach()
  add_library(LzTorch::torch INTERFACE IMPORTED)
  set_target_properties(LzTorch::torch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES
      "${LzTorch_DIR}/include;${LzTorch_DIR}/include/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES "LzTorch::torch_cpu;LzTorch::c10"
    # --no-as-needed keeps torch_cpu's operator registrations; undefined CUDA symbols of torch_cpu are
    # found at load time through its own library path, then through the program's: an old-style RPATH,
    # because a RUNPATH is not searched for the libraries that a library needs.
    INTERFACE_LINK_OPTIONS "-Wl,--no-as-needed;-Wl,--allow-shlib-undefined;-Wl,--disable-new-dtags")
  if(TARGET LzTorch::torch_cuda)
    set_target_properties(LzTorch::torch_cuda PROPERTIES INTERFACE_LINK_LIBRARIES LzTorch::c10_cuda)
  endif()
  set(rpath ${LzTorch_DIR}/lib ${LzTorch_CUDA_DIRS})
  list(APPEND CMAKE_BUILD_RPATH ${rpath})
endif()

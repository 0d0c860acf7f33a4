# Compiles the static library for Linux on 64-bit Arm, such as Grace Hopper, on another machine:
#   cmake --toolchain cmake/aarch64-linux-gnu.cmake -DWARPLADDER_LAB=OFF …
# It needs no CUDA toolkit for Arm: objects need only headers, which are the same everywhere. So
# nothing is linked, neither the shared library nor what CMake tries compilers with.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CUDA_HOST_COMPILER aarch64-linux-gnu-g++)
find_program(CMAKE_RANLIB aarch64-linux-gnu-ranlib)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)

# nvcc looks for headers in a folder of the target, which an x86-64 toolkit lacks. To identify it CMake
# links a program, before the line above counts.
find_program(warpladder_nvcc nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda/bin)
get_filename_component(warpladder_toolkit "${warpladder_nvcc}" REALPATH)
get_filename_component(warpladder_toolkit "${warpladder_toolkit}/../.." ABSOLUTE)
set(CMAKE_CUDA_FLAGS_INIT
  "-I${warpladder_toolkit}/include -cudart none -Xlinker --unresolved-symbols=ignore-all")

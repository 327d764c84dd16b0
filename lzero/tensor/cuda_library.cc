#include "lzero/tensor/cuda_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

using ListDevices = int (*)(char* text, size_t size);
using AskMemory = int (*)(int device, size_t* free_bytes, size_t* total_bytes, char* text,
                          size_t size);

}  // namespace

absl::StatusOr<std::string> FindCudaLibrary(const std::string& name) {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  for (const char* folder : {".", "../tools", "../lib"}) {
    const auto path = program.parent_path() / folder / name;
    if (std::filesystem::exists(path, ignored)) return path.lexically_normal().string();
  }
  return absl::NotFoundError(
      absl::StrCat("this build has no ", name,
                   " (it is built where nvcc is found; then tools/setup.sh --cuda)"));
}

absl::StatusOr<void*> FindInCudaLibrary(const char* name) {
  LZ_ASSIGN_OR_RETURN(const std::string path, FindCudaLibrary("liblzero_cuda.so"));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::NotFoundError(absl::StrCat("cannot load ", path, ": ", dlerror()));
  }
  void* found = dlsym(library, name);
  if (found == nullptr) {
    return absl::NotFoundError(absl::StrCat(path, " is of another version: ", dlerror()));
  }
  return found;
}

absl::StatusOr<std::vector<std::string>> ListCudaDevices() {
  LZ_ASSIGN_OR_RETURN(void* const found, FindInCudaLibrary("lz_cuda_list_devices"));
  const auto list = reinterpret_cast<ListDevices>(found);
  char text[16384] = "";
  const int count = list(text, sizeof(text));
  if (count <= 0) return absl::NotFoundError(absl::StrCat("no CUDA device: ", text));
  return std::vector<std::string>(absl::StrSplit(text, '\n'));
}

absl::StatusOr<CudaMemory> FindCudaMemory(int index) {
  LZ_ASSIGN_OR_RETURN(void* const found, FindInCudaLibrary("lz_cuda_memory"));
  const auto ask = reinterpret_cast<AskMemory>(found);
  size_t free_bytes = 0, total_bytes = 0;
  char text[1024] = "";
  int error = 0;
  // In a thread of its own: each has a current device, and this one keeps its own.
  std::thread([&] { error = ask(index, &free_bytes, &total_bytes, text, sizeof(text)); }).join();
  if (error != 0) return absl::InternalError(absl::StrCat("memory of cuda:", index, ": ", text));
  return CudaMemory{static_cast<int64_t>(free_bytes), static_cast<int64_t>(total_bytes)};
}

}  // namespace lzero

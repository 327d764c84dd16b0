// Breaks one rule of CUDA, named on the command line: misuse_test.py wants each to be told.
// "nothing" breaks none.
#include "tests/null_gpu/self_test/misuse.h"

#include <string>
#include <vector>

int main(int argc, char** argv) {
  using namespace lzero::null_gpu;  // NOLINT(google-build-using-namespace): this function alone
  for (const std::vector<Case>& cases :
       {StreamCases(), TwoDeviceCases(), CallCases(), ProductCases()}) {
    for (const auto& [name, run, closes] : cases) {
      if (argc != 2 || argv[1] != std::string(name)) continue;
      const Scene scene;
      run(scene);
      if (closes) scene.Close();
      return 0;
    }
  }
  return 2;
}

// Compares a function of tensors on the kernels' path, float32, with the same function of plain
// operations in double: the result and the gradients of every input.
#ifndef LZERO_TESTS_NN_GRADIENTS_H_
#define LZERO_TESTS_NN_GRADIENTS_H_

#include <functional>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"

namespace lzero::reference {

using Function = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

// Largest difference over the largest number that is expected.
double Difference(const at::Tensor& actual, const at::Tensor& expected);

// `inputs` are float32; those that are undefined stay so. Errors name `what`. The result within
// `tolerance` (of its largest number), the gradients within 1e-5; and once more without gradients.
void ExpectGradientsOfPlainOperations(const Function& function,
                                      const std::vector<at::Tensor>& inputs,
                                      const std::string& what, double tolerance = 1e-6);

// The result and the gradient of the first input are the same bits with any number of threads; the
// other gradients are so with the same number, and within 1e-5 with another.
void ExpectBitsOfThreads(const Function& function, const std::vector<at::Tensor>& inputs);

// The gradients of a second backward() through the same graph (retain_graph) are those of the
// first.
void ExpectTheGraphCanBeRetained(const Function& function, const std::vector<at::Tensor>& inputs);

// backward() with create_graph ends the program with a clear message.
void ExpectNoSecondDerivative(const Function& function, const std::vector<at::Tensor>& inputs);

}  // namespace lzero::reference

#endif  // LZERO_TESTS_NN_GRADIENTS_H_

// What other people's code throws: environments of plugins. Our own code throws nothing. Any
// thread.
#ifndef LZERO_ENV_THROWN_H_
#define LZERO_ENV_THROWN_H_

#include <exception>
#include <new>
#include <optional>
#include <string>

namespace lzero {

// Calls `function`; the words of what it threw, nothing when it threw nothing. Memory that runs out
// is passed on: the trainer tells it.
template <typename Function>
std::optional<std::string> WhatItThrows(Function function) {
  try {
    function();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

}  // namespace lzero

#endif  // LZERO_ENV_THROWN_H_

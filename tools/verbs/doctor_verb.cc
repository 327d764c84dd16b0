// `lzero doctor`: what this machine and this build can do, one fact a line, and what to do about
// what is missing.
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/files.h"
#include "lzero/base/machine.h"
#include "lzero/env/python/python.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/kernels/instruction_set.h"
#include "lzero/tensor/cuda_library.h"
#include "lzero/tensor/torch.h"
#include "tools/bench/table/machine_peaks.h"
#include "tools/verbs/agent_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/source_commit.h"
#include "tools/verbs/support/verb_support.h"
#include "torch/version.h"

namespace lzero {
namespace {

class Report {
 public:
  void Ok(const std::string& what, const std::string& fact) { Line("ok  ", what, fact); }
  void Note(const std::string& what, const std::string& fact) { Line("note", what, fact); }
  void Fail(const std::string& what, const std::string& fact) {
    Line("FAIL", what, fact);
    failed_ = true;
  }
  bool failed() const { return failed_; }

 private:
  static void Line(const char* mark, const std::string& what, const std::string& fact) {
    std::printf("%s  %-14s %s\n", mark, what.c_str(), fact.c_str());
  }
  bool failed_ = false;
};

void ReportCpu(Report& report) {
  const InstructionSet set = CurrentInstructionSet();
  const std::string fact = absl::StrFormat("%d cores, %s, %.0f GFLOP/s fp32 a core", MachineCores(),
                                           NameOf(set), MeasurePeakGflops(/*num_threads=*/1));
  set >= InstructionSet::kAvx2 ? report.Ok("processor", fact)
                               : report.Note("processor", absl::StrCat(fact, "; training is slow"));
}

void ReportMemory(Report& report) {
  const double gib = static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) *
                     static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 30);
  const std::string fact = absl::StrFormat("%.1f GiB free", gib);
  gib > 1.0 ? report.Ok("memory", fact)
            : report.Note("memory", absl::StrCat(fact, "; lower replay.max_mebibytes"));
}

void ReportFolder(Report& report) {
  const std::string here = std::filesystem::current_path().string();
  struct statvfs facts = {};
  statvfs(here.c_str(), &facts);
  const double gib =
      static_cast<double>(facts.f_bavail) * static_cast<double>(facts.f_frsize) / (1 << 30);
  const std::string probe = JoinPath(here, ".lzero_doctor");
  const absl::Status written = WriteFileAtomic(probe, "x");
  std::filesystem::remove(probe);
  if (written.ok()) {
    report.Ok("run folders", absl::StrFormat("can be written here, %.1f GiB free", gib));
  } else {
    report.Fail("run folders", absl::StrCat("cannot be written here: ", written.message()));
  }
}

void ReportGpu(Report& report) {
  const char* otherwise = "; inference.device: cpu is all this machine has";
  const auto devices = ListCudaDevices();
  if (!devices.ok()) {
    report.Note("gpu", absl::StrCat(devices.status().message(), otherwise));
    return;
  }
  std::string names = (*devices)[0];
  if (devices->size() > 1) {
    names.clear();
    for (size_t i = 0; i < devices->size(); ++i) {
      absl::StrAppend(&names, i == 0 ? "" : "; ", "cuda:", i, " ", (*devices)[i]);
    }
  }
  // Without another number in its config, a run is on the first.
  const auto backend = MakeCudaGraphBackend(0);
  if (!backend.ok()) {
    report.Note("gpu", absl::StrCat(names, ", but ", backend.status().message(), otherwise));
    return;
  }
  const auto use = (*backend)->MemoryUse();
  const std::string used = use.ok()
                               ? absl::StrFormat("%.1f GiB of cuda:0 are in use",
                                                 static_cast<double>(use->used_bytes) / (1 << 30))
                               : std::string(use.status().message());
  report.Ok("gpu", absl::StrCat(names, "; ", used));
}

void ReportTorch(Report& report) {
  const at::Tensor product = at::matmul(at::ones({8, 8}), at::ones({8, 8}));
  const std::string fact = absl::StrCat(TORCH_VERSION, ", CPU", at::hasMKL() ? ", MKL" : "",
                                        at::globalContext().hasMKLDNN() ? ", oneDNN" : "");
  product.sum().item<float>() == 512.0f ? report.Ok("libtorch", fact)
                                        : report.Fail("libtorch", fact + ": wrong product");
}

void ReportEnvs(Report& report) {
  int num_native = 0;
  for (const EnvRegistry::Entry* entry : MakeRegistry().entries()) {
    if (!entry->is_family()) ++num_native;
  }
  report.Ok("environments", absl::StrCat(num_native, " native (", ProgramCommand(), " envs list)"));
  const std::string python = PythonInterpreter("auto");
  const absl::StatusOr<std::string> packages = PythonPackages(python);
  if (packages.ok() && absl::StartsWith(*packages, "gymnasium")) {
    report.Ok("python", absl::StrCat(python, ": ", *packages));
    return;
  }
  report.Note("python", absl::StrCat(packages.ok() ? absl::StrCat(python, " has no gymnasium")
                                                   : std::string(packages.status().message()),
                                     "; Python environments need: tools/setup.sh --python-envs"));
}

int Doctor() {
  Report report;
  report.Ok("lzero",
            absl::StrCat(LZERO_VERSION, ", commit ", SourceCommit(), ", g++ ", __VERSION__));
  ReportTorch(report);
  ReportCpu(report);
  ReportMemory(report);
  ReportFolder(report);
  ReportEnvs(report);
  ReportGpu(report);
  return report.failed() ? kExitFailure : kExitOk;
}

}  // namespace

void AddDoctor(CLI::App& app, VerbAction* action) {
  CLI::App* doctor = app.add_subcommand("doctor", "Check this machine and this build");
  doctor->callback([=] { *action = Doctor; });
}

}  // namespace lzero

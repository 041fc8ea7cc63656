//===- Options.cpp - Command line of mhcc ----*- C++ -*-===//
//
// Part of the mhc project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options that are not in the table below are parsed as options of a run, which mhc-run has too.
//
// Long because it is one list: of all options, with what each takes and needs.
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "mhc/Analysis/Machine.h"
#include "mhc/Model/Config.h"
#include "mhc/Transforms/RecomputePlan.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mhc;
using llvm::StringRef;
using llvm::StringSwitch;

namespace {
struct Option {
  enum Value { none, optional, needed };

  StringRef name;
  Value value;
  StringRef meta; ///< the value in the help text
  StringRef help;
  /// Returns what would have been right; empty when the value is taken.
  std::string (*set)(DriverOptions &, StringRef value);
};
} // namespace

static std::string setFuse(DriverOptions &options, StringRef value) {
  auto level = StringSwitch<std::optional<FuseLevel>>(value)
                   .Case("none", FuseLevel::none)
                   .Case("chain", FuseLevel::chain)
                   .Case("layer", FuseLevel::layer)
                   .Case("model", FuseLevel::model)
                   .Default(std::nullopt);
  if (!level)
    return "'none', 'chain', 'layer' or 'model'";
  options.compile.fuse = *level;
  return "";
}

static std::string setSums(DriverOptions &options, StringRef value) {
  if (value != "stored" && value != "f32")
    return "'stored' or 'f32'";
  options.compile.sums = value == "f32" ? GradientSums::f32 : GradientSums::stored;
  return "";
}

static std::string setRecompute(DriverOptions &options, StringRef value) {
  options.compile.recompute = value.str();
  return RecomputeMode::parse(value) ? "" : RecomputeMode::kForms.str();
}

static std::string setPrecision(DriverOptions &options, StringRef value) {
  options.compile.precision = symbolizePrecision(value);
  return options.compile.precision ? "" : "'ieee', 'tf32x3', 'bf16x3' or 'tf32'";
}

static std::string setGdnImpl(DriverOptions &options, StringRef value) {
  options.compile.gdnImpl = value.str();
  return value == "ref" || symbolizeGdnImpl(value) ? "" : "'ref', 'streamed' or 'fused'";
}

static std::string setLayout(DriverOptions &options, StringRef value) {
  options.compile.layout = value == "keep" ? "" : value.str();
  return value == "keep" || value == "auto" || symbolizeLayout(value) ? "" : "'keep', 'auto', 'nC' or 'Cn'";
}

static std::string setBudget(DriverOptions &options, StringRef value) {
  unsigned shift = StringSwitch<unsigned>(value.ltrim("0123456789"))
                       .Cases({"", "B"}, 0)
                       .Case("KiB", 10)
                       .Case("MiB", 20)
                       .Case("GiB", 30)
                       .Case("TiB", 40)
                       .Default(64);
  uint64_t number;
  StringRef digits = value.take_while(llvm::isDigit);
  if (shift == 64 || digits.getAsInteger(10, number) || number > (uint64_t(INT64_MAX) >> shift))
    return "a number of bytes, as in '8GiB'";
  options.memoryBudget = number << shift;
  return "";
}

static constexpr StringRef kGpus[] = {"sm_80", "sm_90a", "sm_100a", "sm_103", "sm_110", "sm_120"};

static std::string setTarget(DriverOptions &options, StringRef value) {
  auto [kind, gpu] = value.split(':');
  if (value == "cuda")
    gpu = kDefaultGpu;
  options.compile.gpu = gpu.str();
  if (value == "cpu" || (kind == "cuda" && llvm::is_contained(kGpus, gpu)))
    return "";
  return "'cpu', 'cuda' or one of " +
         llvm::join(llvm::map_range(kGpus, [](StringRef gpu) { return ("'cuda:" + gpu + "'").str(); }), ", ");
}

static std::string setMesh(DriverOptions &options, StringRef value) {
  std::optional<Mesh> mesh = Mesh::parse(value);
  if (!mesh)
    return Mesh::kForm.str();
  options.mesh.dp = mesh->dp, options.mesh.tp = mesh->tp;
  return "";
}

static std::string setStages(DriverOptions &options, StringRef value) {
  constexpr int64_t kMostStages = 1024;
  int64_t stages;
  if (value.getAsInteger(10, stages) || stages < 1 || stages > kMostStages)
    return "a number of stages from 1 to " + std::to_string(kMostStages);
  options.mesh.pp = options.compile.stages = stages;
  return "";
}

static std::string setLinks(DriverOptions &options, StringRef value) {
  llvm::SmallVector<StringRef> words;
  value.split(words, ',');
  Links &links = options.links;
  bool good = words.size() == 3 && !words[0].getAsDouble(links.host) && !words[1].getAsDouble(links.network) &&
              !words[2].getAsInteger(10, links.ranksPerHost);
  good = good && links.host > 0 && links.network > 0 && links.ranksPerHost > 0;
  links.host *= 1e9;
  links.network *= 1e9;
  return good ? "" : "HOST,NETWORK,RANKS: GB/s on a host, GB/s between hosts, and ranks on a host, each above 0";
}

static std::string setPhase(DriverOptions &options, StringRef value) {
  options.compileTo = parsePhase(value);
  return options.compileTo ? "" : "one of " + phaseNames();
}

static std::string setLevel(DriverOptions &options, StringRef value) {
  return value.getAsInteger(10, options.compile.optLevel) || options.compile.optLevel > 3 ? "0, 1, 2 or 3" : "";
}

/// A number of at least zero.
template <typename Number>
static std::string setCount(Number &number, StringRef value) {
  int64_t count;
  if (value.getAsInteger(10, count) || count < 0)
    return "a number of at least 0";
  number = count;
  return "";
}

static std::string setExplain(DriverOptions &options, StringRef value) {
  if (!value.empty() && value != "json")
    return "'json'";
  options.explain = value.empty() ? Explain::text : Explain::json;
  return "";
}

static std::string setMachine(DriverOptions &options, StringRef value) {
  if (!lookupMachine(value))
    return "one of " +
           llvm::join(llvm::map_range(allMachines(), [](auto &m) { return "'" + m.name.str() + "'"; }), ", ");
  options.machine = value.str();
  return "";
}

static std::string setSize(DriverOptions &options, StringRef value) {
  auto [symbol, number] = value.split('=');
  int64_t size;
  if (symbol.empty() || number.getAsInteger(10, size) || size < 0)
    return "SYMBOL=NUMBER";
  return options.sizes.try_emplace(symbol.str(), size).second ? "" : "each symbol once";
}

static const Option kOptions[] = {
    {"--target", Option::needed, "TARGET",
     "what the model runs on: cpu (default), or cuda:ARCH with ARCH sm_80, sm_90a (default), sm_100a, "
     "sm_103, sm_110, sm_120",
     setTarget},
    {"-o", Option::needed, "FILE",
     "write FILE: .so a model library, .o an object, .ll LLVM IR, .mlir the last phase before it, or --compile-to",
     [](DriverOptions &options, StringRef value) { return options.output = value.str(), std::string(); }},
    {"--compile-to", Option::needed, "PHASE",
     "stop behind a phase: input, raise, fuse, loops, bufferize, lower, llvm, object", setPhase},
    {"--fuse", Option::needed, "LEVEL",
     "what one kernel may span: none, chain, layer (default for the CPU) or model (default for a GPU)", setFuse},
    {"--fail-if-unfused", Option::none, "", "fail where a site that looks like mHC is not fused, with the reason",
     [](DriverOptions &options, StringRef) { return options.failIfUnfused = true, std::string(); }},
    {"--expect-fused", Option::needed, "N", "fail unless N sublayers have one kernel before them and one behind",
     [](DriverOptions &options, StringRef value) { return setCount(options.expectFused, value); }},
    {"--remarks", Option::needed, "FILE", "write what was found, fused and missed, and why, to FILE as YAML",
     [](DriverOptions &options, StringRef value) { return options.remarks = value.str(), std::string(); }},
    {"--fuse-limit", Option::needed, "N", "fuse only the first N chains of a function, to find one that breaks a model",
     [](DriverOptions &options, StringRef value) { return setCount(options.compile.fuseLimit, value); }},
    {"--raise-limit", Option::needed, "N", "find only the first N mHC ops of a function",
     [](DriverOptions &options, StringRef value) { return setCount(options.compile.raiseLimit, value); }},
    {"--grad", Option::optional, "NAME", "add the gradients of NAME, default loss: NAME_grad, NAME_fwd and NAME_bwd",
     [](DriverOptions &options, StringRef value) {
       return options.compile.grad = value.empty() ? "loss" : value.str(), std::string();
     }},
    {"--grad-sums", Option::needed, "TYPE",
     "gradients of streams between kernels: stored as the streams are (default), or f32", setSums},
    {"--recompute", Option::needed, "WHAT",
     "streams that the backward pass computes again: none, all, auto or groups=N; default none or the model's",
     setRecompute},
    {"--memory-budget", Option::needed, "BYTES",
     "with --recompute=auto, recompute as little as fits in BYTES, such as 8GiB, and say what; needs --size",
     setBudget},
    {"--mesh", Option::needed, "dp=N,tp=N",
     "make a model from its configuration for ranks that have parts of the batch (dp), and of heads and MLPs (tp)",
     setMesh},
    {"--pipeline", Option::needed, "N", "cut the model into N stages of a pipeline, each with entries of its own",
     setStages},
    {"--links", Option::needed, "HOST,NETWORK,RANKS",
     "with --explain of a mesh: GB/s on a host and between hosts, and ranks on a host; default 270,50,8", setLinks},
    {"--precision", Option::needed, "PRECISION",
     "least accuracy of projections that do not say it: ieee, tf32x3, bf16x3 (default) or tf32", setPrecision},
    {"--gdn-impl", Option::needed, "IMPL",
     "front ends of gated delta nets: fused (default), streamed, one kernel a branch, or ref, without kernels",
     setGdnImpl},
    {"--layout", Option::needed, "LAYOUT",
     "memory order of streams that no argument or result shows: keep (default), nC, Cn, or auto for the faster one on "
     "the target",
     setLayout},
    {"--mcpu", Option::needed, "CPU", "generate loops for CPU; native is this machine, and the default of --run",
     [](DriverOptions &options, StringRef value) { return options.compile.cpu = value.str(), std::string(); }},
    {"-O", Option::needed, "N", "optimise loops at level 0 to 3, default 2", setLevel},
    {"-g", Option::none, "", "let errors of kernels, and profilers (mhc-run --nvtx), name the line of the source",
     [](DriverOptions &options, StringRef) { return options.compile.lines = true, std::string(); }},
    {"--emit-header", Option::optional, "FILE",
     "write a C header with the entries and their argument numbers, default beside the output",
     [](DriverOptions &options, StringRef value) {
       options.emitHeader = true;
       return options.header = value.str(), std::string();
     }},
    {"--no-proof", Option::none, "", "raise what matches without comparing it in float64 with the op that it becomes",
     [](DriverOptions &options, StringRef) { return options.compile.numericCheck = false, std::string(); }},
    {"--explain", Option::optional, "json", "print what was found and fused, the bytes and flops saved, and the memory",
     setExplain},
    {"--measure", Option::none, "", "with --explain: time every entry here, on random arguments, beside its bound",
     [](DriverOptions &options, StringRef) { return options.measure = true, std::string(); }},
    {"--report", Option::needed, "FILE.html",
     "write FILE.html, a page for a browser: the graph before and after fusion, layer by layer, with costs and remarks",
     [](DriverOptions &options, StringRef value) { return options.report = value.str(), std::string(); }},
    {"--machine", Option::needed, "NAME", "machine of the times in --explain and --report", setMachine},
    {"--run", Option::optional, "ENTRY", "compile in memory and run, with the options below",
     [](DriverOptions &options, StringRef value) {
       options.run = true;
       if (!value.empty())
         options.runOptions.entry = value.str();
       return std::string();
     }},
    {"--verify", Option::none, "", "run, and compare with the float64 reference; random arguments where none are given",
     [](DriverOptions &options, StringRef) { return options.verify = true, std::string(); }},
    {"--size", Option::needed, "SYMBOL=N", "a size, of random arguments and of a budget; default M=13, other symbols 8",
     setSize},
    {"--reproducer", Option::needed, "FILE",
     "when a pass fails or crashes, write FILE: the module and the passes, for mhc-opt --run-reproducer",
     [](DriverOptions &options, StringRef value) { return options.reproducer = value.str(), std::string(); }},
    {"--mlir-timing", Option::none, "", "print the time of every phase and pass",
     [](DriverOptions &options, StringRef) { return options.timing = true, std::string(); }},
    {"--version", Option::none, "", "print the version",
     [](DriverOptions &options, StringRef) { return options.version = true, std::string(); }},
};

std::string mhc::driverHelp() {
  std::string text = "mhcc: compile, explain, run and verify mHC models\n\nusage: mhcc FILE.mlir [options]\n"
                     "       mhcc FILE.json [options] makes a GPT from its configuration\n"
                     "       mhcc - reads the standard input\n\n";
  for (const Option &option : kOptions) {
    std::string word = option.name.str();
    bool isLong = option.name.starts_with("--");
    if (option.value == Option::needed)
      word += (isLong ? "=" : option.name == "-o" ? " " : "") + option.meta.str();
    if (option.value == Option::optional)
      word += "[=" + option.meta.str() + "]";
    text += llvm::formatv("  {0,-22} {1}\n", word, option.help).str();
  }
  return text + "\nwith --run and --verify:\n" + mhcrt::kRunOptionsHelp + mhcrt::kKernelOptionsHelp +
         "\nExit status: 0 good, 1 a comparison or a check of what is fused failed, 2 an error.\n";
}

/// The option that `word` is, and its value as far as it is in the same word.
static const Option *findOption(StringRef word, StringRef &value, bool &hasValue) {
  for (const Option &option : kOptions) {
    value = word;
    if (!value.consume_front(option.name))
      continue;
    hasValue = !value.empty();
    bool isLong = option.name.starts_with("--");
    if (value.empty() || !isLong || value.consume_front("="))
      return &option;
  }
  return nullptr;
}

/// `--run ENTRY` in two words: the word at `number` is the entry when the others name a model without it.
static void takeEntry(std::vector<const char *> &words, size_t number, mhcrt::RunOptions &options) {
  std::vector<const char *> others = words;
  others.erase(others.begin() + number);
  mhcrt::RunOptions trial = options;
  std::string error;
  if (!mhcrt::parseRunOptions(others.size(), others.data(), trial, error))
    return;
  options.entry = words[number];
  words = std::move(others);
}

namespace {
/// A file suffix and the phase it stands for. Phases before that of .mlir are .mlir, too.
struct Suffix {
  StringRef text;
  Phase phase;
};
} // namespace

static constexpr Suffix kSuffixes[] = {{".mlir", Phase::lower}, {".ll", Phase::llvm}, {".o", Phase::object}};

/// Takes from the suffix of the output what --compile-to does not say; the two must not contradict each other.
static llvm::Error chooseOutput(DriverOptions &options) {
  const std::string &output = options.output;
  if (output.empty())
    return llvm::Error::success();
  StringRef text = llvm::sys::path::extension(output);
  const Suffix *known = llvm::find_if(kSuffixes, [&](const Suffix &suffix) { return suffix.text == text; });
  bool isKnown = known != std::end(kSuffixes), isLibrary = text == ".so";
  if (options.compileTo) {
    Phase phase = std::max(*options.compileTo, Phase::lower);
    if (!isLibrary && (!isKnown || known->phase == phase))
      return llvm::Error::success();
    const Suffix *right = llvm::find_if(kSuffixes, [&](const Suffix &suffix) { return suffix.phase == phase; });
    return llvm::createStringError("'-o' is '" + output + "', but '--compile-to=" +
                                   phaseName(*options.compileTo).str() + "' makes '" + right->text.str() + "'");
  }
  options.library = isLibrary;
  if (isKnown || output == "-")
    options.compileTo = isKnown ? known->phase : Phase::lower;
  if (options.library || options.compileTo)
    return llvm::Error::success();
  return llvm::createStringError("'-o' is '" + output +
                                 "'; needed a file that ends in '.so', '.o', '.ll' or '.mlir', or '--compile-to'");
}

/// The header of train.so is train.h, unless it was given a name.
static llvm::Error nameHeader(DriverOptions &options) {
  if (!options.emitHeader || !options.header.empty())
    return llvm::Error::success();
  if (options.output.empty() || options.output == "-")
    return llvm::createStringError(
        "'--emit-header' needs '-o FILE', beside which the header goes, or a FILE of its own");
  llvm::SmallString<128> path(options.output);
  llvm::sys::path::replace_extension(path, ".h");
  options.header = path.str().str();
  return llvm::Error::success();
}

/// Options that would do nothing without another one are errors.
static llvm::Error checkNeeds(const DriverOptions &options, const llvm::StringSet<> &given) {
  bool grad = !options.compile.grad.empty(), layers = options.compile.fuseLevel() >= FuseLevel::layer;
  const bool fuses = options.compile.fuseLevel() != FuseLevel::none;
  bool explains = options.explain != Explain::no || !options.report.empty();
  bool runs = options.run || options.verify;
  bool makesCode = runs || options.measure || options.runOptions.list || options.library ||
                   options.compileTo == Phase::llvm || options.compileTo == Phase::object;
  struct Need {
    StringRef option;
    bool isMet;
    StringRef needed;
  };
  const Need needs[] = {
      {"--recompute", grad, "'--grad'"},
      {"--memory-budget", grad, "'--grad'"},
      {"--memory-budget", options.compile.stages == 1, "a model without '--pipeline'"},
      {"--verify", options.compile.stages == 1, "a model without '--pipeline'"},
      {"--verify", options.mesh.tp == 1, "a model without the axis 'tp'"},
      {"--expect-fused", options.compile.stages == 1, "a model without '--pipeline'"},
      {"--grad-sums", grad, "'--grad'"},
      {"--fail-if-unfused", layers, "'--fuse=layer' or '--fuse=model'"},
      {"--expect-fused", layers, "'--fuse=layer' or '--fuse=model'"},
      {"--pipeline", fuses, "'--fuse=chain' or more, which find the sublayers"},
      {"--pipeline", grad, "'--grad'"},
      {"--raise-limit", fuses, "'--fuse=chain' or more"},
      {"--fuse-limit", fuses, "'--fuse=chain' or more"},
      {"--no-proof", fuses, "'--fuse=chain' or more"},
      {"--machine", explains, "'--explain' or '--report'"},
      {"--measure", options.explain == Explain::text, "'--explain'"},
      {"--measure", options.compile.stages == 1, "a model without '--pipeline'"},
      {"--links", options.explain != Explain::no && options.mesh.ranks() > 1, "'--explain' and a mesh or a pipeline"},
      {"--size", options.verify || options.memoryBudget || explains,
       "'--verify', '--memory-budget', '--explain' or '--report'"},
      {"--mcpu", makesCode, "'--run', '--verify' or code as output"},
      {"--entry", runs, "'--run' or '--verify'"},
      {"--arg", runs, "'--run' or '--verify'"},
      {"--args", runs, "'--run' or '--verify'"},
      {"--convert", runs, "'--run' or '--verify'"},
      {"--threads", runs || options.measure, "'--run', '--verify' or '--measure'"},
      {"--time", runs || options.measure, "'--run', '--verify' or '--measure'"},
      {"--out", options.run, "'--run'"},
      {"--expect", options.run, "'--run'"},
      {"--tolerance", options.verify || !options.runOptions.expects.empty(), "'--verify' or '--expect'"},
      {"--functions", options.run, "'--run'"},
      {"--pin", options.run, "'--run'"},
      {"--strict", options.run, "'--run'"},
      {"--nvtx", options.run, "'--run'"},
      {"--cuda-graph", options.run, "'--run'"},
      {"--list-kernels", options.run, "'--run'"},
  };
  if (options.run && options.runOptions.list)
    return llvm::createStringError("'--list' excludes '--run'");
  for (const Need &need : needs)
    if (!need.isMet && (given.contains(need.option) || options.runOptions.given.count(need.option.str())))
      return llvm::createStringError("'" + need.option.str() + "' needs " + need.needed.str());
  for (auto &[symbol, size] : options.sizes)
    if (!options.verify && !options.memoryBudget && !options.measure && symbol != "M")
      return llvm::createStringError("'--size=" + symbol +
                                     "' needs '--verify', '--measure' or '--memory-budget'; of sizes, " +
                                     "'--explain' and '--report' take 'M'");
  return llvm::Error::success();
}

/// The option's value: behind the '=', or the next word.
static llvm::Error takeValue(const Option &option, bool hasValue, int argc, const char *const *argv, int &i,
                             StringRef &value) {
  if (option.value == Option::none && hasValue)
    return llvm::createStringError("'" + option.name.str() + "' takes no value, found '" + value.str() + "'");
  if (option.value != Option::needed || hasValue)
    return llvm::Error::success();
  if (i + 1 >= argc)
    return llvm::createStringError("'" + option.name.str() + "' needs a value");
  value = argv[++i];
  if (value.starts_with("--"))
    return llvm::createStringError("'" + option.name.str() + "' needs a value, found the option '" + value.str() + "'");
  return llvm::Error::success();
}

/// Options that the configuration of a model says and the command line does not. A file that cannot be read is an error
/// of the compiler.
static llvm::Error takeModelOptions(DriverOptions &options, const llvm::StringSet<> &given) {
  StringRef path = options.runOptions.model;
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!path.ends_with(".json") || !text)
    return llvm::Error::success();
  auto config = model::parseConfig((*text)->getBuffer());
  if (!config)
    return llvm::consumeError(config.takeError()), llvm::Error::success();
  for (const auto &[key, value] : config->options) {
    const Option *option = llvm::find_if(
        kOptions, [&](const Option &o) { return o.name == "--" + llvm::join(llvm::split(key, '_'), "-"); });
    std::string needed = given.contains(option->name) ? "" : option->set(options, value);
    if (!needed.empty())
      return llvm::createStringError(path + ": error: '" + key + "' is \"" + value + "\"; needed " + needed);
  }
  return llvm::Error::success();
}

llvm::Expected<DriverOptions> mhc::parseDriverOptions(int argc, const char *const *argv) {
  DriverOptions options;
  options.compile.numericCheck = true;
  std::vector<const char *> rest = {argv[0]};
  llvm::StringSet<> given;
  size_t behindRun = 0;
  for (int i = 1; i < argc; ++i) {
    StringRef value;
    bool hasValue = false;
    const Option *option = findOption(argv[i], value, hasValue);
    if (!option) {
      rest.push_back(argv[i]);
      continue;
    }
    if (llvm::Error error = takeValue(*option, hasValue, argc, argv, i, value))
      return error;
    if (option->name == "--run" && !hasValue && i + 1 < argc && argv[i + 1][0] != '-')
      behindRun = rest.size();
    std::string needed = option->set(options, value);
    if (needed.empty() && value.empty() && (hasValue || option->value == Option::needed))
      needed = option->meta.str();
    if (!needed.empty())
      return llvm::createStringError("'" + option->name.str() + "' is '" + value.str() + "'; needed " + needed);
    if (!given.insert(option->name).second && option->value != Option::none && option->name != "--size")
      return llvm::createStringError("'" + option->name.str() + "' is given twice");
  }
  if (behindRun)
    takeEntry(rest, behindRun, options.runOptions);
  std::string entry = options.runOptions.entry, error;
  if (!mhcrt::parseRunOptions(rest.size(), rest.data(), options.runOptions, error) && !options.version)
    return llvm::createStringError(error);
  if (!entry.empty() && options.runOptions.given.count("--entry"))
    return llvm::createStringError("the entry is given twice: '--run=" + entry +
                                   "' and '--entry=" + options.runOptions.entry + "'");
  if (llvm::Error error = takeModelOptions(options, given))
    return error;
  if (llvm::Error error = chooseOutput(options))
    return error;
  if (llvm::Error error = nameHeader(options))
    return error;
  if (llvm::Error error = checkNeeds(options, given))
    return error;
  options.input = options.runOptions.model;
  return options;
}

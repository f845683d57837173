// The command line: words to verbs, exceptions to exit codes (design.md sections 7 and 8).
#include <algorithm>
#include <iostream>

#include <CLI/CLI.hpp>

#include "configs/reader/errors.hpp"
#include "configs/reader/words.hpp"
#include "sim/cli/check.hpp"
#include "sim/cli/pareto.hpp"
#include "sim/cli/sweep.hpp"
#include "sim/cli/trace.hpp"
#include "sim/cli/verbs.hpp"

namespace daybreak::cli {
namespace {

void add_common(CLI::App& verb, CommonOptions& o) {
  verb.add_option("--chip", o.chip, "chip preset or YAML file")->capture_default_str();
  verb.add_option("--set", o.set, "knob=value on top of the chip; may be given again")
      ->allow_extra_args(false);
  verb.add_option("--out", o.out, "folder for record.json, trace.pftrace and run.events")
      ->check(CLI::Validator([](std::string& s) { return s.empty() ? "a folder is needed" : ""; },
                             "", "folder"));
  verb.add_flag("--json", o.json, "records as JSON on standard output");
  verb.add_option("--trace", o.trace, "kernel, task, instruction or off")
      ->capture_default_str()
      ->check(CLI::IsMember({"kernel", "task", "instruction", "off"}));
  verb.add_option("--trace-cap", o.trace_cap_mb,
                  "MB of a trace file before instructions are dropped; 0: no cap")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 20));
  verb.add_option("--values", o.values, "full or steering")->capture_default_str();
  verb.add_option("--index", o.index,
                  "selected positions: computed, random, local or a file (2048 int32 of each query "
                  "token, ascending, then -1)")
      ->capture_default_str();
  verb.add_option("--routing", o.routing, "computed, balanced, power-law:A or a file")
      ->capture_default_str();
  verb.add_option("--record-routing", o.record_routing, "file for the experts that were chosen");
  verb.add_option("--seed", o.seed, "seed of all inputs")
      ->capture_default_str()
      ->check(CLI::Validator(
          [](std::string& s) {
            return s.find_first_not_of("0123456789") == std::string::npos
                       ? ""
                       : "a whole number from 0 on is needed, not " + s;
          },
          "", "number"));
}

struct Verbs {
  CommonOptions common;
  Day0Options day0;
  TraceOptions trace;
  CheckOptions check;
  SweepOptions sweep;
  ParetoOptions pareto;
  std::string name, file, out;
  std::vector<std::string> words;
  int64_t task = 0;
  int (*chosen)(Verbs&) = nullptr;

  SlurmOptions& array_of_sweep() { return sweep.slurm ? *sweep.slurm : sweep.slurm.emplace(); }

  CLI::App* add(CLI::App& app, const char* verb, const char* about, int (*act)(Verbs&)) {
    auto* sub = app.add_subcommand(verb, about);
    sub->callback([this, act] { chosen = act; });
    return sub;
  }

  void declare_trace(CLI::App& app) {
    auto* t = app.add_subcommand("trace", "what a run's traces say; takes folders that --out left");
    t->require_subcommand(1);
    const auto verb = [&](const char* name, const char* about, int (*act)(Verbs&)) {
      auto* sub = add(*t, name, about, act);
      sub->add_option("folders", trace.folders, "folder of a run")->required();
      sub->add_flag("--json", trace.json, "JSON on standard output");
      return sub;
    };
    verb("summary", "kernels against their floors, waterfall, overlap of the units",
         [](Verbs& v) { return trace_summary(v.trace); });
    verb("stalls", "busy and stall cycles by unit and cause",
         [](Verbs& v) { return trace_stalls(v.trace); });
    auto* path =
        verb("critical-path", "what made the run as long as it was, and what would shorten it",
             [](Verbs& v) { return trace_critical_path(v.trace); });
    path->add_option("--what-if", trace.what_if, "knob=value: cycles predicted; may be given again")
        ->take_all();
    path->add_option("--measured", trace.measured, "folder of the re-run of each --what-if")
        ->take_all();
    verb("roofline", "useful FLOP/s against what the chip could do",
         [](Verbs& v) { return trace_roofline(v.trace); });
    verb("diff", "two runs: the change in cycles by cause, kernel and task",
         [](Verbs& v) { return trace_diff(v.trace); });
    auto* e =
        verb("export", "the trace in another form", [](Verbs& v) { return trace_export(v.trace); });
    e->add_option("--format", trace.format, "chrome or perfetto")->capture_default_str();
    e->add_option("--to", trace.to, "file; default: beside the run");
    verb("report", "all of it as one HTML page", [](Verbs& v) {
      return trace_report(v.trace);
    })->add_option("--to", trace.to, "file; default: report.html beside the run");
  }

  void declare(CLI::App& app) {
    auto* d =
        add(app, "day0", "one DSA layer of a model on a chip: time, values, what holds it back",
            [](Verbs& v) { return cli::day0(v.day0, v.common); });
    d->add_option("--model", day0.model, "published config.json, or a name in configs/models")
        ->required();
    d->add_option("--phase", day0.phase, "decode")->capture_default_str();
    d->add_option("--context", day0.context, "keys the newest token sees")
        ->capture_default_str()
        ->check(CLI::Range(int64_t{0}, int64_t{1} << 30));
    d->add_option("--batch", day0.batch, "requests")
        ->capture_default_str()
        ->check(CLI::Range(int64_t{0}, int64_t{1} << 20));
    d->add_option("--queries", day0.queries, "query tokens of a request")
        ->capture_default_str()
        ->check(CLI::Range(1, 8));
    d->add_flag("--beyond-max", day0.beyond_max, "allow a context past the model's maximum");
    d->add_option("--form", day0.form, "selection: separate, fused or both")->capture_default_str();
    d->add_option("--experts", day0.experts,
                  "the layer's routed experts too: on, off or auto (up to 8 tokens)")
        ->capture_default_str();
    add_common(*d, common);

    auto* r = add(app, "run", "one kernel: run KERNEL key=value ...",
                  [](Verbs& v) { return cli::run(v.name, v.words, v.common); });
    r->add_option("kernel", name)->required();
    r->add_option("words", words, "key=value");
    add_common(*r, common);

    auto* s = add(app, "study", "a YAML list of runs: table and computed verdicts",
                  [](Verbs& v) { return cli::study(v.file, v.common); });
    s->add_option("file", file, "study file, or a name in configs/studies")->required();
    add_common(*s, common);

    auto* w = add(app, "sweep", "a chip's knobs varied over a grid or at random, one process a run",
                  [](Verbs& v) { return cli::sweep(v.sweep); });
    w->add_option("file", sweep.file, "sweep file, or a name in configs/sweeps")->required();
    w->add_option("--jobs", sweep.jobs, "runs at a time")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    w->add_option("--out", sweep.out, "folder for results.jsonl, results.csv and every record");
    w->add_flag("--resume", sweep.resume, "go on in a folder that holds results");
    auto* dry =
        w->add_flag("--dry-run", sweep.dry_run, "print the number of runs and the estimated time");
    w->add_flag("--json", sweep.json, "of a dry run: axes and points as JSON, nothing is timed")
        ->needs(dry);
    w->add_option("--points", sweep.points, "file with numbers of points, one a line: only those");
    auto* on_slurm = w->add_flag_callback(
        "--slurm", [this] { array_of_sweep(); }, "as job arrays of Slurm");
    on_slurm->excludes("--jobs");
    w->add_option_function<std::string>(
         "--partition", [this](const std::string& s) { array_of_sweep().partition = s; },
         "Slurm's partition")
        ->needs(on_slurm);
    w->add_option_function<int>(
         "--points-per-task", [this](int n) { array_of_sweep().points_per_task = n; },
         "points that one task of an array runs (default 20)")
        ->check(CLI::Range(1, 100'000))
        ->needs(on_slurm);
    w->add_flag("--task", sweep.task, "what a task of an array runs: beside others, no tables")
        ->needs("--points")
        ->excludes(on_slurm);

    auto* p = add(app, "pareto", "the points of a sweep that no other one beats in everything",
                  [](Verbs& v) { return cli::pareto(v.pareto); });
    p->add_option("folder", pareto.folder, "folder of a sweep")->required();
    p->add_option("--objectives", pareto.objectives, "figures to keep small, with commas")
        ->delimiter(',')
        ->capture_default_str();
    p->add_flag("--json", pareto.json, "JSON on standard output");

    auto* e = add(app, "explain", "what a knob means, its unit, range, default and source",
                  [](Verbs& v) { return cli::explain(v.name, v.common); });
    e->add_option("knob", name, "e.g. chip.core.dma.outstanding")->required();
    add_common(*e, common);

    add(app, "kernels", "the kernels of the library",
        [](Verbs& v) { return list_kernels(v.common); });
    add(app, "chips", "the chip presets", [](Verbs& v) { return list_chips(v.common); });
    add(app, "schema",
        "what files may say: chip, model, sweep, workload (JSON schemas), knobs, instructions (tables)",
        [](Verbs& v) { return cli::schema(v.name); })
        ->add_option("what", name)
        ->required();

    auto* a = add(app, "asm", "a program's text form to its binary form",
                  [](Verbs& v) { return assemble_file(v.file, v.out); });
    a->add_option("file", file, "text or binary form")->required();
    a->add_option("--to", out, "file to write")->required();

    declare_trace(app);

    auto* c = add(app, "check", "runs a list and compares with committed records",
                  [](Verbs& v) { return cli::check(v.check); });
    c->add_option("--golden", check.folder, "folder with golden.yaml and the records")->required();
    c->add_option("--junit", check.junit, "file for the results as JUnit XML");

    auto* x = add(app, "disasm", "a program file, or a task of a kernel, as text",
                  [](Verbs& v) { return disassemble(v.name, v.words, v.task, v.common); });
    x->add_option("what", name, "file, or kernel")->required();
    x->add_option("words", words, "key=value of a kernel");
    x->add_option("--task", task, "task number")
        ->capture_default_str()
        ->check(CLI::NonNegativeNumber);
    add_common(*x, common);
  }
};

int fail(int code, const std::string& sentence) {
  std::cerr << "daybreak: " << sentence << "\n";
  return code;
}

int run_command(int argc, char** argv) {
  CLI::App app(
      "Daybreak: will this model run on that accelerator, correctly, how fast, and what holds it back?");
  app.set_version_flag("--version", DAYBREAK_VERSION);
  app.require_subcommand(1);
  Verbs verbs;
  verbs.declare(app);
  try {
    std::vector<std::string> known;
    for (const auto* verb : app.get_subcommands({})) known.push_back(verb->get_name());
    if (argc > 1 && argv[1][0] != '-' && std::ranges::find(known, argv[1]) == known.end())
      throw UserError(configs::in_quotes(argv[1]) + " is not " + configs::any_of(known) +
                      configs::did_you_mean(argv[1], known));
    app.parse(argc, argv);
    const int code = verbs.chosen(verbs);
    std::cout.flush();
    if (!std::cout) throw UserError("standard output cannot be written");
    return code;
  } catch (const CLI::Success& e) { return app.exit(e); } catch (const CLI::ParseError& e) {
    return fail(2, std::string(e.what()) + "; daybreak --help lists the verbs and their options");
  } catch (const UserError& e) { return fail(2, e.what()); } catch (const CheckError& e) {
    return fail(1, e.what());
  } catch (const InvariantError& e) { return fail(3, e.what()); }
}

}  // namespace
}  // namespace daybreak::cli

int main(int argc, char** argv) { return daybreak::cli::run_command(argc, argv); }

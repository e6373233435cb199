"""The command `hsb`: experiments, bounds and the report of errors. Commands about logs are in `log_commands.py`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer import Argument, Option

from ..errors import FileError, InputError
from ..evaluate.engines import check_engine
from ..experiments import load_experiments
from ..experiments.base import Experiment, Options
from ..experiments.custom import CustomComparison
from ..experiments.runner import PartFailed
from ..experiments.spec import read
from ..experiments.study import conduct
from . import output, version
from .bounds import bounds
from .compare_commands import evaluate
from .journal_commands import journal
from .log_commands import convert, explain, replay, train
from .messages import in_options
from .options import flatten_options
from .serve_command import serve

USAGE: type[Exception] = typer.BadParameter.__bases__[0]  # base of the parser's errors, which has no public name
STOPPED = 130

HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="hsb", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=HELP
)


@dataclass(frozen=True)
class Running:
    """Options for running experiments."""

    jobs: Annotated[int | None, Option(min=1, help="Number of parts to run at a time; by default one for each core.")] = None
    engine: Annotated[str, Option(help="Where parts run: local, dask or ray.")] = "local"
    strict: Annotated[
        bool,
        Option(
            "--strict",
            help="Exit with 1 unless every claim holds; a tie does not hold. Other readings of the paper are not counted.",
        ),
    ] = False


Out = Annotated[Path, Option(help="Folder for the report, the figures and finished parts.")]


@app.callback(invoke_without_command=True)
def hsb(
    show: Annotated[bool, Option("--version", help="Print the version, and which engine runs the rounds, and why.")] = False,
) -> None:
    """Contextual decisions with a guarantee.

    Logs of past decisions (train, evaluate, replay), the service (serve), comparisons on known losses (run), and the
    paper's experiments (reproduce). hsb COMMAND --help describes each of them.

    Example: hsb evaluate shop.csv --arm shown --propensity p --reward click --policy now.hsb --policy new.hsb
    """
    if show:
        typer.echo(version())
        raise typer.Exit


@app.command()
@flatten_options
def reproduce(
    running: Running,
    experiment: Annotated[str, Argument(help="stationary, nonstationary, today, landsat, illustrations, or all.")] = "all",
    out: Out = Path("out/reproduce"),
    seed: Annotated[int, Option(min=0, help="Seed of all random numbers.")] = 0,
    quick: Annotated[bool, Option("--quick", help="Run at a much smaller size, as a trial.")] = False,
    data: Annotated[Path | None, Option(help="Directory with Yahoo's R6A or R6B files, for today.")] = None,
    visits: Annotated[
        int | None, Option(min=1000, help="Number of visits of each synthetic log, for today; the paper's log has 28041015.")
    ] = None,
    depth: Annotated[
        list[int] | None,
        Option(min=1, max=52, help="Depth of the trees instead of the paper's; repeat the option for several."),
    ] = None,
    runs: Annotated[int | None, Option(min=2, help="Number of data sets, logs or repetitions.")] = None,
    rounds: Annotated[int | None, Option(min=100, help="Rounds of each data set, for stationary and nonstationary.")] = None,
) -> None:
    """Run the paper's experiments again, its Section VI.

    The command draws all figures, and reports for every claim whether it holds, does not hold, or is a tie.

    Finished parts are kept in the folder and not run again: to resume an interrupted run, repeat the command.

    Example: hsb reproduce stationary --out out/stationary --jobs 2

    Example: hsb reproduce stationary --depth 5 --depth 7 --runs 5 --rounds 20000
    """
    depths = tuple(sorted(set(depth))) if depth else None
    options = Options(seed, quick, data, visits, depths, runs, rounds)
    carry_out(load_experiments(experiment), options, out, running, title="Section VI, run again")


@app.command()
@flatten_options
def run(
    running: Running,
    spec: Annotated[Path, Argument(help="A TOML file of settings; docs/api/experiments.md shows one.", metavar="SPEC.toml")],
    out: Out = Path("out/run"),
    seed: Annotated[int | None, Option(min=0, help="Seed to use instead of the file's.")] = None,
) -> None:
    """Compare policies where every arm's loss is known.

    Policies of your choice play a problem, or a CSV file of losses. The report is like that of reproduce.
    The first policy is compared with each of the others. To compare policies on a log of past decisions, use hsb evaluate.

    A policy, a problem or a structure may be your class: policy = "module:Class" imports the module from Python's path or the
    current directory, which runs its code. Other keys of the table are arguments of the class.

    Example: hsb run comparison.toml --out out/mine
    """
    comparison = CustomComparison(read(spec))
    carry_out(
        [comparison], Options(seed=comparison.spec["seed"] if seed is None else seed), out, running, title=comparison.heading
    )


def carry_out(experiments: Sequence[Experiment], options: Options, out: Path, running: Running, *, title: str) -> None:
    """Run experiments with a progress bar; print their claims and the path of the report.

    With `strict`, exit with 1 if a claim does not hold, other readings of the paper aside.
    """
    check_engine(running.engine)
    with output.bar(experiments[0].name if len(experiments) == 1 else "all") as progress:
        result = conduct(experiments, options, out, jobs=running.jobs, engine=running.engine, progress=progress, title=title)
    console = Console()
    claims = [claim for study in result.studies for claim in study.analysis.claims]
    output.claims(claims, console, options)
    output.report_path(result.report, result.seconds, console)
    if running.strict and not all(claim.holds for claim in claims if claim.origin != "reading"):
        raise typer.Exit(1)


app.command()(bounds)
app.command()(serve)
app.add_typer(journal)
for command in (replay, train, evaluate, explain, convert):
    app.command()(flatten_options(command))


def start(arguments: list[str]) -> int:
    """Run a command and return its exit code. Errors that a user can fix are one line on stderr."""
    try:
        code = app(arguments or ["--help"], prog_name="hsb", standalone_mode=False)
        if code == STOPPED:  # the parser catches Ctrl-C first
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except USAGE as error:
        message = (error.format_message() if hasattr(error, "format_message") else str(error)).rstrip(".")
        hint = f"See {getattr(getattr(error, 'ctx', None), 'command_path', 'hsb')} --help."
        return _fail(f"{message}{'.' * (not message.endswith('?'))} {hint}" if message else hint, 2)
    except (InputError, FileError, PartFailed) as error:
        return _fail(in_options(str(error)), 2 if not isinstance(error, PartFailed) else 1)
    except OSError as error:
        return _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}.", 2)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("Interrupted. Finished parts and checkpoints are kept; run the same command to resume.", STOPPED)


def _fail(message: str, code: int) -> int:
    sys.stdout.flush()
    print("hsb: " + " ".join(message.split()), file=sys.stderr)
    return code

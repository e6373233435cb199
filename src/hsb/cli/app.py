"""The command `hsb`: what runs experiments, what prints bounds, and how errors are told. Those about logs are in `log_commands.py`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer import Argument, Option

from .. import __version__
from ..errors import FileError, InputError
from ..evaluate.engines import check_engine
from ..experiments import named
from ..experiments.base import Experiment, Options
from ..experiments.custom import CustomComparison
from ..experiments.runner import PartFailed
from ..experiments.spec import read
from ..experiments.study import conduct
from . import output
from .bounds import bounds
from .compare_commands import evaluate
from .journal_commands import journal
from .log_commands import convert, explain, replay, train
from .messages import in_options
from .options import flat
from .serve_command import serve
from .warmup import warmup

USAGE: type[Exception] = typer.BadParameter.__bases__[0]  # the parser's own errors: it does not name their class
STOPPED = 130

HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(
    name="hsb", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=HELP
)


@dataclass(frozen=True)
class Running:
    """How experiments are run, and what their exit code says."""

    jobs: Annotated[int | None, Option(min=1, help="Parts to run at a time; by default one for each core.")] = None
    engine: Annotated[str, Option(help="Where parts run: local, dask or ray.")] = "local"
    strict: Annotated[
        bool,
        Option(
            "--strict", help="Exit with 1 unless every claim holds; a tie does not. Other readings of the paper do not count."
        ),
    ] = False


Out = Annotated[Path, Option(help="Folder for the report, the figures and finished parts.")]


@app.callback(invoke_without_command=True)
def hsb(version: Annotated[bool, Option("--version", help="Print the version.")] = False) -> None:
    """Contextual decisions with a guarantee.

    Logs of past decisions (train, evaluate, replay), the service (serve), comparisons on known losses (run), and the
    paper's experiments (reproduce). hsb COMMAND --help says more of each.

    Example: hsb evaluate shop.csv --arm shown --propensity p --reward click --policy now.hsb --policy new.hsb
    """
    if version:
        from ..engine.kernels.jit import engine, reason

        typer.echo(f"hsb {__version__}, engine {engine}: {reason}")
        raise typer.Exit


@app.command()
@flat
def reproduce(
    running: Running,
    experiment: Annotated[str, Argument(help="stationary, nonstationary, today, landsat, illustrations, or all.")] = "all",
    out: Out = Path("out/reproduce"),
    seed: Annotated[int, Option(min=0, help="What every random number follows from.")] = 0,
    quick: Annotated[bool, Option("--quick", help="A much smaller size, to see that it works.")] = False,
    data: Annotated[Path | None, Option(help="Directory with Yahoo's R6A or R6B files, for today.")] = None,
    visits: Annotated[
        int | None, Option(min=1000, help="Visits of each synthetic log, for today; the paper's log has 28041015.")
    ] = None,
    depth: Annotated[
        list[int] | None, Option(min=1, max=52, help="A depth of the trees instead of the paper's; repeat it for several.")
    ] = None,
    runs: Annotated[int | None, Option(min=2, help="How many data sets, logs or repetitions are played.")] = None,
    rounds: Annotated[int | None, Option(min=100, help="Rounds of each data set, for stationary and nonstationary.")] = None,
) -> None:
    """Run the paper's experiments again, its Section VI.

    All its figures are drawn, and every claim is said to hold, not to hold, or to be a tie.

    Finished parts are kept in the folder and not run again: a run that was stopped goes on where it was.

    Example: hsb reproduce stationary --out out/stationary --jobs 2

    Example: hsb reproduce stationary --depth 5 --depth 7 --runs 5 --rounds 20000
    """
    depths = tuple(sorted(set(depth))) if depth else None
    options = Options(seed, quick, data, visits, depths, runs, rounds)
    carry_out(named(experiment), options, out, running, title="Section VI, run again")


@app.command()
@flat
def run(
    running: Running,
    spec: Annotated[Path, Argument(help="A TOML file of settings; docs/api/experiments.md shows one.", metavar="SPEC.toml")],
    out: Out = Path("out/run"),
    seed: Annotated[int | None, Option(min=0, help="Instead of the file's seed.")] = None,
) -> None:
    """Compare policies where every arm's loss is known.

    Policies of your choice play a problem, or a CSV file of losses; the report is like that of reproduce.
    The first policy is weighed against each of the others. On a log of past decisions hsb evaluate compares them.

    A policy, a problem or a structure may be a class of your own: policy = "module:Class" imports the module, which runs its
    code, from Python's path or the current directory; other keys of the table are its arguments.

    Example: hsb run comparison.toml --out out/mine
    """
    own = CustomComparison(read(spec))
    carry_out([own], Options(seed=own.spec["seed"] if seed is None else seed), out, running, title=own.heading)


def carry_out(experiments: Sequence[Experiment], options: Options, out: Path, running: Running, *, title: str) -> None:
    """Run, with a bar; print claims and the report's path; exit with 1 where `strict` and a claim, other readings apart, does not hold."""
    check_engine(running.engine)
    with output.bar(experiments[0].name if len(experiments) == 1 else "all") as progress:
        done = conduct(experiments, options, out, jobs=running.jobs, engine=running.engine, progress=progress, title=title)
    console = Console()
    claims = [claim for study in done.studies for claim in study.analysis.claims]
    output.claims(claims, console, options)
    output.where(done.report, done.seconds, console)
    if running.strict and not all(claim.holds for claim in claims if claim.origin != "reading"):
        raise typer.Exit(1)


app.command()(bounds)
app.command()(warmup)
app.command()(serve)
app.add_typer(journal)
for command in (replay, train, evaluate, explain, convert):
    app.command()(flat(command))


def start(arguments: list[str]) -> int:
    """Run a command; its exit code. Errors that a user can mend are one line on stderr."""
    try:
        code = app(arguments or ["--help"], prog_name="hsb", standalone_mode=False)
        if code == STOPPED:  # the parser hears Ctrl-C first
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except USAGE as error:
        said = (error.format_message() if hasattr(error, "format_message") else str(error)).rstrip(".")
        where = f"See {getattr(getattr(error, 'ctx', None), 'command_path', 'hsb')} --help."
        return _fail(f"{said}{'.' * (not said.endswith('?'))} {where}" if said else where, 2)
    except (InputError, FileError, PartFailed) as error:
        return _fail(in_options(str(error)), 2 if not isinstance(error, PartFailed) else 1)
    except OSError as error:
        return _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}.", 2)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("stopped; finished parts are kept, checkpoints too, and the same command goes on from there.", STOPPED)


def _fail(message: str, code: int) -> int:
    sys.stdout.flush()
    print("hsb: " + " ".join(message.split()), file=sys.stderr)
    return code

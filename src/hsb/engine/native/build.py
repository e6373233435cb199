"""Build the native engine: `python -m hsb.engine.native.build`. It needs Numba, and a C compiler or the one in the package ziglang.

The kernels are typed and lowered once, optimised and emitted for each processor level, and linked with the glue into one library that every
Python from 3.11 on can load. Equal sources give equal bytes. `--platform` links for other systems too (`platforms.py`), which needs ziglang.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .platforms import OTHERS, Platform, find_compiler, here

HERE = Path(__file__).parent
ALLOWED = {"memset", "sqrt"}  # a square root is an instruction


def main() -> int:
    """Build the library in its place in the package, or in another folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=HERE, help="folder for the library")
    parser.add_argument("--level", action="append", help="build for this processor level only; may be repeated")
    parser.add_argument("--if-stale", action="store_true", help="do nothing if the library was built from these sources")
    parser.add_argument(
        "--platform", action="append", help=f"also link for this system, in a folder of that name: {', '.join(OTHERS)}"
    )
    options = parser.parse_args()
    os.environ["HSB_ENGINE"] = "build"
    from . import library_name, load, sources_digest

    target = options.out / library_name()
    if options.if_stale and options.out == HERE and load()[0] is not None:
        return 0
    compiler = find_compiler()
    if compiler is None:
        print("hsb: found no C compiler (cc, gcc, clang, or the package ziglang). Numba will compile the kernels at first use.")
        return 0
    lowered = lower_all()
    targets = [(here(compiler, options.level), target)]
    for name in options.platform or ():
        targets.append((OTHERS[name], options.out / name / OTHERS[name].library))
    for platform, path in targets:
        path.parent.mkdir(parents=True, exist_ok=True)
        link(lowered, platform, path, sources_digest())
        print(f"hsb: built {path.relative_to(options.out)}, {path.stat().st_size:,} bytes")
    return 0


def declared() -> Iterator[tuple[str, Any, tuple[str, ...], bool]]:
    """Return every kernel in a fixed order: its name, function, argument types, and whether it runs without the GIL."""
    from ..kernels import jit

    for package in ("hsb.engine.kernels", "hsb.experiments.paper.kernels"):
        module = importlib.import_module(package)
        for info in sorted(pkgutil.iter_modules(module.__path__), key=lambda each: each.name):
            if not info.ispkg:
                importlib.import_module(f"{package}.{info.name}")
    yield from jit.declared


class Lowered(NamedTuple):
    """The kernels as LLVM bitcode, and their entries: symbol, kernel, letters, and whether it runs without the GIL."""

    bitcode: bytes
    signatures: Sequence[tuple[str, str, str, bool]]


def lower_all() -> Lowered:
    """Type and lower every kernel. Afterwards this process cannot call code that Numba compiles."""
    import llvmlite.binding as llvm

    from . import lower

    lower.take_over()
    entries = lower.Entries()
    for name, function, words, free in declared():
        for each in words:
            entries.add(name, function, each, free=free)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return Lowered(entries.link().as_bitcode(), entries.signatures)


def link(lowered: Lowered, platform: Platform, target: Path, digest: str) -> None:
    """Optimise, emit and link for a system; replace the library once the new one is complete."""
    bitcode, signatures = lowered
    with tempfile.TemporaryDirectory() as folder:
        objects = [f"engine{number}.o" for number in range(len(platform.levels))]
        emitted = partial(emit, bitcode, [symbol for symbol, *_ in signatures], platform.triple)
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # LLVM runs without the GIL
            for name, code in zip(objects, pool.map(emitted, platform.levels, range(len(objects))), strict=True):
                Path(folder, name).write_bytes(code)
        Path(folder, "table.h").write_text(table(signatures, platform.levels, digest))
        shutil.copy(HERE / "glue.c", folder)
        flags = ["-shared", "-fPIC", "-O2", "-fvisibility=hidden", "-I.", *platform.flags]
        more = platform.prepare(folder)
        command = [*platform.compiler, *flags, "glue.c", *objects, *more, "-o", target.name]
        subprocess.run(command, cwd=folder, check=True)
        library = Path(folder, target.name).read_bytes()
    from . import NOTE

    for path, content in (
        (target, library),
        (target.with_name(NOTE), f"{digest} {hashlib.sha256(library).hexdigest()}\n".encode()),
    ):
        staged = path.with_name(path.name + ".new")
        staged.write_bytes(content)
        os.replace(staged, path)


def emit(bitcode: bytes, symbols: Sequence[str], triple: str, level: str, number: int) -> bytes:
    """Return machine code for one processor level; the names of its entries end with the level's number."""
    import llvmlite.binding as llvm

    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=level, opt=3, reloc="pic", codemodel="default")
    module = llvm.parse_bitcode(bitcode)
    module.triple, module.data_layout = triple, str(machine.target_data)
    for symbol in symbols:
        module.get_function(symbol).name = f"{symbol}_{number}"
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    undefined = {each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")}
    if undefined - ALLOWED:
        raise SystemExit(f"the kernels call functions outside the library: {', '.join(sorted(undefined - ALLOWED))}")
    code: bytes = machine.emit_object(module)
    return code


def table(signatures: Sequence[tuple[str, str, str, bool]], levels: Sequence[str], digest: str) -> str:
    """Return the header that the glue includes: every variant of every kernel, level by level."""
    lines = [f'#define DIGEST "{digest}"', f'#define NAMES "{" ".join(levels)}"', f"#define COUNT {len(levels)}"]
    for number in range(len(levels)):
        lines += [f"int32_t {symbol}_{number}(int64_t *, int64_t *);" for symbol, *_ in signatures]
        lines.append(f"static const Variant variants{number}[] = {{")
        lines += [
            f'    {{"{name}", "{letters}", {int(free)}, {symbol}_{number}}},' for symbol, name, letters, free in signatures
        ]
        lines.append("};")
    lines.append("static const Level LEVELS[] = {")
    lines += [f'    {{"{level}", variants{number}, {len(signatures)}}},' for number, level in enumerate(levels)]
    return "\n".join([*lines, "};"]) + "\n"


if __name__ == "__main__":
    sys.exit(main())

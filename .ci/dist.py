"""Build sdist and wheel, check their metadata, and try each in an empty environment; link wheels for other systems: make dist."""

import base64
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path
from platform import machine

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 2_000_000  # bytes of a wheel
NEEDED = ("hsb/py.typed", "hsb/serve/page/static/page.css", "hsb/serve/page/templates/base.html")
TRY = """
import pathlib, sys, tempfile, hsb
policy = hsb.HSB(arms=["a", "b"], seed=0)
for t in range(50):
    decision = policy.decide({"device": "web" if t % 2 else "ios", "hour": t % 24})
    policy.learn(decision, reward=float(decision.arm == "a"))
path = pathlib.Path(tempfile.mkdtemp()) / "policy.hsb"
policy.save(path)
assert hsb.load(path).digest() == policy.digest()
from hsb.engine.kernels.jit import engine
assert engine == "native" and "numba" not in sys.modules
print(hsb.__version__)
"""
SERVE = """
import json, os, subprocess, sys, tempfile, time, urllib.request
folder, key = tempfile.mkdtemp(), "hsb_" + "A" * 32
command = [sys.executable, "-m", "hsb", "serve", "--port", "0", "--db", os.path.join(folder, "hsb.db")]
service = subprocess.Popen(command, env=os.environ | {"HSB_ADMIN_KEY": key}, stdout=subprocess.PIPE, text=True)
try:
    url = service.stdout.readline().split(": ", 1)[1].split()[0]
    def ask(path, body):
        given = urllib.request.Request(url + path, json.dumps(body).encode(), {"authorization": "Bearer " + key})
        for _ in range(100):
            try:
                return json.load(urllib.request.urlopen(given, timeout=60))
            except urllib.error.URLError as error:
                if getattr(error, "code", 503) != 503: raise
                time.sleep(0.1)
    ask("/v1/policies", {"name": "home", "arms": ["a", "b"]})
    decision = ask("/v1/policies/home/decisions", {"context": {"age": 31}})
    assert ask(f"/v1/decisions/{decision['id']}/reward", {"reward": 1})["status"] == "learned"
finally:
    service.terminate()
    assert service.wait(30) == 0
"""


def run(*command: str | Path) -> str:
    """Run a command and return its output; print the output if the command fails."""
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:6]))} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def check(wheel: Path, sdist: Path) -> str:
    """Return the version in the metadata; exit if the metadata or the files are incomplete."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (place,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        about = Parser().parsestr(archive.read(place).decode())
    version = re.search(r'^__version__ = "(.+)"$', (ROOT / "src/hsb/__init__.py").read_text(), re.M)
    wrong = [
        *(f"the wheel lacks {name}" for name in NEEDED if name not in names),
        *(f"the wheel holds {name}" for name in names if name.startswith("tests/") or "__pycache__" in name),
        *(
            f"the metadata has no {name}"
            for name in ("Summary", "License-Expression", "Description-Content-Type", "Requires-Python")
            if not about[name]
        ),
    ]
    if version is None or about["Version"] != version[1]:
        wrong.append(f"the metadata has version {about['Version']}, the source has {version and version[1]}")
    if "# hsb" not in about.get_payload():
        wrong.append("the metadata has no README")
    if relative := re.findall(r"\]\((?!https?://|#)([^)]+)\)", about.get_payload()):
        wrong.append(f"the built README has relative links, which an index does not follow: {', '.join(relative)}")
    if wheel.stat().st_size > LARGEST:
        wrong.append(f"the wheel has {wheel.stat().st_size:,} bytes")
    with tarfile.open(sdist) as archive:
        if not any(name.endswith("/tests/naive/mixture.py") for name in archive.getnames()):
            wrong.append("the sdist lacks the tests")
    if wrong:
        sys.exit("dist: " + "; ".join(wrong) + ".")
    return about["Version"]


def try_out(file: Path, extra: str, programs: tuple[str, ...]) -> None:
    """Install a file into an empty environment, away from the sources, and run the programs there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", f"{file}{extra}")
        for program in programs:
            run(python, "-I", "-c", program)
        run(python, "-m", "pip", "check")
    print(f"{file.name}{extra}: installed, tried")


def others(wheel: Path) -> list[Path]:
    """Build the wheel of each other system: the same files with another library. On Linux, one of them is the wheel to publish."""
    from hsb.engine.native import NOTE, library_name
    from hsb.engine.native.platforms import OTHERS

    here, place, wheels = wheel.stem.rsplit("-", 1)[-1], "hsb/engine/native/", []
    with tempfile.TemporaryDirectory() as folder:
        options = [option for name in OTHERS for option in ("--platform", name)]
        run(sys.executable, "-m", "hsb.engine.native.build", "--out", folder, *options)
        for name, platform in OTHERS.items():
            built = Path(folder, name)
            with zipfile.ZipFile(wheel) as archive:
                files = {each: archive.read(each) for each in archive.namelist() if each != place + library_name()}
            (about,) = [each for each in files if each.endswith(".dist-info/WHEEL")]
            (record,) = [each for each in files if each.endswith(".dist-info/RECORD")]
            files[about] = files[about].replace(here.encode(), platform.wheel.encode())
            files |= {place + file: (built / file).read_bytes() for file in (platform.library, NOTE)}
            del files[record]
            rows = [f"{path},sha256={encoded(body)},{len(body)}" for path, body in files.items()]
            files[record] = "\n".join([*rows, f"{record},,", ""]).encode()
            wheels.append(wheel.with_name(wheel.name.replace(here, platform.wheel)))
            with zipfile.ZipFile(wheels[-1], "w", zipfile.ZIP_DEFLATED) as archive:
                for path, body in files.items():
                    archive.writestr(zipfile.ZipInfo(path, (2020, 2, 2, 0, 0, 0)), body, zipfile.ZIP_DEFLATED)
    return wheels


def encoded(body: bytes) -> str:
    """Return a digest in the encoding of a wheel's record."""
    return base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()


def main() -> None:
    """Build, check and try everything."""
    target = ROOT / "dist"
    target.mkdir(exist_ok=True)
    for old in target.iterdir():
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", target, ROOT)
    (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    version = check(wheel, sdist)
    run(sys.executable, "-m", "abi3audit", "--strict", wheel)
    try_out(wheel, "", (TRY,))
    try_out(sdist, "", (TRY,))
    try_out(wheel, "[serve]", (TRY, SERVE))
    for other in others(wheel):
        run(sys.executable, "-m", "twine", "check", "--strict", other)
        if re.search(f"{sys.platform}.*{machine()}.whl$", other.name):
            try_out(other, "", (TRY,))
        else:
            print(f"{other.name} ({other.stat().st_size:,} bytes): linked, not tried here")
    print(f"hsb {version}: {wheel.name} ({wheel.stat().st_size:,} bytes), {sdist.name} ({sdist.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()

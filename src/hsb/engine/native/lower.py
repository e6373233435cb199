"""Lower the kernels to one LLVM module: Numba's code of each function, linked together, with an entry for each variant of a kernel.

Numba types and lowers. It does not optimise, link or emit the parts one by one, which would take most of its time. An entry is
`int32 name(int64 *in, int64 *out)`: arrays (pointer, shape, strides) and numbers are passed as words, and so are results.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils, codegen, cpu
from numba.core.compiler_lock import global_compiler_lock
from numba.cpython import slicing
from numba.np import arrayobj

from .signatures import split

types: Any = numba.types
I64 = ir.IntType(64)
I32 = ir.IntType(32)
F64 = ir.DoubleType()
SCALARS: dict[str, Any] = {
    "d": types.float64,
    "l": types.int64,
    "u": types.uint64,
    "b": types.boolean,
    "c": types.uint8,
    "a": types.int8,
    "i": types.int32,
}

handles: list[Any] = []
libraries: list[Any] = []  # every library of code that was lowered, in order


_begin = codegen.CPUCodeLibrary.__init__


def _keep(self: Any, *arguments: Any) -> None:
    _begin(self, *arguments)
    libraries.append(self)


def _finalize(self: Any) -> None:
    """Keep the part as it is, instead of linking, optimising and emitting it as Numba does."""
    self._finalized = True


def _executable(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
    """Return a handle that cannot be called, instead of Numba's executable."""
    handles.append(handle := [None])
    return handle.append  # Numba finds a function's code by this object, which must be builtin and unique


def _index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """Return an index as it is, even if it is negative."""
    return context.cast(builder, index, kind, types.intp if kind.signed else types.uintp)


def _cut(builder: Any, part: Any, size: Any) -> None:
    """Let a slice end where its array ends; its bounds are not negative, and it has no step."""
    part.stop = builder.select(builder.icmp_signed("<", part.stop, size), part.stop, size)


def take_over() -> None:
    """Make this process lower only. It cannot call code that Numba compiles afterwards."""
    codegen.CPUCodeLibrary.__init__ = _keep
    codegen.CPUCodeLibrary.finalize = _finalize
    cpu.CPUContext.get_executable = _executable
    count_from_the_start()


def count_from_the_start() -> None:
    """Let no index and no slice count from the end, in all that Numba compiles from now on: kernels have none that does.

    The tests for it would take a fifth of a round. With NUMBA_BOUNDSCHECK=1 a negative index is then an error (`tests/conftest.py`).
    """
    arrayobj.fix_integer_index = _index
    slicing.fix_slice = _cut


def numba_type(word: str, names: dict[str, Any]) -> Any:
    """Return the type that a word stands for; `names` are the globals of the kernel's module."""
    if "(" in word:
        name, _, rest = word.partition("(")
        parts = [numba_type(each, names) for each in split(rest[:-1])]
        if not name:
            return types.Tuple(parts)
        if len(set(parts)) == 1:
            return types.NamedUniTuple(parts[0], len(parts), names[name])
        return types.NamedTuple(parts, names[name])
    if word[0].isupper():
        return types.Array(SCALARS[word[0].lower()], int(word[1]), "A" if word.endswith("*") else "C")
    return SCALARS[word]


def letters_of(word: str) -> str:
    """Return a word as the glue reads it.

    >>> letters_of("Rounds(L2 d)"), letters_of("D2*")
    ('(L2d)', 'D2*')
    """
    if "(" in word:
        return f"({''.join(map(letters_of, split(word.partition('(')[2][:-1])))})"
    return word


class Entries:
    """The module with all entries, and the argument and result types of each."""

    def __init__(self) -> None:
        self.module = ir.Module("hsb_engine")
        self.signatures: list[tuple[str, str, str, bool]] = []  # symbol, kernel's name, letters, without the GIL

    @global_compiler_lock
    def add(self, name: str, function: Any, declared: str, *, free: bool) -> None:
        """Lower a variant of a kernel and make its entry."""
        symbol, words, dispatcher = f"{name.replace('.', '_')}_{len(self.signatures)}", split(declared), function
        arguments = tuple(numba_type(word, dispatcher.py_func.__globals__) for word in words)
        dispatcher.compile(arguments)
        result = dispatcher.overloads[arguments]
        context, fndesc = result.target_context, result.fndesc
        callee = ir.Function(
            self.module, context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes), fndesc.llvm_func_name
        )
        entry = ir.Function(self.module, ir.FunctionType(I32, [I64.as_pointer(), I64.as_pointer()]), symbol)
        builder = ir.IRBuilder(entry.append_basic_block())
        read = _Words(context, builder, entry.args[0])
        values = [read.value(kind) for kind in fndesc.argtypes]
        status, returned = context.call_conv.call_function(builder, callee, fndesc.restype, fndesc.argtypes, values)
        letters = _write(context, builder, entry.args[1], fndesc.restype, returned, [0])
        builder.ret(builder.zext(status.code, I32) if status.code.type.width < 32 else status.code)
        self.signatures.append((symbol, name, "".join(map(letters_of, words)) + ">" + letters, free))

    def link(self) -> Any:
        """Return all parts and the entries as one module, in which only the entries are visible from outside."""
        whole = llvm.parse_assembly(str(self.module))
        entries = {symbol for symbol, *_ in self.signatures}
        seen = set()
        for library in libraries:
            if id(library) not in seen:
                seen.add(id(library))
                part = library._final_module.clone()
                for function in part.functions:
                    if not function.is_declaration and function.linkage in (llvm.Linkage.external, llvm.Linkage.linkonce_odr):
                        function.linkage = llvm.Linkage.weak_odr  # keep it, even if nothing linked so far calls it
                whole.link_in(part, preserve=True)
        for function in whole.functions:
            if not function.is_declaration:
                function.linkage = llvm.Linkage.external if function.name in entries else llvm.Linkage.internal
        for variable in whole.global_variables:
            if variable.linkage not in (llvm.Linkage.internal, llvm.Linkage.private) and not variable.is_declaration:
                variable.linkage = llvm.Linkage.internal
        whole.verify()
        return whole


class _Words:
    """Reader of arguments from a row of words."""

    def __init__(self, context: Any, builder: Any, row: Any) -> None:
        self.context, self.builder, self.row, self.at = context, builder, row, 0

    def word(self) -> Any:
        pointer = self.builder.gep(self.row, [ir.Constant(I64, self.at)])
        self.at += 1
        return self.builder.load(pointer)

    def value(self, kind: Any) -> Any:
        """Return an argument in Numba's internal form."""
        context, builder = self.context, self.builder
        if isinstance(kind, types.BaseTuple):
            return context.make_tuple(builder, kind, [self.value(each) for each in kind.types])
        if isinstance(kind, types.Array):
            return self._array(kind)
        word = self.word()
        if kind == types.float64:
            return builder.bitcast(word, F64)
        if kind == types.boolean:
            return builder.icmp_unsigned("!=", word, ir.Constant(I64, 0))
        width = context.get_value_type(kind).width
        return word if width == 64 else builder.trunc(word, ir.IntType(width))

    def _array(self, kind: Any) -> Any:
        context, builder = self.context, self.builder
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        array = arrayobj.make_array(kind)(context, builder)
        data = builder.inttoptr(self.word(), context.get_data_type(kind.dtype).as_pointer())
        shape = [self.word() for _ in range(kind.ndim)]
        strides = [self.word() for _ in range(kind.ndim)]
        arrayobj.populate_array(
            array,
            data=data,
            shape=cgutils.pack_array(builder, shape),
            strides=cgutils.pack_array(builder, strides),
            itemsize=context.get_constant(types.intp, size),
            meminfo=None,
            parent=None,
        )
        return array._getvalue()


def _write(context: Any, builder: Any, out: Any, kind: Any, value: Any, next_word: list[int]) -> str:
    """Write a result as words; return the letters of its types."""
    if kind == types.none or isinstance(kind, types.Omitted):
        return "-"
    if isinstance(kind, types.BaseTuple):
        parts = [builder.extract_value(value, k) for k in range(len(kind.types))]
        inside = "".join(
            _write(context, builder, out, each, part, next_word) for each, part in zip(kind.types, parts, strict=True)
        )
        return f"({len(parts)}{inside})"
    pointer = builder.gep(out, [ir.Constant(I64, next_word[0])])
    next_word[0] += 1
    if kind == types.float64:
        builder.store(builder.bitcast(value, I64), pointer)
        return "d"
    if isinstance(kind, types.Boolean):
        builder.store(builder.zext(value, I64), pointer)
        return "b"
    if isinstance(kind, types.Literal):
        value = context.cast(builder, value, kind, types.int64)
        kind = types.int64
    if not isinstance(kind, types.Integer):
        raise TypeError(f"no words for {kind}")
    if kind.bitwidth < 64:
        value = builder.sext(value, I64) if kind.signed else builder.zext(value, I64)
    builder.store(value, pointer)
    return "u" if kind == types.uint64 else "l"

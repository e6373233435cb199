/* The bridge from Python to the compiled kernels. It knows no kernel. A table that the build writes has the types of each variant's arguments
   and results, in the letters of signatures.py; this code walks along the letters to read arguments and build results.

   It declares CPython's stable ABI (3.11 and later) itself, so a build needs a C compiler but no headers of Python. It also reads the head of
   NumPy's arrays, whose layout is part of NumPy's ABI. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

typedef intptr_t Py_ssize_t;
typedef struct { Py_ssize_t ob_refcnt; void *ob_type; } PyObject;
typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef struct { const char *ml_name; PyCFunction ml_meth; int ml_flags; const char *ml_doc; } PyMethodDef;
typedef struct { PyObject ob_base; PyObject *(*m_init)(void); Py_ssize_t m_index; PyObject *m_copy; } PyModuleDef_Base;
typedef struct {
    PyModuleDef_Base m_base; const char *m_name; const char *m_doc; Py_ssize_t m_size; PyMethodDef *m_methods;
    void *m_slots; void *m_traverse; void *m_clear; void *m_free;
} PyModuleDef;
#define METH_VARARGS 1
#define METH_FASTCALL 0x80
#define ABI 3

#if defined(_WIN32)
#define API __declspec(dllimport)
#define OPEN __declspec(dllexport)
#else
#define API
#define OPEN __attribute__((visibility("default")))
#endif
API extern PyObject _Py_NoneStruct;
API extern PyObject *PyExc_TypeError, *PyExc_SystemError;
API PyObject *PyModule_Create2(PyModuleDef *, int);
API int PyModule_AddStringConstant(PyObject *, const char *, const char *);
API PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
API PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));
API void *PyCapsule_GetPointer(PyObject *, const char *);
API int PyArg_ParseTuple(PyObject *, const char *, ...);
API void Py_IncRef(PyObject *);
API void Py_DecRef(PyObject *);
API double PyFloat_AsDouble(PyObject *);
API PyObject *PyFloat_FromDouble(double);
API long long PyLong_AsLongLong(PyObject *);
API unsigned long long PyLong_AsUnsignedLongLongMask(PyObject *);
API PyObject *PyLong_FromLongLong(long long);
API PyObject *PyLong_FromUnsignedLongLong(unsigned long long);
API PyObject *PyBool_FromLong(long);
API PyObject *PyNumber_Index(PyObject *);
API int PyObject_IsTrue(PyObject *);
API PyObject *PyTuple_New(Py_ssize_t);
API Py_ssize_t PyTuple_Size(PyObject *);
API PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
API int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
API int PyType_IsSubtype(void *, void *);
API PyObject *PyErr_Format(PyObject *, const char *, ...);
API PyObject *PyErr_Occurred(void);
API void *PyEval_SaveThread(void);
API void PyEval_RestoreThread(void *);

/* The head of a NumPy array and of its dtype. */
typedef struct {
    PyObject head; char *data; int nd; Py_ssize_t *dimensions; Py_ssize_t *strides; PyObject *base; PyObject *descr; int flags;
} Array;
typedef struct { PyObject head; void *typeobj; char kind; char type; char byteorder; char flags; int type_num; } Descr;
enum { BOOL = 0, BYTE = 1, UBYTE = 2, INT = 5, LONG = 7, ULONG = 8, LONGLONG = 9, ULONGLONG = 10, DOUBLE = 12 };
enum { CONTIGUOUS = 1, ALIGNED = 0x100 };

typedef int32_t (*Entry)(int64_t *, int64_t *);
typedef struct { const char *kernel; const char *letters; int free; Entry entry; } Variant;
typedef struct { const char *level; const Variant *variants; int count; } Level;
#include "table.h" /* DIGEST, NAMES, LEVELS (best first) and COUNT of them */

/* Does this processor, with its operating system, support a level? The compiler's builtins for this need its run-time library, which not every
   compiler has. */
#if defined(__x86_64__)
static int has(unsigned word, unsigned bits) { return (word & bits) == bits; }

static int runs_here(const char *name) {
    unsigned a, b, ones, more, extended = 0, d, enabled = 0;
    if (!__get_cpuid(1, &a, &b, &ones, &d)) return 0;
    int v2 = has(ones, 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23); /* sse3 ssse3 cx16 sse4.1 sse4.2 popcnt */
    if (!strcmp(name, "x86-64-v2")) return v2;
    if (has(ones, 1u << 27)) __asm__("xgetbv" : "=a"(enabled), "=d"(d) : "c"(0)); /* the wide registers that the system saves */
    if (!__get_cpuid_count(7, 0, &a, &more, &b, &d)) more = 0;
    __get_cpuid(0x80000001, &a, &b, &extended, &d);
    int v3 = v2 && has(enabled, 0x6) && has(ones, 1u << 12 | 1u << 22 | 1u << 28 | 1u << 29) && /* fma movbe avx f16c */
             has(more, 1u << 3 | 1u << 5 | 1u << 8) && has(extended, 1u << 5);                /* bmi1 avx2 bmi2, lzcnt */
    if (!strcmp(name, "x86-64-v3")) return v3;
    return v3 && has(enabled, 0xe6) && has(more, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31); /* avx512 f dq cd bw vl */
}
#else
static int runs_here(const char *name) { return name != NULL; }
#endif

enum { WORDS = 160, MOST = 512 };
typedef struct { const char *name; const Variant *first; int count; } Kernel;
static Kernel kernels[MOST];
static void *array_type;

static int is_array(PyObject *value) {
    return value->ob_type == array_type || PyType_IsSubtype(value->ob_type, array_type);
}

static int fits(const Array *array, char letter, int dimensions, int any_layout) {
    const Descr *descr = (const Descr *)array->descr;
    int kind = descr->type_num;
    if (array->nd != dimensions || descr->byteorder == '>' || !(array->flags & ALIGNED)) return 0;
    if (!any_layout && !(array->flags & CONTIGUOUS)) return 0;
    switch (letter) {
        case 'D': return kind == DOUBLE;
        case 'L': return kind == LONGLONG || (kind == LONG && sizeof(long) == 8);
        case 'U': return kind == ULONGLONG || (kind == ULONG && sizeof(long) == 8);
        case 'I': return kind == INT || (kind == LONG && sizeof(long) == 4);
        case 'C': return kind == UBYTE;
        case 'A': return kind == BYTE;
        case 'B': return kind == BOOL;
    }
    return 0;
}

/* Read one argument into words. 1: done, 0: it does not fit, -1: an error is set. `at` moves along the letters. */
static int read_value(PyObject *value, const char **at, int64_t **in) {
    const char *p = *at;
    char letter = *p++;
    switch (letter) {
        case 'd': {
            double number = PyFloat_AsDouble(value);
            if (number == -1.0 && PyErr_Occurred()) return -1;
            memcpy((*in)++, &number, 8);
            break;
        }
        case 'l': case 'i': case 'c': case 'a': {
            long long number = PyLong_AsLongLong(value);
            if (number == -1 && PyErr_Occurred()) return -1;
            *(*in)++ = number;
            break;
        }
        case 'u': {
            PyObject *whole = PyNumber_Index(value);
            if (!whole) return -1;
            unsigned long long number = PyLong_AsUnsignedLongLongMask(whole);
            Py_DecRef(whole);
            *(*in)++ = (int64_t)number;
            break;
        }
        case 'b': {
            int truth = PyObject_IsTrue(value);
            if (truth < 0) return -1;
            *(*in)++ = truth;
            break;
        }
        case '(': {
            Py_ssize_t n = PyTuple_Size(value);
            if (n < 0) return -1;
            for (Py_ssize_t i = 0; i < n; i++) {
                int read = read_value(PyTuple_GetItem(value, i), &p, in);
                if (read <= 0) return read;
            }
            if (*p++ != ')') return 0;
            break;
        }
        default: {
            int dimensions = *p++ - '0', any_layout = *p == '*';
            if (any_layout) p++;
            if (!is_array(value)) return 0;
            const Array *array = (const Array *)value;
            if (!fits(array, letter, dimensions, any_layout)) return 0;
            *(*in)++ = (int64_t)(intptr_t)array->data;
            for (int i = 0; i < dimensions; i++) *(*in)++ = array->dimensions[i];
            for (int i = 0; i < dimensions; i++) *(*in)++ = array->strides[i];
        }
    }
    *at = p;
    return 1;
}

static PyObject *build_value(const char **at, int64_t **out) {
    char letter = *(*at)++;
    double number;
    switch (letter) {
        case 'd':
            memcpy(&number, (*out)++, 8);
            return PyFloat_FromDouble(number);
        case 'l': return PyLong_FromLongLong(*(*out)++);
        case 'u': return PyLong_FromUnsignedLongLong((unsigned long long)*(*out)++);
        case 'b': return PyBool_FromLong(*(*out)++ != 0);
        case '(': {
            int n = *(*at)++ - '0'; /* at most nine */
            PyObject *tuple = PyTuple_New(n);
            for (int i = 0; tuple && i < n; i++) {
                PyObject *part = build_value(at, out);
                if (!part) { Py_DecRef(tuple); return NULL; }
                PyTuple_SetItem(tuple, i, part);
            }
            (*at)++; /* the closing bracket */
            return tuple;
        }
    }
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}

static PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    const Kernel *kernel = PyCapsule_GetPointer(self, NULL);
    int64_t in[WORDS], out[16];
    for (int v = 0; v < kernel->count; v++) {
        const Variant *variant = kernel->first + v;
        const char *at = variant->letters;
        int64_t *words = in, *results = out;
        Py_ssize_t i = 0;
        while (i < count && *at != '>') {
            int read = read_value(arguments[i], &at, &words);
            if (read < 0) return NULL;
            if (read == 0) break;
            i++;
        }
        if (i < count || *at != '>') continue;
        void *thread = variant->free ? PyEval_SaveThread() : NULL;
        int32_t status = variant->entry(in, out);
        if (variant->free) PyEval_RestoreThread(thread);
        if (status) return PyErr_Format(PyExc_SystemError, "%s ended with status %d", kernel->name, (int)status);
        at++;
        return build_value(&at, &results);
    }
    return PyErr_Format(PyExc_TypeError, "no compiled variant of %s takes these arguments; it takes %s", kernel->name, kernel->first->letters);
}

static PyMethodDef call_def = {"kernel", (PyCFunction)(void *)call, METH_FASTCALL, NULL};
static const Level *level;

static PyObject *bind(PyObject *module, PyObject *arguments) {
    const char *name;
    PyObject *capsule, *function;
    if (!PyArg_ParseTuple(arguments, "s", &name)) return NULL;
    for (int k = 0; k < MOST && kernels[k].name; k++) {
        if (strcmp(kernels[k].name, name)) continue;
        if (!(capsule = PyCapsule_New(&kernels[k], NULL, NULL))) return NULL;
        function = PyCFunction_NewEx(&call_def, capsule, NULL);
        Py_DecRef(capsule);
        return function;
    }
    Py_IncRef(&_Py_NoneStruct);
    return &_Py_NoneStruct;
}

static int choose(const char *name) {
    for (int i = 0; i < COUNT; i++) {
        if (*name ? strcmp(LEVELS[i].level, name) : !runs_here(LEVELS[i].level)) continue;
        level = &LEVELS[i];
        int k = -1;
        memset(kernels, 0, sizeof kernels);
        for (int v = 0; v < level->count; v++) {
            const Variant *variant = level->variants + v;
            if (k < 0 || strcmp(kernels[k].name, variant->kernel)) {
                if (++k == MOST) return 0;
                kernels[k].name = variant->kernel;
                kernels[k].first = variant;
                kernels[k].count = 0;
            }
            kernels[k].count++;
        }
        return 1;
    }
    return 0;
}

static PyObject *start(PyObject *module, PyObject *arguments) {
    const char *wanted;
    PyObject *type;
    if (!PyArg_ParseTuple(arguments, "Os", &type, &wanted)) return NULL;
    array_type = type;
    if (!choose(wanted)) {
        Py_IncRef(&_Py_NoneStruct);
        return &_Py_NoneStruct;
    }
    return PyLong_FromLongLong((long long)(level - LEVELS));
}

static PyMethodDef methods[] = {
    {"start", start, METH_VARARGS, "start(ndarray, level): choose the processor level, '' for the best that runs; return its number, or None."},
    {"bind", bind, METH_VARARGS, "bind(name): return the compiled kernel of that name, or None."},
    {NULL, NULL, 0, NULL},
};
static PyModuleDef definition = {{{1, NULL}, NULL, 0, NULL}, "_engine", NULL, -1, methods, NULL, NULL, NULL, NULL};

OPEN PyObject *PyInit__engine(void) {
    PyObject *module = PyModule_Create2(&definition, ABI);
    if (module) {
        PyModule_AddStringConstant(module, "digest", DIGEST);
        PyModule_AddStringConstant(module, "levels", NAMES);
    }
    return module;
}

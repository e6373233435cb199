"""Decisions as a service: a core without input or output, a journal on disk, an HTTP API and a page.

`hsb.serve.core` takes messages and times and returns effects; `hsb.serve.store` carries out those on the disk; `hsb.serve.http` is the API.
docs/serving.md states what is promised, docs/serving_inside.md how the parts work together. `import hsb` does not load this package.
"""

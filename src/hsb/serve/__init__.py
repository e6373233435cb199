"""Decisions as a service: a journal on disk, a core that knows nothing of disks, and (to come) HTTP and a page on top.

`hsb.serve.core` takes messages and times and says what is to be done; `hsb.serve.store` does what concerns the disk. docs/serving.md tells how
they fit together and what is promised. `import hsb` loads none of this.
"""

"""Parts of algorithms that know nothing of the shell: from contexts to keys, from experts to advice."""

"""The algorithms behind the policies, and their parts: keys of contexts, advice of experts, rates, mixtures."""

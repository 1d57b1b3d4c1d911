"""How the benchmarks come by their inputs, and where their figures go."""

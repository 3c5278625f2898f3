"""What the scripts `bench_build`, `bench_search` and `bench_vectors` share: processes, floors, sizes, verdicts."""

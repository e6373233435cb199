"""What several test files share: cases, generators, processes, and the simulator."""

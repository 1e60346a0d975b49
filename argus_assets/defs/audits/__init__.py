"""Data-quality checks of the memory's assets."""

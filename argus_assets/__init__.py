"""Face 1, Dagster: `argus_assets.definitions:defs`. Bodies call argus_memory and return its counts."""

import warnings

# Range backfills in one run are worth a word of Dagster's that says "beta"; it would stand in every log.
warnings.filterwarnings("ignore", message="Parameter `(backfill_policy|owners)`")
# The same for a property that Dagster Pipes asks of its own reader in every run of a task.
warnings.filterwarnings("ignore", message="Function `PipesMessageReader.expected_writer_count`")

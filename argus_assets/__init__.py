"""Face 1, Dagster: `argus_assets.definitions:defs`. Bodies call argus_memory and return its counts."""

import warnings

# Range backfills in one run are worth a word of Dagster's that says "beta"; it would stand in every log.
warnings.filterwarnings("ignore", message="Parameter `(backfill_policy|owners)`")

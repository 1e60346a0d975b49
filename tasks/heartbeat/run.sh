# The smallest task: one line, so that a page without it means that tasks do not run.
echo "alive at $(date -u +%Y-%m-%dT%H:%M:%SZ)"

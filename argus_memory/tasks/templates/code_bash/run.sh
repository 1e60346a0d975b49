# What this task does. Argus starts it in this folder, keeps what it prints, and reports how it ended.
# An exit code other than 0 is a failure; nothing has to be called for that to be seen.
set -eu

python -m taskkit metric things_done 1
python -m taskkit report --summary "did 1 thing"

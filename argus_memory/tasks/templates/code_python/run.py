"""What this task does. Argus starts it in this folder, keeps what it prints, and reports how it ended.

An exception or an exit code other than 0 is a failure; nothing has to be called for that to be seen.
"""

import taskkit


def main() -> None:
    done = 1
    taskkit.metric("things_done", done)
    taskkit.report({"things_done": done}, summary=f"did {done} thing")


if __name__ == "__main__":
    main()

"""config.ini at load time. Whatever goes wrong here becomes a broken task: memory must load beside it."""

from __future__ import annotations

from argus_memory.records import BrokenTask, TaskList
from argus_memory.settings import CODE_FOLDER, load_settings
from argus_memory.tasks.config import default_zone_of, read_task_list
from argus_memory.tasks.names import LIST_FILE


def load_task_list() -> TaskList:
    """The stanzas below ARGUS_TASKS; never raises."""
    file = CODE_FOLDER / "tasks" / LIST_FILE
    try:
        settings = load_settings()
        file = settings.tasks_folder / LIST_FILE
        return read_task_list(settings.tasks_folder, default_zone=default_zone_of(settings))
    except Exception as error:  # noqa: BLE001  whatever it is, it is shown where a person looks for the tasks
        problem = f"the list of tasks cannot be loaded ({type(error).__name__}: {error})"
        return TaskList((), (BrokenTask(LIST_FILE, file, 1, problem, "mend it, then `argus reload`"),))

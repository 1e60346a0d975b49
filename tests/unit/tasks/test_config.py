"""config.ini → tasks: every stanza stands alone, and what is wrong is told with its line and its cure."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus_memory.records import BrokenTask, TaskList, TaskSpec
from argus_memory.settings import load_settings
from argus_memory.tasks.config import default_zone_of, machine_zone, parse_task_list, read_task_list
from argus_memory.tasks.names import LIST_FILE, is_task_name, make_name, schedule_name, step_name

GOOD = "[good]\ncommand = sh run.sh\nfolder = .\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("alpha", "beta", "good"):
        (tmp_path / name).mkdir()
    (tmp_path / "alpha" / "prompt.md").write_text("Say hello.")
    return tmp_path


def parse(text: str | bytes, folder: Path = Path("/nowhere")) -> TaskList:
    data = text.encode() if isinstance(text, str) else text
    return parse_task_list(data, folder / LIST_FILE, default_zone="Europe/Vienna")


def only(text: str | bytes, folder: Path) -> TaskSpec:
    task_list = parse(text, folder)
    assert task_list.broken == ()
    (task,) = task_list.tasks
    return task


def broken(text: str | bytes, folder: Path) -> BrokenTask:
    """The one broken stanza; its neighbour must have loaded."""
    data = text.encode() if isinstance(text, str) else text
    task_list = parse(data + b"\n" + GOOD.encode(), folder)
    assert [task.name for task in task_list.tasks] == ["good"]
    (one,) = task_list.broken
    return one


def test_a_stanza_with_every_key_is_a_task(folder: Path) -> None:
    """Each key reaches its field, spans and lists parsed, the folder found below the list's own."""
    task = only(
        "[alpha]\nhandler = agent\nprompt = file:prompt.md\nschedule = 30 7 * * 1-5\ntimezone = Asia/Tokyo\n"
        "start_grace = 90s\nmax_runtime = 2h\nchannel = research\nretries = 2\nno_overlap = off\n"
        "failures_before_alert = 3\nenabled = yes\nmode = run\ndescription = Reads\nengines = codex, api\n"
        "model = small, large\nbudget_usd = 0.5\nmax_turns = 12\nenv.TOPIC = birds\n",
        folder,
    )
    assert (task.handler, task.prompt, task.schedule, task.timezone) == (
        "agent", "file:prompt.md", "30 7 * * 1-5", "Asia/Tokyo",
    )  # fmt: skip
    assert (task.start_grace, task.max_runtime) == (timedelta(seconds=90), timedelta(hours=2))
    assert (task.channel, task.retries, task.no_overlap, task.failures_before_alert) == ("research", 2, False, 3)
    assert (task.engines, task.model, task.budget_usd, task.max_turns) == (("codex", "api"), ("small", "large"), 0.5, 12)
    assert (task.folder, task.line, task.env) == (folder / "alpha", 1, {"TOPIC": "birds"})


def test_the_least_stanza_has_the_defaults(folder: Path) -> None:
    """A command is enough: handler code, the given zone, five minutes' grace, an hour."""
    task = only("[alpha]\ncommand = sh run.sh\n", folder)
    assert (task.handler, task.timezone, task.schedule) == ("code", "Europe/Vienna", None)
    assert (task.start_grace, task.max_runtime, task.no_overlap) == (timedelta(minutes=5), timedelta(hours=1), True)


def test_a_value_is_what_follows_as_it_stands(folder: Path) -> None:
    """`%`, `;`, `#`, `=`, quotes and brackets in a value mean nothing to the list."""
    task = only('[alpha]\ncommand = a=1; echo "100%" "[x]" # $(date +%F) %(name)s\n', folder)
    assert task.command == 'a=1; echo "100%" "[x]" # $(date +%F) %(name)s'


def test_a_value_goes_on_below_its_key(folder: Path) -> None:
    """Lines set in deeper belong to the value, blank ones between them too, and keep their shape; comments included."""
    task = only(
        "[alpha]\ncommand =\n    set -e\n    if true; then\n        # not a comment of the list\n        echo 1\n    fi\n\n"
        "    echo [2]\n; a comment\nschedule = @daily\n",
        folder,
    )
    assert task.command == "set -e\nif true; then\n    # not a comment of the list\n    echo 1\nfi\n\necho [2]"
    assert task.schedule == "@daily"


def test_keys_may_be_set_in_together(folder: Path) -> None:
    """A stanza whose keys all stand two blanks in is read like any other."""
    task = only("[alpha]\n  command = sh run.sh\n  schedule = @hourly\n", folder)
    assert (task.command, task.schedule) == ("sh run.sh", "@hourly")


@pytest.mark.parametrize("end", [b"\r\n", b"\r", b"\n"])
def test_line_ends_and_a_byte_order_mark_are_no_matter(folder: Path, end: bytes) -> None:
    """A file of another system, with a BOM, reads the same."""
    text = "\ufeff[alpha]\ncommand = echo ä\nschedule = @daily\n"
    task = only(text.encode().replace(b"\n", end), folder)
    assert (task.command, task.schedule, task.line) == ("echo ä", "@daily", 1)


def test_defaults_hold_for_all_and_give_way(folder: Path) -> None:
    """[defaults] sets zone, spans, channel and env; a stanza's own key wins."""
    task_list = parse(
        "[defaults]\ntimezone = Asia/Tokyo\nstart_grace = 1m\nchannel = ops\nenv.A = 1\nenv.B = 1\n"
        "[alpha]\ncommand = x\n[beta]\ncommand = x\ntimezone = UTC\nenv.B = 2\n",
        folder,
    )
    alpha, beta = task_list.tasks
    assert (alpha.timezone, alpha.start_grace, alpha.channel, alpha.env) == (
        "Asia/Tokyo", timedelta(minutes=1), "ops", {"A": "1", "B": "1"},
    )  # fmt: skip
    assert (beta.timezone, beta.env) == ("UTC", {"A": "1", "B": "2"})


def test_a_broken_default_is_the_files_own(folder: Path) -> None:
    """Bad keys of [defaults] are broken under config.ini; a bad zone also breaks scheduled tasks that rely on it."""
    task_list = parse(
        "[defaults]\ntimezone = Mars/Base\nretries = 3\n[alpha]\ncommand = x\nschedule = @daily\n"
        "[beta]\ncommand = x\n[good]\ncommand = x\nschedule = @daily\ntimezone = UTC\n",
        folder,
    )
    assert [task.name for task in task_list.tasks] == ["beta", "good"]
    assert [(each.name, each.line) for each in task_list.broken] == [("config.ini", 2), ("alpha", 4)]
    assert "'Mars/Base' is not a time zone" in task_list.broken[0].sentence
    assert "unknown key `retries`" in task_list.broken[0].sentence
    assert task_list.broken[1].cure == "mend line 2"


@pytest.mark.parametrize(
    ("stanza", "line", "problem", "cure"),
    [
        ("[alpha]\ncomand = x\n", 2, "unknown key `comand`", "write `command`"),
        ("[alpha]\ncommand = x\nno-overlap = true\n", 3, "unknown key `no-overlap`", "write `no_overlap`"),
        ("[alpha]\ncommand = x\nzzz = 1\n", 3, "unknown key `zzz`", "the keys are handler, command"),
        ("[alpha]\ncommand = x\nenv = A=1\n", 3, "unknown key `env`", "write `env.NAME = value`"),
        ("[alpha]\ncommand = x\nenv.A-B = 1\n", 3, "'A-B' is no variable's name", "write `env.NAME = value`"),
        ("[alpha]\ncommand = x\nenv.ARGUS_HOME = 1\n", 3, "ARGUS_HOME is set by Argus itself", "env.NAME"),
        ("[alpha]\ncommand = x\nenv.A = 1\nenv.A = 2\n", 4, "A stands twice", "env.NAME"),
        ("[alpha]\ncommand = x\ncommand = y\n", 3, "`command` stands twice, first at line 2", "keep one"),
        ("[alpha]\ncommand = x\n[alpha]\ncommand = y\n", 3, "[alpha] stands 2 times, at lines 1, 3", "keep one"),
        ("[alpha]\ncommand = x\nschedule = 61 * * * *\n", 3, "`schedule`: ", "write `30 7 * * 1-5`"),
        ("[alpha]\ncommand = x\nschedule = @reboot\n", 3, "'@reboot' is not known", "write `30 7 * * 1-5`"),
        ("[alpha]\ncommand = x\nschedule = @every\n", 3, "`schedule`: ", "write"),
        ("[alpha]\ncommand = x\nschedule = @daily ; nightly\n", 3, "`schedule`: ", "a comment needs a line of its own"),
        ("[alpha]\ncommand = x\ntimezone = Europe/Atlantis\n", 3, "'Europe/Atlantis' is not a time zone", "Vienna"),
        ("[alpha]\ncommand = x\nstart_grace = 5 min\n", 3, "'5 min' is not a duration", "a duration: 30s"),
        ("[alpha]\ncommand = x\nmax_runtime = 999999999999d\n", 3, "`max_runtime`: ", "a duration"),
        ("[alpha]\ncommand = x\nmax_runtime = 0s\n", 3, "a duration of zero", "a duration"),
        ("[alpha]\ncommand = x\nretries = -1\n", 3, "'-1' is not a whole number from 0 to 20", "0 to 20"),
        ("[alpha]\ncommand = x\nfailures_before_alert = 0\n", 3, "'0' is not a whole number", "1 to 1000"),
        ("[alpha]\ncommand = x\nno_overlap = maybe\n", 3, "'maybe' is neither true nor false", "true or false"),
        ("[alpha]\ncommand = x\nhandler = python\n", 3, "'python' is not one of them", "code, llm or agent"),
        ("[alpha]\ncommand =\n", 2, "`command`: it is empty", "a command for the shell"),
        ("[alpha]\nschedule = @daily\n", 1, "`command` is missing", "add `command = …`"),
        ("[alpha]\nhandler = llm\n", 1, "`prompt` is missing", "add `prompt = …`"),
        ("[alpha]\nhandler = llm\nprompt = x\ncommand = y\n", 4, "`command` belongs to handler code", "take it out"),
        ("[alpha]\ncommand = x\nprompt = y\n", 3, "`prompt` belongs to handler llm or agent", "`handler = llm`"),
        ("[alpha]\nhandler = llm\nprompt = x\nmax_turns = 3\n", 4, "`max_turns` belongs to handler agent", "agent"),
        ("[alpha]\nhandler = llm\nprompt = file:gone.md\n", 3, "gone.md is missing", "make it"),
        ("[alpha]\nhandler = llm\nprompt = file:../config.ini\n", 3, "outside the task's folder", "put the file"),
        ("[alpha]\nhandler = agent\nprompt = x\nbudget_usd = nan\n", 4, "'nan' is not above 0", "above 0"),
        ("[gamma]\ncommand = x\n", 1, "gamma is missing", "make it"),
        ("[alpha]\ncommand = x\nfolder = no/where\n", 3, "no/where is missing", "folder = …"),
        ("[alpha]\ncommand = x\nwhat is this\n", 3, "`what is this` is no `key = value`", "begin it with `;`"),
        ("[alpha]\ncommand = x\nmode = observe\n", 1, "`mode = observe` without a schedule", "add `schedule"),
        ("[alpha\ncommand = x\nfolder = .\n", 1, "`[alpha` is no stanza's head", "write `[name]`"),
    ],
)  # fmt: skip
def test_a_broken_stanza_says_where_what_and_the_cure(
    folder: Path, stanza: str, line: int, problem: str, cure: str
) -> None:
    """The line, what is wrong with which value, what to do; the neighbour loads."""
    one = broken(stanza, folder)
    assert one.name == "alpha" if "gamma" not in stanza else one.name == "gamma"
    assert one.line == line
    assert problem in one.problem
    assert cure in one.cure
    assert one.sentence.startswith(f"config.ini:{line}: ")
    assert "\n" not in one.sentence


def test_several_faults_are_told_at_once(folder: Path) -> None:
    """The first fault leads, the others follow with their lines, and many are counted."""
    one = broken("[alpha]\ncomand = x\nretries = -1\n" + "a = 1\n" * 5, folder)
    assert one.sentence.startswith("config.ini:2: unknown key `comand`; write `command`; line 3: `retries`")
    assert one.sentence.endswith("; and 4 more")


@pytest.mark.parametrize(("written", "name"), [("My Backup!", "my-backup"), ("9 lives", "task-9-lives"), ("", "stanza"), ("x" * 99, "x" * 50)])
def test_a_name_that_cannot_be_one_still_has_a_place(folder: Path, written: str, name: str) -> None:
    """The broken stanza gets a name that an asset can have."""
    one = broken(f"[{written}]\ncommand = x\n", folder)
    assert one.name == name
    assert "is no task's name" in one.problem


def test_names_of_broken_stanzas_differ(folder: Path) -> None:
    """Two unusable names that look alike, beside a usable one, stay three tasks."""
    task_list = parse("[alpha]\ncommand = x\n[ALPHA]\ncommand = x\n[Alpha!]\ncommand = x\n", folder)
    assert [task.name for task in task_list.tasks] == ["alpha"]
    assert [each.name for each in task_list.broken] == ["alpha-line-3", "alpha-line-5"]


def test_lines_before_the_first_stanza_are_the_files_own(folder: Path) -> None:
    """They are broken under config.ini, and every stanza loads."""
    one = broken("command = x\n", folder)
    assert (one.name, one.line) == ("config.ini", 1)
    assert "stands before the first stanza" in one.problem


def test_a_line_that_is_no_utf8_breaks_its_stanza_alone(folder: Path) -> None:
    """A byte of Latin-1 is found by line and place; in a comment it is no matter."""
    one = broken(b"[alpha]\ncommand = echo gr\xfc\xdf\n", folder)
    assert (one.name, one.line) == ("alpha", 2)
    assert "byte 18 of the line is no UTF-8" in one.problem
    assert only(b"; gr\xfc\xdf\n[alpha]\ncommand = x\n", folder).name == "alpha"


def test_a_control_character_breaks_its_stanza(folder: Path) -> None:
    """A NUL could be stored nowhere; it is named."""
    assert "control character '\\x00'" in broken(b"[alpha]\ncommand = a\x00b\n", folder).problem


def test_a_utf16_file_is_said_to_be_one(folder: Path) -> None:
    """Nothing of it can be read, and why is told."""
    task_list = parse(GOOD.encode("utf-16"), folder)
    assert task_list.tasks == ()
    assert [each.sentence for each in task_list.broken] == ["config.ini:1: the file is UTF-16; save it as UTF-8"]


def test_a_list_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    """A file that went away is broken under its own name: it must not look like a list without tasks."""
    found = read_task_list(tmp_path / "nothing", default_zone="UTC")
    assert found.tasks == ()
    assert [(broken.name, broken.problem) for broken in found.broken] == [("config.ini", "it is not there")]


def test_a_file_that_cannot_be_read_is_broken(tmp_path: Path) -> None:
    """A folder in the file's place is told, not raised."""
    (tmp_path / LIST_FILE).mkdir()
    (one,) = read_task_list(tmp_path, default_zone="UTC").broken
    assert (one.name, one.line) == (LIST_FILE, 1)
    assert "cannot be read" in one.problem


def test_observed_tasks_need_neither_folder_nor_command(folder: Path) -> None:
    """Another scheduler starts them; the list only says when they are due."""
    task = only("[elsewhere]\nmode = observe\nschedule = @daily\n", folder)
    assert (task.mode, task.command) == ("observe", None)


def test_ten_thousand_stanzas_are_read_in_seconds(folder: Path) -> None:
    """Ten thousand tasks load, also with a broken one in the middle; seen: 0.9 s."""
    stanzas = [f"[t{n}]\ncommand = echo {n}\nschedule = {n % 60} * * * *\nfolder = alpha\n" for n in range(10_000)]
    stanzas[5_000] = "[t5000]\nnonsense\n"
    begun = time.perf_counter()
    task_list = parse("\n".join(stanzas), folder)
    assert (len(task_list.tasks), len(task_list.broken)) == (9_999, 1)
    assert time.perf_counter() - begun < 15


TEXTS = st.one_of(
    st.text(),
    st.lists(
        st.one_of(
            st.sampled_from(["[a]", "[defaults]", "[a", "[]", "  more", "command = x", "schedule = @daily", "env.A = 1",
                             "schedule = * * * *", "timezone = ", "= x", "; c", "folder = ~nobody", "folder = /",
                             "handler = llm", "prompt = file:" + "x" * 300, "mode = observe", "retries = 1" * 9]),
            st.text(max_size=30),
        )
    ).map("\n".join),
)  # fmt: skip


@given(st.one_of(TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary()))
@settings(max_examples=400, deadline=None)
def test_no_bytes_make_it_raise(data: bytes) -> None:
    """Whatever stands in the file: a list comes back, its names are usable and no two are the same."""
    task_list = parse(data + b"\n[zz-good]\ncommand = x\nfolder = /\n")
    names = [task.name for task in task_list.tasks] + [each.name for each in task_list.broken]
    assert len(names) == len(set(names))
    assert all(is_task_name(name) or name == LIST_FILE for name in names)
    assert all(each.line >= 1 and each.problem and each.cure and "\n" not in each.sentence for each in task_list.broken)
    if b"\xff\xfe" not in data[:2] and b"\xfe\xff" not in data[:2] and b"[zz-good" not in data:
        assert "zz-good" in names


@given(st.text(alphabet=st.characters(blacklist_categories=["Cc", "Cs"]), min_size=1))
@settings(deadline=None)
def test_any_line_of_a_value_comes_back(value: str) -> None:
    """What is written behind `=` is what the task gets, but for blanks at its ends."""
    task_list = parse(f"[alpha]\nfolder = /\ncommand = x{value}\n")
    assert [task.command for task in task_list.tasks] == [f"x{value}".rstrip()]


@given(st.text())
def test_a_made_name_is_a_name(text: str) -> None:
    """Any words give a task's name."""
    assert is_task_name(make_name(text, "job"))


def test_jobs_of_two_tasks_differ() -> None:
    """A job is named after its task, in letters that Dagster takes."""
    assert step_name("daily-digest") == "task__daily_digest"
    assert schedule_name("daily-digest") == "task__daily_digest_schedule"


def test_the_zone_is_the_setting_or_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    """ARGUS_TIMEZONE wins; without it TZ does; nonsense is passed over."""
    assert default_zone_of(load_settings({"ARGUS_HOME": "/nowhere", "ARGUS_TIMEZONE": "Asia/Tokyo"})) == "Asia/Tokyo"
    monkeypatch.setenv("TZ", "Europe/Lisbon")
    assert default_zone_of(load_settings({"ARGUS_HOME": "/nowhere"})) == "Europe/Lisbon"
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0")
    assert machine_zone() != "CET-1CEST,M3.5.0"

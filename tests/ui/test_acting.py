"""What a person does with mouse and keyboard: signing in, searching, deciding, and taking it back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.ui.conftest import Visit
from tests.ui.scene import INSTALL, Hub, find_chromium


def button(visit: Visit, name: str) -> Any:
    return visit.page.get_by_role("button", name=name, exact=True)


def test_signing_in_and_out_with_the_token(chromium: Any, empty_hub: Hub) -> None:
    """A wrong token is told, the right one leads to the page asked for, signing out ends it."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{empty_hub.url}/ui/search?q=vents")
    page.get_by_label("Admin token").fill("wrong")
    page.keyboard.press("Enter")
    assert "not the admin token" in page.get_by_role("alert").inner_text()
    page.get_by_label("Admin token").fill(empty_hub.settings.admin_token)
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui/search?q=vents")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/ui/sign-in")
    page.goto(f"{empty_hub.url}/ui")
    assert "/ui/sign-in?next=" in page.url
    context.close()


@pytest.mark.parametrize(
    ("do", "undo", "told", "taken_back"),
    [
        ("Pin", "Unpin", "Pinned.", "No longer pinned."),
        ("Exclude", "Include", "Excluded", "Included again."),
        ("Forget", "Restore", "Forgotten", "Restored."),
    ],
)
def test_a_decision_is_done_and_undone(visit: Visit, do: str, undo: str, told: str, taken_back: str) -> None:
    """One click each way, a line that says so, no console error."""
    assert visit.hub.filled is not None
    visit.open(f"/ui/notes/{visit.hub.filled.note('The greenhouse vents')}")
    button(visit, do).click()
    assert told in visit.flash()
    button(visit, undo).click()
    assert taken_back in visit.flash()
    assert button(visit, do).is_visible()
    assert visit.troubles == []
    assert visit.serious() == []


def test_correcting_and_reconfirming(visit: Visit) -> None:
    """The correction stands in the old note's place, and the old one leads to it."""
    assert visit.hub.filled is not None
    note = visit.hub.filled.note("The greenhouse vents")
    visit.open(f"/ui/notes/{note}")
    button(visit, "It still holds").click()
    assert "Confirmed" in visit.flash()
    visit.page.get_by_text("Correct it").click()
    visit.page.get_by_label("What is true").fill("The greenhouse vents open at 26 degrees.")
    visit.page.get_by_label("Why (kept in the history)").fill("the new relay")
    button(visit, "Correct").click()
    assert f"in the place of note {note}" in visit.flash()
    assert "26 degrees" in visit.page.locator("h1").inner_text()
    visit.open(f"/ui/notes/{note}")
    assert "stands in its place" in visit.page.locator(".flash").inner_text()


def test_redacting_asks_before_it_is_for_good(visit: Visit) -> None:
    """What would change comes first; the words are gone from the note and from search after."""
    assert visit.hub.filled is not None
    visit.open(f"/ui/notes/{visit.hub.filled.note('Nightly')}")
    visit.page.get_by_role("link", name="Redact…").click()
    assert "cannot be taken back" in visit.page.locator("main").inner_text()
    visit.page.get_by_label("The words to take out").fill("/srv/dumps")
    visit.page.get_by_label("Why (kept)").fill("a path")
    button(visit, "See what would change").click()
    assert "1 captured item" in visit.page.locator(".flash").inner_text()
    assert visit.serious() == []
    button(visit, "Redact for good").click()
    assert "Redacted in 1 captured item" in visit.flash()
    visit.open("/ui/search?q=dumps&state=any")
    assert "/srv/dumps" not in visit.page.locator("main").inner_text()


def test_searching_by_keyboard(filled_hub: Hub, windows: Callable[..., Visit]) -> None:
    """A slash leads to the box, Enter asks (fields left blank stay out of the address), Tab reaches the first hit with
    its focus in sight."""
    visit = windows(filled_hub)
    visit.open("/ui")
    visit.page.keyboard.press("/")
    visit.page.wait_for_url("**/ui/search")
    visit.page.keyboard.type("vents degrees")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**/ui/search?q=vents+degrees")
    hits = visit.page.locator(".hit h3 a")
    assert "greenhouse vents" in hits.first.inner_text()
    for _ in range(30):
        visit.page.keyboard.press("Tab")
        if visit.page.evaluate("document.activeElement.closest('.hit') !== null"):
            break
    assert visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url(re.compile(r"/ui/(notes|raw)/\d+$"))


def test_the_first_tab_skips_to_the_content(filled_hub: Hub, windows: Callable[..., Visit]) -> None:
    """For who reads with the keyboard."""
    visit = windows(filled_hub)
    visit.open("/ui")
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("document.activeElement.textContent").startswith("Skip")
    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate("document.activeElement.id") == "main"


def test_the_look_is_changed_and_kept(visit: Visit) -> None:
    """Light, dark, as the machine: the page's colour follows, on every page."""

    def paper() -> str:
        return str(visit.page.evaluate("getComputedStyle(document.body).backgroundColor"))

    visit.open("/ui")
    light = paper()
    button(visit, "Light look").click()
    button(visit, "Dark look").click()
    dark = paper()
    visit.open("/ui/search")
    assert paper() == dark != light
    button(visit, "System look").click()
    assert paper() == light


def test_the_overview_renews_itself(visit: Visit) -> None:
    """What is asked for anew takes the old one's place, without a script of another origin or an inline style."""
    visit.open("/ui")
    with visit.hub.db.transaction() as conn:
        conn.execute("update dedup_log set status = 'rejected' where status = 'pending'")
    assert "merge of notes" in visit.page.locator("main").inner_text()
    visit.page.evaluate("htmx.ajax('GET', '/ui', {target: '#overview', select: '#overview', swap: 'outerHTML'})")
    visit.page.get_by_text("merge of notes").wait_for(state="detached")
    assert visit.troubles == []


def test_times_are_the_viewers(filled_hub: Hub, chromium: Any) -> None:
    """A browser elsewhere sees its own zone from the first page on."""
    context = chromium.new_context(timezone_id="America/New_York")
    page = context.new_page()
    page.goto(filled_hub.entrance())
    page.get_by_text("Times are in America/New_York").wait_for()
    context.close()


def test_a_missing_browser_is_red_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never a quiet skip."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(RuntimeError, match="apt-get install") as told:
        find_chromium()
    assert str(told.value) == INSTALL

"""What a person does on the pages of recalls, timeline, health and projects: each act done and undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.ui.conftest import Visit
from tests.ui.scene import Hub


def button(visit: Visit, name: str) -> Any:
    return visit.page.get_by_role("button", name=name, exact=True)


def test_renaming_a_project_asks_and_is_undone(visit: Visit) -> None:
    """What would change comes first; leaving changes nothing; Undo gives the name back."""
    visit.open("/ui/projects/garden")
    visit.page.get_by_label("New name").fill("orchard")
    button(visit, "See what would change").click()
    assert "6 turns, 2 episodes" in visit.page.locator("main").inner_text()
    assert visit.serious() == []
    visit.page.get_by_role("link", name="Leave it as it is").click()
    assert visit.page.locator("h1").inner_text() == "garden"
    visit.page.get_by_label("New name").fill("orchard")
    button(visit, "See what would change").click()
    button(visit, "Rename it").click()
    assert "Renamed garden to orchard" in visit.flash()
    assert visit.page.locator("h1").inner_text() == "orchard"
    button(visit, "Undo").click()
    assert "Taken back" in visit.flash()
    assert visit.page.get_by_role("link", name="garden", exact=True).first.is_visible()
    assert visit.troubles == []


def test_merging_projects_asks_and_is_undone(visit: Visit) -> None:
    """The project that goes is gone from the list, and back after Undo."""
    visit.open("/ui/projects/lab")
    visit.page.get_by_label("Put it into").select_option("workshop")
    button(visit, "See what would move").click()
    button(visit, "Merge it").click()
    assert "Merged lab into workshop" in visit.flash()
    visit.open("/ui/projects?words=lab")
    assert visit.page.locator("table.projects").get_by_text("also lab").is_visible()
    button(visit, "Undo").click()
    assert "Taken back" in visit.flash()
    assert visit.page.get_by_role("link", name="lab", exact=True).first.is_visible()
    assert visit.troubles == []


def test_other_names_and_filing(visit: Visit) -> None:
    """A name comes and goes with a click; an episode is moved and asked about no more."""
    visit.open("/ui/projects/lab")
    visit.page.get_by_label("Let another name lead to it").fill("bench")
    button(visit, "Add the name").click()
    assert "bench" in visit.flash()
    button(visit, "Take away").click()
    assert visit.page.locator("main").get_by_text("None.").is_visible()
    visit.open("/ui/projects")
    button(visit, "Move to homelab").click()
    assert "Filed under homelab" in visit.flash()
    assert visit.page.get_by_text("reads like").count() == 0
    assert visit.troubles == []


def test_a_note_of_the_health_report_is_forgotten_and_restored(visit: Visit) -> None:
    """The click leads to the note, where it is taken back."""
    visit.open("/ui/health")
    button(visit, "Forget").first.click()
    assert "Forgotten" in visit.flash()
    button(visit, "Restore").click()
    assert "Restored." in visit.flash()
    visit.open("/ui/health")
    button(visit, "It still holds").first.click()
    assert "Confirmed" in visit.flash()
    assert visit.troubles == []


def test_a_floor_is_tried_and_a_subject_compared(filled_hub: Hub, windows: Callable[..., Visit]) -> None:
    """Forms that only look; each leads to a link that shows the same again."""
    visit = windows(filled_hub)
    visit.open("/ui/injections")
    visit.page.get_by_role("textbox", name="Floor").fill("0.02")
    button(visit, "Try it").click()
    visit.page.wait_for_url("**/ui/injections?floor=0.02*")
    assert "Kept out" in visit.page.locator("#scores ~ dl").inner_text()
    visit.open("/ui/timeline")
    visit.page.get_by_label("What changed about").fill("dumps")
    button(visit, "Show").click()
    visit.page.wait_for_url("**/ui/timeline?subject=dumps")
    assert "What changed about" in visit.page.locator("h1").inner_text()
    visit.open("/ui/health/graph")
    visit.page.locator("svg.graph a").first.click()
    visit.page.wait_for_url("**/ui/notes/*")
    assert visit.troubles == []

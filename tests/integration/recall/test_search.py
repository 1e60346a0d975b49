"""Search, its tracks and the terms they weigh by, against a real database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from argus_memory.db import Database
from argus_memory.errors import UsageError
from argus_memory.rules.bm25 import score, tsquery
from argus_memory.settings import Settings
from argus_memory.stages import recall_tracks
from argus_memory.stages.recall_tracks import Question, find_candidates
from argus_memory.stages.search import Hits, search
from argus_memory.stages.spaces import find_active_space
from argus_memory.stages.terms import find_terms, refresh_terms
from tests.integration.recall.conftest import NOW, Store
from tests.memory_rows import add_note, add_turn, at


def find(store: Store, q: str, **more: Any) -> Hits:
    return search(store.db, store.settings, store.embedder, q=q, now=NOW, **more)


def test_notes_and_turns_are_found_in_one_list(store: Store) -> None:
    """Each hit tells its type, id, raw item, project and time."""
    hits = find(store, "charts report staging database port")
    assert {hit.type for hit in hits} == {"note", "turn"}
    answer = next(hit for hit in hits if hit.id == store.ids["answer"] and hit.type == "turn")
    assert answer.raw_id == answer.id
    assert answer.text == "The charts of the report are drawn by vega."
    assert answer.title.startswith("Assistant: The charts")
    assert answer.as_json()["at"].endswith("+00:00")
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_a_project_narrows_and_types_choose(store: Store) -> None:
    """Only the project's own rows, only the type asked for."""
    assert {hit.project for hit in find(store, "staging database", project="harbour")} == {"harbour"}
    assert {hit.type for hit in find(store, "staging database", types=("turn",))} == {"turn"}


def test_a_turn_is_searchable_at_once(store: Store) -> None:
    """Before any vector is made, by its words."""
    raw = add_turn(store.db, "the xylophone is broken", at(60), session="new")
    assert find(store, "xylophone", types=("turn",))[0].id == raw


def test_chinese_is_found_by_a_part_of_a_sentence(store: Store) -> None:
    """Text without blanks is found by pairs of its characters."""
    raw = add_turn(store.db, "我们决定把登录服务迁移到新的数据库", at(60), session="zh")
    assert find(store, "数据库迁移", types=("turn",))[0].id == raw


def test_a_large_project_is_searched_through_the_index(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound of the exact comparison the same rows come back."""
    exact = [hit.id for hit in find(store, "staging database port", project="garden")]
    monkeypatch.setattr(recall_tracks, "EXACT_ROWS", 0)
    assert [hit.id for hit in find(store, "staging database port", project="garden")] == exact


def test_the_named_speaker_is_preferred_and_her_name_no_search_word(db: Database, store: Store) -> None:
    """A question about Ada finds what Ada said, not what is said to her."""
    for number in range(4):
        add_turn(db, f"Ada: good morning number {number}", at(70 + number), session="chat")
    hers = add_turn(db, "Ada: I went to the pottery class on Monday.", at(90), session="chat2")
    add_turn(db, "Kim: Ada, Ada! Did you hear about the pottery class?", at(95), session="chat3")
    store.embed()
    assert find(store, "What class did Ada go to?", types=("turn",))[0].id == hers


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"q": " "}, "q:"),
        ({"q": "a", "types": ("raw",)}, "raw"),
        ({"q": "a", "types": ()}, "type"),
        ({"q": "a", "limit": 0}, "limit"),
    ],
)
def test_wrong_use_is_named(store: Store, arguments: dict[str, Any], problem: str) -> None:
    """A blank question, an unknown type and a limit out of range are refused with the field's name."""
    with pytest.raises(UsageError, match=problem):
        search(store.db, store.settings, store.embedder, now=NOW, **arguments)


@pytest.mark.parametrize("q", ["!!!", "the of and", "🙂"])
def test_a_question_without_search_words_still_finds_by_meaning(store: Store, q: str) -> None:
    """Stop words and symbols alone give no words to look up; nothing fails."""
    assert isinstance(find(store, q), Hits)


def test_a_word_that_nobody_ever_said_finds_nothing(store: Store) -> None:
    """The nearest vectors of a word without any match are no answer, unless they are near enough to be evidence."""
    assert list(find(store, "zzzzqq")) == []


def test_the_database_scores_as_the_reference_formula_does(store: Store) -> None:
    """BM25 written into the query, term counts read off ts_rank, equals BM25 computed here."""
    texts = ["vega vega vega charts", "charts", "vega " * 9, "the vega of a long turn " + "filler words here " * 20]
    ids = [add_turn(store.db, text, at(100 + n), session=f"b{n}") for n, text in enumerate(texts)]
    refresh_terms(store.db, now=NOW)
    with store.db.transaction() as conn:
        corpus = find_terms(conn, "turn", "vega charts")
        rows = recall_tracks.load_around(conn, Question("vega charts", NOW), corpus, ids, 0)
        lengths = {
            row["raw_id"]: row["tsv_length"]
            for row in conn.execute("select raw_id, tsv_length from turns where raw_id = any(%s)", (ids,))
        }
    counts = [{"vega": 3, "chart": 1}, {"chart": 1}, {"vega": 9}, {"vega": 1}]
    for id_, expected in zip(ids, counts, strict=True):
        row = next(row for row in rows if row["id"] == id_)
        assert row["bm25"] == pytest.approx(score(expected, lengths[id_], corpus), rel=1e-6)


def test_terms_are_counted_and_a_refresh_replaces_them(db: Database, store: Store) -> None:
    """Frequencies follow the store; terms of one or two documents are not kept and count as rarest."""
    for number in range(5):
        add_turn(db, f"the quokka number{number}", at(200 + number), session="q")
    assert refresh_terms(db, now=NOW).documents == {"turn": 12, "note": 4}
    with db.transaction() as conn:
        terms = {term.lexeme: term.documents for term in find_terms(conn, "turn", "quokka number3 report").terms}
    assert terms["quokka"] == 5
    assert terms["number3"] == 0


def test_without_statistics_terms_are_counted_on_the_spot(db: Database, store: Store) -> None:
    """A store that was never counted knows which word is rare."""
    for number in range(4):
        add_turn(db, f"the quokka {number}", at(200 + number), session="q")
    db.fetch_all("delete from term_statistics returning 1")
    with db.transaction() as conn:
        terms = find_terms(conn, "turn", "quokka vega o'neil c:\\temp").terms
    assert {term.lexeme: term.documents for term in terms}["quokka"] == 4
    assert terms[-1].lexeme == "quokka"


def test_every_lexeme_survives_its_quoting(store: Store) -> None:
    """Whatever to_tsvector makes of odd text, the OR of it finds that text again."""
    text = "o'neil's c:\\temp\\x.txt 50% http://a.b/c?d=e&f user@host <tag> _under_ 3.14 don't"
    raw = add_turn(store.db, text, at(300), session="odd")
    with store.db.transaction() as conn:
        corpus = find_terms(conn, "turn", text)
        assert corpus.terms
        for term in corpus.terms:
            row = conn.execute(
                "select tsv @@ %s::tsquery as found from turns where raw_id = %s", (tsquery([term]), raw)
            ).fetchone()
            assert row
            assert row["found"], term.lexeme


def test_tombstoned_notes_are_not_among_the_candidates(db: Database, store: Store) -> None:
    """Neither track brings a note that is no longer live."""
    gone = {"id": store.ids["port"]}
    db.fetch_all("update distilled_notes set deleted_at = now() where id = %(id)s returning id", gone)
    with db.transaction() as conn:
        vector = store.embedder.embed_query("staging port")
        question = Question("staging port", NOW, vector, find_active_space(conn))
        assert store.ids["port"] not in find_candidates(conn, "note", question, 50).rows


def test_rrf_fusion_orders_by_plain_rank(store: Store, settings: Settings) -> None:
    """With ARGUS_FUSION=rrf the score of a hit is the plain sum over the tracks."""
    plain = replace(store, settings=replace(settings, fusion="rrf"))
    assert find(plain, "staging database port", types=("note",))[0].score == pytest.approx(2 / 61)


def test_the_number_of_queries_does_not_grow_with_the_rows(store: Store) -> None:
    """A search asks the database the same few questions whatever it finds."""

    def statements() -> int:
        before = len(_LOG)
        find(store, "staging database charts", limit=100)
        return len(_LOG) - before

    first = statements()
    assert first > 0
    for number in range(40):
        add_note(store.db, f"the staging database charts number {number}")
    store.embed()
    assert statements() == first


_LOG: list[str] = []


@pytest.fixture(autouse=True)
def count_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each execute of a connection is written down."""
    import psycopg

    _LOG.clear()
    original = psycopg.Connection.execute

    def execute(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        _LOG.append(str(query)[:40])
        return original(self, query, *args, **kwargs)

    monkeypatch.setattr(psycopg.Connection, "execute", execute)

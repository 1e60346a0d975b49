"""A store of invented notes and turns for speed measurements: Zipf words, vectors in clusters.

Rows are written in bulk with triggers off (`session_replication_role`), so this needs a superuser's connection.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
import psycopg
from numpy.typing import NDArray

WORDS = 50_000
CLUSTERS = 300
NOTE_WORDS = (8, 40)
SPREAD = 0.9  # noise beside a cluster's centre: neighbours at cosine 0.5 to 0.7, as sentence embedders give
_PARTS = "ba de fi go hu ka le mi no pu ra se ti vo wu xa ye zi cho sha tra ple gri dro ske"
SYLLABLES = tuple(_PARTS.split())


@dataclass(frozen=True)
class Vocabulary:
    """Words by rank; `weights` are Zipf's with exponent 1.05."""

    words: list[str]
    weights: NDArray[np.float64]

    def texts(self, random: np.random.Generator, count: int, low: int, high: int) -> list[str]:
        lengths = random.integers(low, high + 1, size=count)
        drawn = random.choice(len(self.words), size=int(lengths.sum()), p=self.weights)
        texts, start = [], 0
        for length in lengths:
            texts.append(" ".join(self.words[i] for i in drawn[start : start + length]))
            start += length
        return texts


def make_vocabulary() -> Vocabulary:
    words = []
    for number in range(WORDS):
        parts, rest = [], number + len(SYLLABLES)
        while rest:
            rest, digit = divmod(rest, len(SYLLABLES))
            parts.append(SYLLABLES[digit])
        words.append("".join(parts) + "n")
    weights = 1 / np.arange(3, WORDS + 3) ** 1.05
    return Vocabulary(words, weights / weights.sum())


class Clusters:
    """Unit vectors around CLUSTERS random centres."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.centres = np.random.default_rng(5).normal(size=(CLUSTERS, dim)).astype(np.float32)
        self.centres /= np.linalg.norm(self.centres, axis=1, keepdims=True)

    def draw(self, random: np.random.Generator, count: int) -> NDArray[np.float32]:
        noise = random.normal(size=(count, self.dim)).astype(np.float32) * SPREAD / np.sqrt(self.dim)
        vectors = self.centres[random.integers(0, CLUSTERS, size=count)] + noise
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def fill(admin: psycopg.Connection, space: int, dim: int, notes: int, turns: int) -> None:
    """Write `turns` raw items with their turns and vectors, and `notes` notes with vectors, over 20 projects."""
    random = np.random.default_rng(11)
    vocabulary, clusters = make_vocabulary(), Clusters(dim)
    admin.execute("set session_replication_role = replica")
    # Built at once afterwards: row by row a hundred thousand vectors take ten times as long.
    indexes = admin.execute("select indexname, indexdef from pg_indexes where indexdef ilike '%using hnsw%'").fetchall()
    for name, _ in indexes:
        admin.execute(f"drop index {name}")
    texts = vocabulary.texts(random, turns, *NOTE_WORDS)
    lines = io.StringIO()
    for number, text in enumerate(texts, 1):
        lines.write(f"{number}\t{text}\t{number // 30}\tp{number // 3000 % 20}\n")
    admin.execute("create temporary table made (n bigint, body text, session text, project text)")
    with admin.cursor().copy("copy made from stdin") as copy:
        copy.write(lines.getvalue())
    admin.execute(
        """
        insert into raw_items (id, source, kind, body, session, project, dedup_key, said_at, metadata)
        overriding system value
        select n, 'bench', 'turn', body, session, project, 'bench' || n, now() - n * interval '1 minute',
               jsonb_build_object('role', case n % 2 when 0 then 'user' else 'assistant' end)
        from made;
        insert into turns (raw_id, source, session, project, role, said_at, position, chars, tsv, tsv_length)
        select id, source, session, project, metadata ->> 'role', said_at, 0, length(body), argus_tsvector(body),
               length(argus_tsvector(body)) from raw_items;
        truncate made;
        """
    )
    texts = vocabulary.texts(random, notes, *NOTE_WORDS)
    with admin.cursor().copy("copy made from stdin") as copy:
        copy.write("".join(f"{n}\t{t}\t\tp{n // 2000 % 20}\n" for n, t in enumerate(texts, 1)))
    admin.execute(
        """
        insert into distilled_notes (id, uid, text_key, raw_id, title, content, category, importance, project, source_ref,
                                     said_at, model, valid_from, tsv, tsv_length)
        overriding system value
        select n, md5(n::text), md5(body), 1 + n % %(turns)s, left(body, 40), body, 'fact', (n % 10) / 10.0, project, body,
               now() - n * interval '1 minute', 'bench', now() - n * interval '1 minute', argus_tsvector(body),
               length(argus_tsvector(body)) from made;
        """
        .replace("%(turns)s", str(turns)).replace("n % 10)", "n % 10)")
    )
    _copy_vectors(admin, "turn_vectors", "raw_id", space, dim, turns, clusters, random)
    _copy_vectors(admin, "note_vectors", "note_id", space, dim, notes, clusters, random)
    admin.execute("set session_replication_role = origin")
    admin.execute("set maintenance_work_mem = '512MB'")
    for _, definition in indexes:
        admin.execute(definition)
    admin.commit()
    admin.autocommit = True
    admin.execute("vacuum analyze")


def _copy_vectors(
    admin: psycopg.Connection,
    table: str,
    key: str,
    space: int,
    dim: int,
    count: int,
    clusters: Clusters,
    random: np.random.Generator,
) -> None:
    with admin.cursor().copy(f"copy {table} (space_id, {key}, dim, embedding) from stdin") as copy:
        for start in range(0, count, 5000):
            vectors = clusters.draw(random, min(5000, count - start))
            rows = (
                f"{space}\t{start + n + 1}\t{dim}\t[{','.join(f'{x:.4f}' for x in vector)}]\n"
                for n, vector in enumerate(vectors)
            )
            copy.write("".join(rows))

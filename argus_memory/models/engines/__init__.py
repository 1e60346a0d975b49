"""The engines of agent tasks, and the chain that tries them in order.

    chain.py             order, left-alone, what comes next                                      run_chain
    claude.py codex.py   a command line, a process, its lines                                    (process.py)
    api.py               LiteLLM through models/llm.py
    classify_*.py        events, exit code, texts → Verdict                                      (pure)
    reset_times.py       "resets 3:45pm (Europe/Berlin)" → a UTC time                            (pure)
    records.py           EngineRequest, Verdict, Attempt, EngineResult

An attempt is ok, capped (until when), infra, content or timeout. Only a cap makes an engine be left alone later.
"""

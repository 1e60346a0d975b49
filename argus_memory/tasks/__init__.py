"""Recurring tasks: what config.ini asks for, the runner that reports every execution, the engines of agents.

    config.py    config.ini → TaskSpec | BrokenTask, a stanza each                                      (reads a file)
    registry.py  → tasks, task_schedules, task_pauses: what is in force since when
    runner.py    one execution in its own process group → task_runs, expected_runs, deliveries, alerts
    guard.py     the small process around it that reports the end whatever becomes of runner and database
    runs.py      reports: begin, beat, finish; POST /runs of other schedulers ends here too
    agent.py     run_agent over the engines of models/engines/ → engine_attempts, a captured synthesis
    agent_main.py, llm_main.py   the processes of agent and llm tasks; agent_loop.py: long jobs, turn by turn
"""

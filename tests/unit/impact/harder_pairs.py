"""Harder than pairs.py, and never tuned on: what recall really gives.

Written after the rule, before it was run on them. Who used a note mostly says it in other words; who did not still
speaks of the prompt's own subject, which is the note's too.
"""

from __future__ import annotations

from typing import Final

from tests.unit.impact.pairs import Shown

HARDER: Final = (
    Shown(
        "The billing service keeps its secrets in Vault under kv/billing.",
        "How do I add a secret to the billing service?",
        "Run `vault kv put kv/billing NEW_KEY=...` and restart the pods so they read it.",
        True,
    ),
    Shown(
        "The billing service keeps its secrets in Vault under kv/billing.",
        "The billing service returns 500 on refunds.",
        "The refund handler dereferences a null customer; I added a guard in billing/refund.py and a test.",
        False,
    ),
    Shown(
        "User: We never deploy on Fridays.",
        "Can we ship the fix to production now?",
        "It is Friday, and you do not deploy on Fridays. I prepared the release so that it can go out on Monday.",
        True,
    ),
    Shown(
        "User: We never deploy on Fridays.",
        "Deploy the documentation to the preview site.",
        "Deployed: the preview is at docs-preview, built from the current branch.",
        False,
    ),
    Shown(
        "The orders table is partitioned by month on created_at.",
        "Why is this query on orders so slow?",
        "It filters on updated_at only, so every monthly partition is scanned. Add a condition on created_at to let the planner prune.",
        True,
    ),
    Shown(
        "The orders table is partitioned by month on created_at.",
        "Add a column discount to orders.",
        "Here is the migration: `alter table orders add column discount numeric(5,2) not null default 0;`. Existing rows get 0.",
        False,
    ),
    Shown(
        "Marta is vegetarian and Jon eats no shellfish.",
        "Plan the dinner for Marta and Jon on Saturday.",
        "A mushroom risotto with a green salad and a pear tart: no meat and nothing from the sea.",
        True,
    ),
    Shown(
        "Marta is vegetarian and Jon eats no shellfish.",
        "When do Marta and Jon arrive on Saturday?",
        "Their message says the train gets in at 16:40; dinner could be at seven.",
        False,
    ),
    Shown(
        "Integration tests need the redis container; start it with make services.",
        "Run the integration tests.",
        "I ran `make services` first, then pytest tests/integration: 88 passed.",
        True,
    ),
    Shown(
        "Integration tests need the redis container; start it with make services.",
        "Add an integration test for login.",
        "Added tests/integration/test_login.py with three cases: right password, wrong password, locked account.",
        False,
    ),
    Shown(
        "The user wants commit messages in the imperative, without a trailing period.",
        "Commit this.",
        'Committed as "Guard refunds against missing customers".',
        True,
    ),
    Shown(
        "The user wants commit messages in the imperative, without a trailing period.",
        "Which commit broke the build?",
        "git bisect points at 4f2a9c1, which removed the export of parseDate.",
        False,
    ),
    Shown(
        "The NAS does a scrub on the first Sunday of each month.",
        "The NAS is slow today.",
        "Today is the first Sunday, so a scrub is probably running; it should be back to normal by evening.",
        True,
    ),
    Shown(
        "The NAS does a scrub on the first Sunday of each month.",
        "How do I add a share on the NAS?",
        "In the web interface choose Storage, Shares, Create, then give the group family read and write rights.",
        False,
    ),
    Shown(
        "Decided: date handling uses Temporal, moment was removed.",
        "Format this timestamp as a local date.",
        "Used `Temporal.Instant.from(ts).toZonedDateTimeISO(zone).toPlainDate().toString()`.",
        True,
    ),
    Shown(
        "Decided: date handling uses Temporal, moment was removed.",
        "The date picker shows the wrong month.",
        "Months were counted from zero in the label; it now adds one before looking up the name.",
        False,
    ),
    Shown(
        "The Postgres server has max_connections 60.",
        "We get 'too many clients' errors from Postgres.",
        "The pool of each worker holds 20 and there are four workers: 80 against the 60 the server allows. Set the pool to 12.",
        True,
    ),
    Shown(
        "The Postgres server has max_connections 60.",
        "Upgrade Postgres to the next major version.",
        "Steps: dump, install the new server, restore, run analyze. Plan for about twenty minutes offline.",
        False,
    ),
    Shown(
        "Lena's school starts at 7:50 and the bus takes 25 minutes.",
        "When should Lena leave for school?",
        "At a quarter past seven at the latest: that gets her there ten minutes before the bell.",
        True,
    ),
    Shown(
        "Lena's school starts at 7:50 and the bus takes 25 minutes.",
        "Write a note to Lena's school that she is ill.",
        "Dear Ms Huber, Lena has a fever and cannot come to school today. Kind regards.",
        False,
    ),
    Shown(
        "The mobile app talks to api-v2 only; api-v1 is frozen.",
        "Add the avatar endpoint for the mobile app.",
        "Added GET /v2/users/{id}/avatar and left v1 untouched, since it is frozen.",
        True,
    ),
    Shown(
        "The mobile app talks to api-v2 only; api-v1 is frozen.",
        "The mobile app crashes on start.",
        "The crash log shows a missing font file; I added it to the bundle and the app starts again.",
        False,
    ),
    Shown(
        "User: Keep answers short, no headings.",
        "What does `git rebase --onto` do?",
        "It moves a range of commits onto another base: git rebase --onto NEW OLD BRANCH.",
        True,
    ),
    Shown(
        "User: Keep answers short, no headings.",
        "Explain the event loop.",
        "## The event loop\n\nThe event loop takes tasks from a queue, one at a time.\n\n## Microtasks\n\nPromises run between tasks, before rendering, and so on at length.",
        False,
    ),
    Shown(
        "The heating boiler locks out when pressure falls below 0.8 bar.",
        "The heating is off and shows a red light.",
        "Look at the gauge: under 0.8 bar the boiler locks out. Top it up to 1.5 and press reset.",
        True,
    ),
    Shown(
        "The heating boiler locks out when pressure falls below 0.8 bar.",
        "What does a new boiler cost?",
        "A condensing boiler is about 6,000 to 9,000 installed; a heat pump more, before subsidies.",
        False,
    ),
    Shown(
        "The data team owns the events schema; changes go through an RFC.",
        "Rename the field userId to user_id in the events.",
        "That field belongs to the data team's schema and needs an RFC. I drafted one in docs/rfc/user-id.md.",
        True,
    ),
    Shown(
        "The data team owns the events schema; changes go through an RFC.",
        "Why are there duplicate events?",
        "The producer retries without an idempotency key; I set one from the request id.",
        False,
    ),
    Shown(
        "Tomas is allergic to penicillin.",
        "Tomas has a throat infection; what should we tell the doctor?",
        "Tell them about the penicillin allergy first, since that is the usual choice for throats, and how long the fever has lasted.",
        True,
    ),
    Shown(
        "Tomas is allergic to penicillin.",
        "When was Tomas last at the doctor?",
        "The calendar has an appointment on the third of October, a check of the knee.",
        False,
    ),
    Shown(
        "Terraform state lives in the bucket tf-state-prod, locked by DynamoDB.",
        "terraform apply says the state is locked.",
        "A lock was left in DynamoDB. If nobody is applying, `terraform force-unlock` with the id it prints frees it.",
        True,
    ),
    Shown(
        "Terraform state lives in the bucket tf-state-prod, locked by DynamoDB.",
        "Add a tag to all instances in terraform.",
        "Put `default_tags` into the provider block: every instance takes Environment and Owner from there.",
        False,
    ),
    Shown(
        "The search index is rebuilt nightly at 02:30.",
        "New products do not show up in search.",
        "They will after tonight's rebuild at 02:30. To have them now, run the rebuild by hand.",
        True,
    ),
    Shown(
        "The search index is rebuilt nightly at 02:30.",
        "Search for 'blue lamp' gives green chairs.",
        "The analyzer stems 'lamp' to nothing because of a wrong synonym rule; removing the rule fixes it.",
        False,
    ),
    Shown(
        "Decided: we pay Hana per chapter, 400 euros each.",
        "How much do we owe Hana for three chapters?",
        "1,200 euros.",
        True,
    ),
    Shown(
        "Decided: we pay Hana per chapter, 400 euros each.",
        "Send Hana feedback on the third chapter.",
        "Dear Hana, the third chapter reads well; the scene at the harbour could be shorter. Best wishes.",
        False,
    ),
    Shown(
        "The frontend supports Safari 15 and later.",
        "Can I use the :has() selector in the frontend?",
        "Partly: Safari has it from 15.4 on, and you support 15, so add a fallback class.",
        True,
    ),
    Shown(
        "The frontend supports Safari 15 and later.",
        "The frontend build takes four minutes.",
        "Most of it is type checking; moved to a separate job, the build takes 50 seconds.",
        False,
    ),
    Shown(
        "The tests must not touch the network; use the recorded cassettes.",
        "Write a test for the weather client.",
        "Added test_weather.py; it replays a cassette in place of the real service.",
        True,
    ),
    Shown(
        "The tests must not touch the network; use the recorded cassettes.",
        "One of the tests is flaky.",
        "test_sort depends on dictionary order of equal keys; I made the sort stable by id.",
        False,
    ),
)

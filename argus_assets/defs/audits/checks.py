"""One asset check an audit (argus_memory/watch/audits/), all in one step: a step is six event rows, a check one."""

from collections.abc import Iterator

import dagster as dg

from argus_assets.resources import MemoryResource
from argus_memory.settings import Settings
from argus_memory.upkeep.process import utc_now
from argus_memory.watch.audits import AUDITS, Audit, Finding, run_audits
from argus_memory.watch.audits.run import check_url, look_command

SEVERITY = {"warn": dg.AssetCheckSeverity.WARN, "error": dg.AssetCheckSeverity.ERROR}
BY_KEY = {dg.AssetCheckKey(dg.AssetKey(audit.asset), audit.name): audit for audit in AUDITS}


@dg.multi_asset_check(
    name="audits",
    specs=[dg.AssetCheckSpec(audit.name, asset=audit.asset, description=audit.question) for audit in AUDITS],
    can_subset=True,
)
def audits(context: dg.AssetCheckExecutionContext, memory: MemoryResource) -> Iterator[dg.AssetCheckResult]:
    """Ask every question that was selected; one that cannot be asked is a failed check, not a failed run."""
    selected = [audit for key, audit in BY_KEY.items() if key in context.selected_asset_check_keys]
    settings = memory.settings
    for each in run_audits(
        memory.db, settings, now=utc_now(), by="dagster", run_id=context.run.run_id, audits=selected
    ):
        if not each.kept:
            context.log.warning("the answer of %s could not be kept: the database is away", each.audit.key)
        yield check_result(each.audit, each.finding, settings)


def check_result(audit: Audit, finding: Finding, settings: Settings) -> dg.AssetCheckResult:
    """`unknown` passes, and says in its metadata that there was nothing to judge by."""
    return dg.AssetCheckResult(
        check_name=audit.name,
        asset_key=audit.asset,
        passed=finding.status != "failed",
        severity=SEVERITY[audit.severity],
        description=finding.detail or None,
        metadata={
            "status": finding.status,
            "offending": dg.MetadataValue.json(list(finding.offending)),
            "total": finding.total,
            "page": dg.MetadataValue.url(check_url(settings, audit)),
            "look": dg.MetadataValue.md(f"```\n{look_command(audit)}\n```"),
        },
    )

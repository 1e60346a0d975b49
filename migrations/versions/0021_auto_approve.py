"""The switch that approves what waited long enough without being contested, and when a person last looked."""

from alembic import op

revision = "0021_auto_approve"
down_revision = "0020_receiving"


def upgrade() -> None:
    op.execute(
        r"""
        alter table dedup_log add column auto_at timestamptz;
        alter table note_proposals add column auto_at timestamptz, add column made_note boolean not null default false;
        comment on column note_proposals.made_note is 'the note was made of it, and did not stand before';
        comment on column dedup_log.auto_at is 'when ARGUS_AUTO_APPROVE let it through; taken back, it waits for a person alone';
        comment on column note_proposals.auto_at is 'as in dedup_log';

        create function argus_proposal_settled() returns trigger language plpgsql as $$
        begin
            insert into note_events (note_id, uid, project, at, event, actor, detail)
            select n.id, n.uid, n.project, argus_clock(new.decided_at),
                   case new.status when 'accepted' then 'approved' when 'auto-accepted' then 'auto-approved'
                       else 'undone' end,
                   coalesce(new.decided_by, argus_actor()), jsonb_build_object('proposal', new.id)
            from distilled_notes n where n.id = coalesce(new.note_id, old.note_id);
            return null;
        end $$;
        create trigger note_proposals_noted after update on note_proposals
            for each row when (new.status is distinct from old.status) execute function argus_proposal_settled();
        """
    )

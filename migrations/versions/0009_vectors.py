"""Vectors by embedding space; one of the wrong size is refused by name."""

from alembic import op

revision = "0009_vectors"
down_revision = "0008_distill_audit"


def upgrade() -> None:
    op.execute(
        r"""
        create table turn_vectors (
            space_id integer not null,
            raw_id bigint not null references raw_items,
            dim integer not null,
            embedding vector not null,
            created_at timestamptz not null default now(),
            primary key (space_id, raw_id),
            constraint turn_vectors_space foreign key (space_id, dim) references embedding_spaces (id, dim),
            constraint turn_vectors_dimension check (vector_dims(embedding) = dim)
        );
        create table note_vectors (
            space_id integer not null,
            note_id bigint not null references distilled_notes,
            dim integer not null,
            embedding vector not null,
            created_at timestamptz not null default now(),
            primary key (space_id, note_id),
            constraint note_vectors_space foreign key (space_id, dim) references embedding_spaces (id, dim),
            constraint note_vectors_dimension check (vector_dims(embedding) = dim)
        );
        """
    )

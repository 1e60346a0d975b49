"""How text becomes search terms, languages without spaces included."""

from alembic import op

revision = "0003_text_search"
down_revision = "0002_raw_items"


def upgrade() -> None:
    op.execute(
        r"""
        create function argus_text_config() returns regconfig language sql stable as
            $$ select value::regconfig from store_settings where key = 'text_search' $$;

        -- Chinese, Japanese and Korean runs become overlapping pairs of characters, so that a query finds a part of
        -- a sentence; text without them is returned as it is.
        create function argus_segment(body text) returns text language plpgsql immutable parallel safe as $$
        declare
            run text;
            result text := '';
        begin
            if body !~ '[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]' then
                return body;
            end if;
            for run in
                select (regexp_matches(
                    body,
                    '[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+|[^\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+',
                    'g'))[1]
            loop
                if run ~ '^[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]' then
                    result := result || ' ' || (
                        select string_agg(substr(run, i, 2), ' ' order by i)
                        from generate_series(1, greatest(length(run) - 1, 1)) as i
                    ) || ' ';
                else
                    result := result || run;
                end if;
            end loop;
            return result;
        end $$;

        -- A tsvector may hold one megabyte of terms; what does not fit is indexed by its beginning.
        create function argus_tsvector(body text) returns tsvector language plpgsql stable as $$
        begin
            if length(body) <= 100000 then
                if octet_length(body) = length(body) then  -- ASCII: nothing to segment
                    return to_tsvector(argus_text_config(), body);
                end if;
                return to_tsvector(argus_text_config(), argus_segment(body));
            end if;
            begin
                return to_tsvector(argus_text_config(), argus_segment(body));
            exception when program_limit_exceeded then
                return to_tsvector(argus_text_config(), argus_segment(left(body, 100000)));
            end;
        end $$;
        """
    )

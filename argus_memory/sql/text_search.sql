-- name: find_configuration
select 1 as found from pg_ts_config where cfgname = %(name)s and pg_ts_config_is_visible(oid)

-- name: find_configurations
select cfgname as name from pg_ts_config where pg_ts_config_is_visible(oid) order by cfgname

-- name: lock_setting
select value from store_settings where key = 'text_search' for update

-- name: change_setting
update store_settings set value = %(name)s, changed_at = %(now)s where key = 'text_search'

-- name: reindex_turns
update turns t set tsv = n.tsv, tsv_length = length(n.tsv)
from raw_items r cross join lateral (select argus_tsvector(r.body) as tsv) n
where r.id = t.raw_id

-- name: reindex_notes
-- The table's own trigger makes terms only when the text changes, which it does not here.
update distilled_notes n set tsv = t.tsv, tsv_length = length(t.tsv)
from (select id, argus_tsvector(title || ' ' || content || ' ' || array_to_string(keywords, ' ')) as tsv
      from distilled_notes) t
where t.id = n.id

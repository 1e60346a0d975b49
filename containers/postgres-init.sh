#!/bin/sh
# Run once by the postgres container on an empty volume: the role Argus works as, its database, and pgvector.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$ARGUS_DB_PASSWORD" --username postgres --dbname postgres <<'SQL'
create role argus login nosuperuser nocreatedb nocreaterole password :'password';
create database argus owner argus;
\connect argus
create extension if not exists vector;
SQL

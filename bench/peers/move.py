"""Moves a table into DuckDB as one of the field's libraries does: move.py WAY URL FILE TABLE"""

import sys

way, url, file, table = sys.argv[1:]

if way == "adbc":
    import adbc_driver_postgresql.dbapi
    import duckdb

    with adbc_driver_postgresql.dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")
        rows = cursor.fetch_record_batch()
        target = duckdb.connect(file)
        target.execute(f"CREATE TABLE {table} AS SELECT * FROM rows")
        target.close()
elif way == "connectorx":
    import connectorx
    import duckdb

    rows = connectorx.read_sql(url, f"SELECT * FROM {table}", return_type="arrow")
    target = duckdb.connect(file)
    target.execute(f"CREATE TABLE {table} AS SELECT * FROM rows")
    target.close()
elif way == "dlt":
    import os

    import dlt
    from dlt.sources.sql_database import sql_table

    os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
    pipeline = dlt.pipeline("bench", destination=dlt.destinations.duckdb(file), pipelines_dir=file + ".dlt")
    pipeline.run(sql_table(url.replace("postgres://", "postgresql+psycopg2://"), table=table, backend="connectorx"))
else:
    sys.exit(f"unknown: {way}")

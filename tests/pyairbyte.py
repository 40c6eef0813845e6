"""Reads a source of svc with PyAirbyte, as its users write it. Arguments: the executable, a configuration, a folder,
and a word for each run; "full" reads everything again.

Prints one line of JSON for each run: how many records PyAirbyte says it read, and the rows of its cache afterwards.
"""

import json
import sys
from pathlib import Path

import airbyte as ab
from airbyte.caches import DuckDBCache

executable, config, folder, *modes = sys.argv[1:]
cache = DuckDBCache(db_path=Path(folder) / "cache.duckdb")
for mode in modes:
    source = ab.get_source(
        "source-postgres",
        local_executable=executable,
        config=json.loads(Path(config).read_text()),
        streams="*",
    )
    source.set_cursor_key("orders", "updated_at")
    result = source.read(cache=cache, force_full_refresh=mode == "full")
    tables = {
        name: sorted(
            json.loads(dataset.to_pandas().to_json(orient="records", double_precision=15)),
            key=lambda row: row["id"],
        )
        for name, dataset in result.streams.items()
    }
    columns = cache.run_sql_query(
        "SELECT column_name AS name, data_type AS type FROM information_schema.columns "
        "WHERE table_name = 'orders' AND column_name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name"
    )
    print("RESULT " + json.dumps({"mode": mode, "read": result.processed_records, "tables": tables, "columns": columns}), flush=True)

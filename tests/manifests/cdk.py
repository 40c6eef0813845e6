"""Reads manifests with Airbyte's own interpreter, for the comparison with this one.

One process for all of them: importing the package takes seconds. Standard input has a line of JSON
for each reading, lines of standard output that begin with RESULT have its messages; the clock stands
still at the time that is the argument, and no wait takes time.
"""
import functools
import json
import logging
import os
import sys
import tempfile
import time

from freezegun import freeze_time

import airbyte_cdk.sources.declarative.concurrent_declarative_source as declarative
from airbyte_cdk.models import (
    AirbyteMessageSerializer,
    AirbyteStateMessageSerializer,
    ConfiguredAirbyteCatalogSerializer,
)

waits = []
# Shorter ones are those of its own threads, for one another.
time.sleep = lambda seconds: waits.append(seconds) if seconds >= 1 else None


class FactoryWithoutCache(declarative.ModelToComponentFactory):
    """Every request is sent, where parents' answers would be kept from one reading to the next."""

    def __init__(self, **options):
        super().__init__(**{**options, "disable_cache": True})


declarative.ModelToComponentFactory = FactoryWithoutCache
# The schema of manifests, 6,000 lines of YAML, which it reads for every source.
declarative.get_declarative_component_schema = functools.cache(declarative.get_declarative_component_schema)
logging.disable(logging.CRITICAL)


# Schemas of a manifest lie in a package of Python's.
package = os.path.join(tempfile.mkdtemp(), "source_case")
sys.path.insert(0, os.path.dirname(package))


def read(job):
    for path, schema in {"__init__.py": None, **job["files"]}.items():
        os.makedirs(os.path.dirname(os.path.join(package, path)), exist_ok=True)
        with open(os.path.join(package, path), "w") as file:
            file.write("" if schema is None else json.dumps(schema))
    source = declarative.ConcurrentDeclarativeSource(
        catalog=ConfiguredAirbyteCatalogSerializer.load(job["catalog"]) if "catalog" in job else None,
        config=job["config"],
        state=[AirbyteStateMessageSerializer.load(one) for one in job.get("state", [])],
        source_config=job["manifest"],
    )
    logger = logging.getLogger("airbyte")
    if job["verb"] == "discover":
        catalog = source.discover(logger, job["config"])
        return {"streams": [json.loads(json.dumps(one.json_schema)) | {"name": one.name} for one in catalog.streams]}
    catalog = ConfiguredAirbyteCatalogSerializer.load(job["catalog"])
    state = [AirbyteStateMessageSerializer.load(one) for one in job.get("state", [])]
    records, states, errors = [], [], []
    waits.clear()
    try:
        for message in source.read(logger, job["config"], catalog, state):
            raw = AirbyteMessageSerializer.dump(message)
            if raw["type"] == "RECORD":
                records.append(raw["record"]["data"])
            elif raw["type"] == "STATE":
                states.append(raw["state"]["stream"]["stream_state"])
            elif raw["type"] == "TRACE" and raw["trace"]["type"] == "ERROR":
                errors.append(raw["trace"]["error"].get("internal_message") or raw["trace"]["error"]["message"])
    except Exception as error:
        errors.append(f"{type(error).__name__}: {error}")
    return {"records": records, "states": states, "errors": errors, "waits": waits}


# Once for all readings: to stop a clock takes a look at every name of every module.
with freeze_time(sys.argv[1], ignore=["urllib3"]):
    for line in sys.stdin:
        job = json.loads(line)
        try:
            result = read(job)
        except BaseException as error:
            result = {"records": [], "states": [], "waits": [], "errors": [f"{type(error).__name__}: {error}"[-400:].replace("\n", " ")]}
        print("RESULT " + json.dumps(result, default=str), flush=True)

import { describeDeletes } from "../../../tests/destination-deletes.ts";
import { openDuckdbPlace } from "../../../tests/duckdb-place.ts";

describeDeletes("duckdb", openDuckdbPlace, { runCount: 12 });

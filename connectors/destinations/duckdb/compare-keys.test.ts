import { describeDeletes } from "../../../tests/destination-deletes.ts";
import { openDuckdbPlace } from "../../../tests/duckdb-place.ts";
import { choose } from "../../../tests/effort.ts";

describeDeletes("duckdb", openDuckdbPlace, {
  runCount: choose({ quick: 4, whole: 12 }),
});

import { describeDeletions } from "../../../tests/destination-deletions.ts";
import { openDuckdbPlace } from "../../../tests/duckdb-place.ts";

describeDeletions("duckdb", openDuckdbPlace, {
  async count(place, owner) {
    const table = `_svc_${owner}`;
    const [[count] = []] = await place.sql(
      `SELECT count(*) FROM _svc.tombstones WHERE table_name = '${table}'`,
    );
    return Number(count);
  },
  async forgetMoments(place) {
    await place.sql("ALTER TABLE _svc.tombstones DROP COLUMN noted_at");
  },
});

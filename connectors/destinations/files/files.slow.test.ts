import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { describeDestination } from "../../../tests/destination-behaviour.ts";
import { describeDeletions } from "../../../tests/destination-deletions.ts";
import { openFilesPlace } from "../../../tests/files-place.ts";
import { type Manifest, manifestPath } from "./manifest.ts";

type Place = Awaited<ReturnType<typeof openFilesPlace>>;

/** The file of what is remembered of the owner's one stream. */
async function tombstonesOf({ path }: Place, owner: string): Promise<string | undefined> {
  const manifest: Manifest = JSON.parse(await readFile(join(path, manifestPath(owner)), "utf8"));
  const file = manifest.tables[0]?.current?.tombstones;
  return file && join(path, file);
}

async function sql(text: string) {
  const connection = await (await DuckDBInstance.create()).connect();
  try {
    return (await connection.runAndReadAll(text)).getRowsJson();
  } finally {
    connection.closeSync();
  }
}

describeDestination("files", openFilesPlace);
describeDeletions("files", openFilesPlace, {
  async count(place, owner) {
    const file = await tombstonesOf(place, owner);
    if (file === undefined) return 0;
    const [[count] = []] = await sql(`SELECT count(*) FROM read_parquet('${file}')`);
    return Number(count);
  },
  async forgetMoments(place, owner) {
    const file = await tombstonesOf(place, owner);
    const select = `SELECT row_key, row_cursor FROM read_parquet('${file}')`;
    await sql(`COPY (${select}) TO '${file}.old' (FORMAT parquet)`);
    await rename(`${file}.old`, `${file}`);
  },
});

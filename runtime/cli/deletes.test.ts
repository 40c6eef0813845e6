import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ConfiguredStream } from "../contract/catalog.ts";
import { chooseDeletes } from "./deletes.ts";
import { choosePlace } from "./place.ts";

const orders = (
  mode: "full_refresh" | "incremental",
  key: string[] = ["id"],
): ConfiguredStream => ({
  stream: {
    name: "orders",
    json_schema: { type: "object", properties: { id: { type: "integer" } } },
    supported_sync_modes: ["full_refresh", "incremental"],
    source_defined_cursor: false,
    default_cursor_field: [],
    source_defined_primary_key: key.map((one) => [one]),
    is_resumable: false,
  },
  sync_mode: mode,
});

test("deleted rows are looked for in tables, of incremental streams with a key; the rest is told", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "svc-cli-deletes-"));
  const placeOf = (out: string) => choosePlace(out, { cwd, stdout: {} as never });
  try {
    const keyed = orders("incremental");
    const file = await placeOf("x.duckdb");
    expect(chooseDeletes(undefined, await placeOf("out"), [keyed])).toBeUndefined();
    for (const out of ["out", "x.parquet", "-"]) {
      const place = await placeOf(out);
      expect(() => chooseDeletes("soft", place, [keyed])).toThrow("--out x.duckdb");
    }
    expect(() => chooseDeletes("hard", file, [orders("full_refresh")])).toThrow("full refresh");
    const chosen = chooseDeletes("hard", file, [orders("incremental", []), keyed]);
    expect(chosen?.streams).toEqual([keyed]);
    expect(chosen?.lines).toEqual([expect.stringMatching(/^orders: .* needs append_dedup/)]);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
});

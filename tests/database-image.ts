/**
 * An embedded database with all tables and no rows, made once for as long as neither the migrations
 * nor PGlite nor this file change: to load it takes a tenth of the time that a new one takes. Each
 * load copies all of its files, so that it has no more of them than it needs.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { Kysely } from "kysely";
import { migrate } from "../control/store/database.ts";
import { initParams } from "../control/store/empty-cluster.ts";
import { createPgliteDialect } from "../control/store/pglite-dialect.ts";
import type { Tables } from "../control/store/tables.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const cache = `${root}node_modules/.cache/svc`;

let image: Promise<Blob> | undefined;

export function databaseImage(): Promise<Blob> {
  image ??= loadOrMake();
  return image;
}

async function loadOrMake(): Promise<Blob> {
  const name = `database-${await fingerprint()}.tar`;
  const found = await readFile(`${cache}/${name}`).catch(() => undefined);
  if (found) return new Blob([found]);
  const pglite = await PGlite.create({ initDbStartParams: [...initParams, "--wal-segsize=1"] });
  const db = new Kysely<Tables>({ dialect: createPgliteDialect(pglite) });
  await migrate(db);
  await pglite.exec("CHECKPOINT");
  const { rows } = await pglite.query<{ name: string }>(
    "SELECT pg_walfile_name(redo_lsn) AS name FROM pg_control_checkpoint()",
  );
  const dumped = await pglite.dumpDataDir("none");
  await db.destroy();
  const made = withoutUnused(Buffer.from(await dumped.arrayBuffer()), rows[0]?.name ?? "");
  await mkdir(cache, { recursive: true });
  const draft = `${cache}/${randomUUID()}`;
  await writeFile(draft, made);
  await rename(draft, `${cache}/${name}`);
  const old = (await readdir(cache)).filter(
    (file) => file.startsWith("database-") && file !== name,
  );
  for (const file of old) await rm(`${cache}/${file}`, { force: true });
  return new Blob([made]);
}

/**
 * An archive without what nobody opens: the databases that PostgreSQL copies for CREATE DATABASE,
 * and parts of its log that wait to be written again.
 */
function withoutUnused(archive: Buffer, log: string): Buffer<ArrayBuffer> {
  const isUnused = (path: string) =>
    /^\/?base\/[14]\/\d/.test(path) || (/^\/?pg_wal\/\w{24}$/.test(path) && !path.endsWith(log));
  const block = 512;
  const kept: Buffer[] = [];
  for (let at = 0; at < archive.length; ) {
    const text = (from: number, length: number) =>
      archive.toString("latin1", at + from, at + from + length).replace(/[\0 ].*$/s, "");
    const size = block + Math.ceil(Number.parseInt(text(124, 12) || "0", 8) / block) * block;
    if (!isUnused(text(0, 100))) kept.push(archive.subarray(at, at + size));
    at += size;
  }
  return Buffer.concat(kept);
}

async function fingerprint(): Promise<string> {
  const hash = createHash("sha256");
  const folder = `${root}control/store/migrations`;
  for (const file of (await readdir(folder)).sort())
    hash.update(await readFile(`${folder}/${file}`));
  for (const file of ["node_modules/@electric-sql/pglite/package.json", "tests/database-image.ts"])
    hash.update(await readFile(root + file));
  return hash.digest("hex").slice(0, 16);
}

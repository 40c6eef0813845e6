/** A working folder of `svc` that has been started before, but for the work of starting it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { openKeyring } from "../control/vault/keyring.ts";
import { databaseImage } from "./database-image.ts";

/**
 * Puts a database with all tables and no rows there, and a key file. `svc serve` still makes its
 * first user and says the first token. `data`: as `--data` names it.
 */
export async function prepareInstance(cwd: string, data = ".svc"): Promise<void> {
  const folder = join(cwd, data);
  const database = join(folder, "database");
  await mkdir(database, { recursive: true, mode: 0o700 });
  await openKeyring(join(folder, "keys.json"), { create: true });
  const child = spawn("tar", ["-x", "-C", database], { stdio: ["pipe", "ignore", "ignore"] });
  const ended = once(child, "close");
  await pipeline((await databaseImage()).stream(), child.stdin);
  const [code] = await ended;
  if (code !== 0) throw new Error(`tar ended with ${code}`);
}

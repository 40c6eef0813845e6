/** The key of hashed columns, for `svc read` and `svc run`. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { readText } from "./files.ts";
import { printable, UsageError } from "./usage.ts";

export interface HashKey {
  readonly key: Uint8Array;
  /** The file that it was written to just now. */
  readonly madeIn?: string | undefined;
}

/** Beside the configuration, where secrets are; never beside the rows, which may be given away. */
const defaultName = "svc-hash.key";

/** Characters of a key, at least: 16 bytes in base64. */
const minLength = 22;

/** The key in a file that somebody names. @throws UsageError */
export async function readHashKey(path: string, cwd: string): Promise<Uint8Array> {
  const text = (await readText(path, "secret", cwd)).trim();
  if (text.length < minLength)
    throw new UsageError(
      `hash key file "${printable(path)}": is too short to be a key; make one: openssl rand -base64 32`,
    );
  return Buffer.from(text);
}

/** The key beside a configuration, which is made the first time. @throws UsageError */
export async function openHashKey(configPath: string, cwd: string): Promise<HashKey> {
  const path = join(dirname(resolve(cwd, configPath)), defaultName);
  try {
    await writeFile(path, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
    return { key: await readHashKey(path, cwd), madeIn: path };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      return { key: await readHashKey(path, cwd) };
    throw new UsageError(
      `hash key file "${printable(path)}": cannot be written; name one with --hash-key FILE`,
    );
  }
}

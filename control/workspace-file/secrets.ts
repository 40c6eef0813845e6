/** Secrets that a workspace file names: fetched when they are needed, never shown. */
import { access, constants, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { printable, readText, UsageError } from "svc-connectors/host";
import { type Fault, FaultyFile, type ReadFile } from "./read.ts";
import type { Entries, SecretReference } from "./schema.ts";

export interface SecretPlaces {
  /** Folder of the workspace file: paths are relative to it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** @throws UsageError naming the place of the secret */
async function fetchSecret(reference: SecretReference, { folder, env }: SecretPlaces) {
  if ("$file" in reference)
    return (await readText(reference.$file, "secret", folder)).replace(/\r?\n$/, "");
  const value = env[reference.$env];
  if (value === undefined || value === "")
    throw new UsageError(`the environment has no ${printable(reference.$env)}`);
  return value;
}

/** The secrets of a credential. @throws UsageError */
export async function fetchSecrets(
  { secrets = {} }: Entries["credentials"],
  places: SecretPlaces,
): Promise<Readonly<Record<string, string>>> {
  const fetched = Object.entries(secrets).map(
    async ([field, reference]) => [field, await fetchSecret(reference, places)] as const,
  );
  return Object.fromEntries(await Promise.all(fetched));
}

/** Shorter ones are words that may stand anywhere. */
const minSoughtLength = 8;

/**
 * Sees before anything is done that the secrets of these credentials can be had, and that none of
 * them stands in the file. @throws FaultyFile
 */
export async function checkSecretsOf(
  file: ReadFile,
  names: readonly string[],
  places: SecretPlaces,
): Promise<void> {
  const faults: Fault[] = [];
  for (const name of names) {
    for (const [field, reference] of Object.entries(
      file.content.credentials?.[name]?.secrets ?? {},
    )) {
      const path = ["credentials", name, "secrets", field];
      try {
        const secret = await fetchSecret(reference, places);
        if (secret.length >= minSoughtLength && file.text.includes(secret))
          faults.push({ path, problem: "has a value that stands in this file: take it out" });
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        faults.push({ path, problem: `cannot be had: ${error.message}` });
      }
    }
  }
  if (faults.length > 0) throw new FaultyFile(file, faults);
}

/** A place for a secret that is shown once: nothing is written over. @throws UsageError */
export async function keepSecret(path: string, secret: string, folder: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  try {
    await using file = await open(resolve(folder, path), flags, 0o600);
    await file.writeFile(`${secret}\n`);
  } catch {
    throw new UsageError(
      `the signing secret could not be written to "${printable(path)}"; POST /webhook-endpoints/{webhook_endpoint_id}/rotate-secret gives another`,
    );
  }
}

/** @throws FaultyFile when a place for a signing secret is taken, or cannot be written to */
export async function checkPlaces(
  file: ReadFile,
  names: readonly string[],
  folder: string,
): Promise<void> {
  const faults: Fault[] = [];
  for (const name of names) {
    const path = file.content.webhooks?.[name]?.signing_secret_file;
    if (path === undefined) continue;
    const place = resolve(folder, path);
    const problem = await problemOf(place);
    if (problem) faults.push({ path: ["webhooks", name, "signing_secret_file"], problem });
  }
  if (faults.length > 0) throw new FaultyFile(file, faults);
}

async function problemOf(place: string): Promise<string | undefined> {
  const can = (path: string, mode: number) =>
    access(path, mode).then(
      () => true,
      () => false,
    );
  if (await can(place, constants.F_OK)) return "is there already, and would be written over";
  return (await can(dirname(place), constants.W_OK))
    ? undefined
    : "is in no folder that can be written to";
}

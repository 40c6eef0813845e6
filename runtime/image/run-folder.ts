/**
 * The files of one run of an image: what its program is given, and the socket of its proxy. In
 * memory where the system has a place for that, since settings may hold what the operator exposes.
 */
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ImageCommand } from "../contract/image.ts";
import type { JsonObject } from "../contract/json.ts";

export interface RunFolder extends AsyncDisposable {
  /** The folder that the gate sees. */
  readonly gate: string;
  /** The folder that the image sees, read-only. */
  readonly image: string;
}

const prefix = "svc-image-";

/** Only this user looks into it; what containers see of it others may read there. */
export async function createRunFolder(): Promise<RunFolder> {
  const root = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  await removeLeftovers(root);
  const path = await mkdtemp(join(root, `${prefix}${process.pid}-`));
  const folder = { gate: join(path, "gate"), image: join(path, "image") };
  for (const one of Object.values(folder)) {
    await mkdir(one);
    await chmod(one, 0o755);
  }
  return { ...folder, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Removes folders of processes that were killed. */
async function removeLeftovers(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split("-")[0]) : 0;
    if (!(pid > 0) || isRunning(pid)) continue;
    await rm(join(root, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's runs too.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Where the image finds its files. */
const mountPoint = "/svc";
const caFile = "ca.pem";

export interface RunFiles {
  readonly verb: ImageCommand["verb"] | "spec";
  readonly config?: JsonObject | undefined;
  readonly catalog?: ImageCommand["catalog"];
  readonly state?: ImageCommand["state"];
  /** PEM of the authority that the image has to trust. */
  readonly ca: string;
}

/** Writes the files of a run; gives the arguments that name them. */
export async function writeRunFiles(folder: string, files: RunFiles): Promise<readonly string[]> {
  const { verb, ca } = files;
  const args: string[] = [verb];
  await writeFile(join(folder, caFile), ca);
  for (const name of ["config", "catalog", "state"] as const) {
    if (files[name] === undefined) continue;
    await writeFile(join(folder, `${name}.json`), JSON.stringify(files[name]));
    args.push(`--${name}`, `${mountPoint}/${name}.json`);
  }
  return args;
}

export const mountOf = (folder: string) => `${folder}:${mountPoint}:ro`;

/** Leads HTTP clients of any language through a proxy, and lets them trust its authority. */
export function proxyEnvironment(
  url: string,
  ca = `${mountPoint}/${caFile}`,
): Readonly<Record<string, string>> {
  return {
    HTTPS_PROXY: url,
    https_proxy: url,
    HTTP_PROXY: url,
    http_proxy: url,
    ALL_PROXY: url,
    NO_PROXY: "",
    no_proxy: "",
    SSL_CERT_FILE: ca,
    REQUESTS_CA_BUNDLE: ca,
    CURL_CA_BUNDLE: ca,
    AWS_CA_BUNDLE: ca,
    NODE_EXTRA_CA_CERTS: ca,
    NODE_USE_ENV_PROXY: "1",
  };
}

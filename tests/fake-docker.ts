/**
 * A command `docker` for tests of what is around images: it knows images and a registry from files,
 * and its programs say what stands in a file. It has no walls and no network: those are tried with
 * Docker, in tests/image-runtime.long.test.ts.
 */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const script = `#!/bin/sh
here=$(dirname "$0")
file() { printf '%s' "$1" | tr '/:' '__'; }
case "$1 $2" in
"version "*) [ ! -e "$here/stopped" ] && echo linux ;;
"image inspect") shift; for name; do :; done; cat "$here/images/$(file "$name")" 2>/dev/null ;;
"pull "*) cp "$here/registry/$(file "$3")" "$here/images/" 2>/dev/null && echo "$3" >>"$here/pulled" ;;
"run --interactive") echo ready; cat >/dev/null ;;
"run "*)
  while [ "$1" != "" ]; do case "$1" in sha256:*) break ;; *) shift ;; esac; done
  echo "$2" >>"$here/runs"
  cat "$here/programs/$(file "$1").$2" 2>/dev/null ;;
esac
`;

export interface FakeImage {
  readonly repository: string;
  readonly tag: string;
  /** Hexadecimal digit of which its digest is made; that of its program is the same one. */
  readonly digit: string;
  /** The messages of its program, by verb. */
  readonly says: Readonly<Record<string, readonly object[]>>;
  /** In the registry alone: default false. */
  readonly isRemote?: boolean;
}

export const fakeDigest = (digit: string) => `sha256:${digit.repeat(64)}`;
const fileOf = (name: string) => name.replace(/[/:]/g, "_");

/** Stands before everything in PATH until it is disposed of. */
export async function startFakeDocker() {
  const folder = await mkdtemp(join(tmpdir(), "svc-docker-"));
  for (const name of ["images", "registry", "programs"]) await mkdir(join(folder, name));
  await writeFile(join(folder, "docker"), script);
  await chmod(join(folder, "docker"), 0o755);
  await writeFile(join(folder, "images", fileOf("svc-image-gate:1")), "{}");
  const before = process.env.PATH;
  process.env.PATH = `${folder}${delimiter}${before}`;
  const linesOf = async (name: string) => {
    const text = await readFile(join(folder, name), "utf8").catch(() => "");
    return text.split("\n").filter((line) => line !== "");
  };
  return {
    async add({ repository, tag, digit, says, isRemote = false }: FakeImage): Promise<void> {
      const digest = fakeDigest(digit);
      const facts = {
        Id: digest,
        Architecture: process.arch === "x64" ? "amd64" : process.arch,
        Os: "linux",
        RepoDigests: [`${repository}@${digest}`],
        Config: {
          User: "65534",
          Labels: { "io.airbyte.version": `1.0.${Number.parseInt(digit, 16)}` },
        },
      };
      for (const name of [`${repository}:${tag}`, `${repository}@${digest}`])
        await writeFile(
          join(folder, isRemote ? "registry" : "images", fileOf(name)),
          JSON.stringify(facts),
        );
      for (const [verb, messages] of Object.entries(says))
        await writeFile(
          join(folder, "programs", `${fileOf(digest)}.${verb}`),
          messages.map((message) => `${JSON.stringify(message)}\n`).join(""),
        );
    },
    /** An image leaves this machine. */
    remove: (name: string) => rm(join(folder, "images", fileOf(name))),
    /** Its server no longer answers, or does again. */
    stop: () => writeFile(join(folder, "stopped"), ""),
    start: () => rm(join(folder, "stopped")),
    /** Verbs that programs were started with, in order. */
    runs: () => linesOf("runs"),
    /** Names that were pulled, in order. */
    pulled: () => linesOf("pulled"),
    async [Symbol.asyncDispose]() {
      process.env.PATH = before;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
export type FakeDocker = Awaited<ReturnType<typeof startFakeDocker>>;

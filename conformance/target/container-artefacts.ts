/**
 * Traces of a finished container: its log as Docker keeps it, what `docker inspect` shows of it,
 * and the files that it wrote.
 */
import type { Readable } from "node:stream";
import type { Ending } from "../contract/target.ts";
import type { Container } from "./container-docker.ts";
import { isMessage, readOutput } from "./container-output.ts";

export type Artefact = NonNullable<Ending["artefacts"]>[number];

/** Larger files are data, not traces; so many files show a habit. */
const maxFileBytes = 2 ** 18;
const maxFiles = 50;
/** Docker Engine API, "Get changes on a container's filesystem". */
const deleted = 2;

/** @param mounted folder that the kit itself put into the container */
export async function readArtefacts(
  container: Container,
  mounted: string,
): Promise<readonly Artefact[]> {
  const [log, inspected, files] = await Promise.all([
    readLog(container),
    container.inspect(),
    readFiles(container, mounted),
  ]);
  return [
    { name: "container log", text: log },
    { name: "docker inspect", text: JSON.stringify(inspected, null, 2) },
    ...files,
  ];
}

async function readLog(container: Container): Promise<string> {
  const buffer = await container.logs({ stdout: true, stderr: true, follow: false });
  const texts: string[] = [];
  await readOutput(one(buffer), {
    line: async (text) => {
      if (!isMessage(text)) texts.push(`${text}\n`);
    },
    error: (text) => void texts.push(text),
  });
  return texts.join("");
}

async function* one(buffer: Buffer) {
  yield buffer;
}

export async function readFiles(
  container: Container,
  mounted: string,
): Promise<readonly Artefact[]> {
  const changes = ((await container.changes()) ?? []) as readonly {
    readonly Path: string;
    readonly Kind: number;
  }[];
  const paths = changes
    .filter(({ Path, Kind }) => Kind !== deleted && Path !== mounted)
    .map(({ Path }) => Path);
  // A folder is listed when something in it changed; only what nothing lies below is read.
  const folders = new Set(paths.flatMap((path) => [...ancestors(path)]));
  const leaves = paths.filter((path) => !folders.has(path)).slice(0, maxFiles);
  const artefacts: Artefact[] = [];
  for (const path of leaves) {
    const text = await readText(container, path);
    if (text !== undefined) artefacts.push({ name: path, text });
  }
  return artefacts;
}

/** The folders that a path lies in, the root left out. */
function* ancestors(path: string): Generator<string, void, undefined> {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
    yield path.slice(0, end);
}

/** Text of a small regular file, from the tar archive (POSIX ustar) in which Docker gives it. */
async function readText(container: Container, path: string): Promise<string | undefined> {
  const archive = (await container.getArchive({ path })) as Readable;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of archive) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > maxFileBytes) return undefined;
  }
  const tar = Buffer.concat(chunks);
  const type = String.fromCharCode(tar[156] ?? 0);
  if (type !== "0" && type !== "\0") return undefined;
  const size = Number.parseInt(tar.toString("latin1", 124, 136), 8);
  return tar.toString("utf8", 512, 512 + size);
}

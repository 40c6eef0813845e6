/** Places of destinations that declare a file: a folder each, gone at the end. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { JsonObject } from "svc-connectors";
import type { Place, UnwritablePlace } from "./contract.ts";
import { createPlace, type PlaceContext } from "./place.ts";

export interface FileDeclaration {
  /** The setting that holds the name. */
  readonly name: string;
  readonly ending: string;
  /** Whether the place is a folder of files. */
  readonly isFolder?: boolean | undefined;
}

const fileName = "conformance";

/** The author's settings, and a name for the file. */
export const fileConfig = ({ name }: FileDeclaration, config: JsonObject): JsonObject => ({
  [name]: fileName,
  ...config,
});

export async function createFilePlace(
  context: PlaceContext,
  declaration: FileDeclaration,
  config: JsonObject,
): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "svc-destination-"));
  const path = join(folder, `${String(config[declaration.name])}${declaration.ending}`);
  return createPlace(context, {
    config,
    folder,
    path,
    way: async () => ({ seams: {}, queryCount: () => 0, [Symbol.asyncDispose]: async () => {} }),
    sql: declaration.ending === ".duckdb" ? (statement) => runDuckdb(path, statement) : undefined,
    files: async () => (await readdir(folder)).sort(),
    unwritable: () =>
      Promise.all(
        (declaration.isFolder ? [...obstaclesOfAll] : [...obstaclesOfAll, folderInTheWay]).map(
          (makeUnwritable) => makeUnwritable(context, declaration, config),
        ),
      ),
    remove: () => rm(folder, { recursive: true, force: true }),
  });
}

/** As the command line of DuckDB would. Nobody else may have the file open. */
async function runDuckdb(path: string, statement: string): Promise<void> {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  try {
    await connection.run(statement);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const noDatabase = "This was never a database, and somebody needs it.\n".repeat(200);

type MakeObstacle = (...given: Parameters<typeof createFilePlace>) => Promise<UnwritablePlace>;

const obstaclesOfAll: readonly MakeObstacle[] = [
  (...given) =>
    makeUnwritable(given, "the file is a text that somebody keeps there", {
      make: (path) => writeFile(path, noDatabase),
      damage: async (path) =>
        (await readFile(path, "utf8").catch(() => "")) === noDatabase
          ? undefined
          : "the text is changed",
    }),
  (...given) =>
    makeUnwritable(given, "a file is in the place of the folder", {
      make: async (path) => {
        await rm(dirname(path), { recursive: true });
        await writeFile(dirname(path), noDatabase);
      },
      damage: async (path) =>
        (await readFile(dirname(path), "utf8").catch(() => "")) === noDatabase
          ? undefined
          : "the file is changed",
    }),
];

/** A folder where a destination wants a file. */
const folderInTheWay: MakeObstacle = (...given) =>
  makeUnwritable(given, "a folder has the name of the file", {
    make: (path) => mkdir(path),
    damage: async (path) =>
      (await stat(path).catch(() => undefined))?.isDirectory() ? undefined : "the folder is gone",
  });

async function makeUnwritable(
  given: Parameters<typeof createFilePlace>,
  name: string,
  {
    make,
    damage,
  }: { make(path: string): Promise<unknown>; damage(path: string): Promise<string | undefined> },
): Promise<UnwritablePlace> {
  const place = await createFilePlace(...given);
  const path = place.path ?? "";
  await make(path);
  return {
    name,
    check: () => place.check(),
    damage: () => damage(path),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { isJsonObject } from "../contract/json.ts";
import { printable, UsageError } from "./usage.ts";

/** Largest files that are read. A catalog of 6,000 tables has about 10 MB. */
export const maxFileBytes = {
  config: 1024 ** 2,
  catalog: 256 * 1024 ** 2,
  state: 256 * 1024 ** 2,
  secret: 64 * 1024,
  workspace: 16 * 1024 ** 2,
} as const;
export type FileKind = keyof typeof maxFileBytes;

/**
 * Hears of what is strange in a file, and is read all the same: files of other tools are read as
 * `JSON.parse` reads them, of a key that is given twice the last value. Without it such a file is
 * refused: a person wrote it.
 */
export type WarningListener = (warning: string) => void;

/**
 * The content of a JSON or YAML file. Messages name the file and the line, never what stands there:
 * it may be a secret.
 * @throws UsageError
 */
export async function readDocument(
  path: string,
  kind: FileKind,
  cwd: string,
  onWarning?: WarningListener,
): Promise<JsonValue> {
  const text = await readText(path, kind, cwd);
  return await parseText(text, `${kind} file "${printable(path)}"`, onWarning);
}

/** Content of a text file, whole. @throws UsageError */
export async function readText(path: string, kind: FileKind, cwd: string): Promise<string> {
  const name = `${kind} file "${printable(path)}"`;
  const bytes = await readBytes(resolve(cwd, path), maxFileBytes[kind], name);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${name}: is not UTF-8 text`);
  }
}

/** Reads a file, or a pipe, whose size is not known before. */
async function readBytes(path: string, maxBytes: number, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  try {
    await using file = await open(path, "r");
    for await (const chunk of file.createReadStream({
      autoClose: false,
      highWaterMark: 256 * 1024,
    })) {
      byteCount += (chunk as Buffer).length;
      if (byteCount > maxBytes) throw new UsageError(`${name}: is larger than ${maxBytes} bytes`);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new UsageError(`${name}: ${readFailures[code] ?? "cannot be read"}`);
  }
  return Buffer.concat(chunks);
}

const readFailures: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  ENOTDIR: "does not exist",
  EACCES: "cannot be read: no permission",
  EPERM: "cannot be read: no permission",
  ELOOP: "is a link that goes round in circles",
  ENAMETOOLONG: "has too long a name",
};

/** Parses JSON, else YAML. @param name how messages call the text. @throws UsageError */
export async function parseText(
  text: string,
  name: string,
  onWarning?: WarningListener,
): Promise<JsonValue> {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    const { parseYaml } = await import("./yaml.ts");
    return parseYaml(text, name);
  }
  const line = duplicateKeyLine(text);
  if (line === undefined) return value;
  const fault = `${name}, line ${line}: a key is given twice`;
  if (!onWarning) throw new UsageError(fault);
  onWarning(`${fault}; its last value counts`);
  return value;
}

/** The line of the first key that an object of this valid JSON text has already. */
function duplicateKeyLine(text: string): number | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (const token of text.matchAll(/[{}[\]]|"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/g)) {
    const [symbol, key, colon] = token;
    if (symbol === "{") open.push(new Set());
    else if (symbol === "[") open.push(undefined);
    else if (symbol === "}" || symbol === "]") open.pop();
    else if (colon !== undefined && key !== undefined) {
      const keys = open.at(-1);
      const name = key.includes("\\") ? String(JSON.parse(`"${key}"`)) : key;
      if (keys?.has(name)) return text.slice(0, token.index).split("\n").length;
      keys?.add(name);
    }
  }
  return undefined;
}

/**
 * The configuration in a file. `{"$file": "path"}` in the place of any value stands for the text of
 * that file, without its last line break; the path is relative to the configuration file.
 * @throws UsageError
 */
export async function readConfig(
  path: string,
  cwd: string,
  onWarning?: WarningListener,
): Promise<JsonObject> {
  const document = await readDocument(path, "config", cwd, onWarning);
  if (!isJsonObject(document)) {
    throw new UsageError(`config file "${printable(path)}": must hold an object of settings`);
  }
  return (await withFiles(document, dirname(resolve(cwd, path)))) as JsonObject;
}

/** No connector asks for settings nested deeper. */
const maxDepth = 100;

async function withFiles(value: JsonValue, folder: string, depth = 0): Promise<JsonValue> {
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth)
    throw new UsageError(`config file: is nested deeper than ${maxDepth} levels`);
  if (Array.isArray(value))
    return Promise.all(value.map((item) => withFiles(item, folder, depth + 1)));
  const [only, ...rest] = Object.entries(value);
  if (only?.[0] === "$file" && rest.length === 0) {
    if (typeof only[1] !== "string") throw new UsageError("config file: $file must name a file");
    return (await readText(only[1], "secret", folder)).replace(/\r?\n$/, "");
  }
  const entries = Object.entries(value).map(
    async ([name, part]) => [name, await withFiles(part, folder, depth + 1)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

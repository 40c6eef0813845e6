import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  builtInSources,
  type ConnectorReference,
  duplicateKey,
  parseYamlDocument,
  YamlFault,
} from "svc-connectors/host";
import { Type } from "typebox";
import type { ConformanceSettings } from "../contract/settings.ts";
import { UnusableError } from "../contract/unusable.ts";
import { checkOf } from "../fixtures/schema.ts";

/** The settings when conformance.yaml says nothing. */
export const defaultSettings: ConformanceSettings = {
  fixtures: "fixtures",
  config: {},
  empty_streams: {},
  capabilities: {
    delivery: "boundary",
    safe_posts: [],
    loses_on_mutation: false,
    selects_fields: true,
  },
  paging: {},
  waivers: [],
  container: {},
  max_age_days: 365,
};

const closed = { additionalProperties: false } as const;
const Text = Type.String({ maxLength: 1_000 });
const Pointer = Type.String({ pattern: "^(/|$)" });

const checkSettings = checkOf(
  Type.Object(
    {
      fixtures: Type.Optional(Text),
      database: Type.Optional(Text),
      config: Type.Optional(Type.Object({})),
      changes: Type.Optional(Type.Object({})),
      empty_streams: Type.Optional(Type.Record(Type.String(), Text)),
      capabilities: Type.Optional(
        Type.Object(
          {
            delivery: Type.Optional(
              Type.Union([Type.Literal("boundary"), Type.Literal("at_least_once")]),
            ),
            safe_posts: Type.Optional(Type.Array(Text)),
            window: Type.Optional(Type.Integer({ minimum: 1 })),
            loses_on_mutation: Type.Optional(Type.Boolean()),
            selects_fields: Type.Optional(Type.Boolean()),
          },
          closed,
        ),
      ),
      paging: Type.Optional(
        Type.Record(
          Type.String(),
          Type.Object(
            {
              style: Type.Union([
                Type.Literal("number"),
                Type.Literal("offset"),
                Type.Literal("cursor"),
                Type.Literal("link"),
              ]),
              parameter: Type.Optional(Text),
              size: Type.Optional(Text),
              next: Type.Optional(Pointer),
              rows: Pointer,
            },
            closed,
          ),
        ),
      ),
      waivers: Type.Optional(
        Type.Array(Type.Object({ rule: Text, reason: Text, owner: Text, expires: Text }, closed)),
      ),
      container: Type.Optional(
        Type.Object(
          {
            hosts: Type.Optional(Type.Array(Text)),
            files: Type.Optional(Type.Record(Type.String({ pattern: "^/" }), Text)),
          },
          closed,
        ),
      ),
      max_age_days: Type.Optional(Type.Integer({ minimum: 1 })),
    },
    closed,
  ),
);

/** The name under which it lies beside a connector. */
export const settingsFileName = "conformance.yaml";

/** The folder of a connector, with its settings in it. */
export function folderOf({ name, url }: ConnectorReference): string {
  const builtIn = builtInSources.find((one) => one.name === name);
  return builtIn ? builtIn.folder : dirname(fileURLToPath(url));
}

/**
 * The settings in a file, with defaults; paths become absolute. Without the file, the defaults
 * beside it.
 * @throws UnusableError naming the file and what to do
 */
export async function loadSettings(path: string): Promise<ConformanceSettings> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw new UnusableError(`${settingsFileName} cannot be read; check its permissions`);
  });
  const given = parseSettings(text);
  const settings = {
    ...defaultSettings,
    ...given,
    capabilities: { ...defaultSettings.capabilities, ...given.capabilities },
  };
  const here = (relative: string) => resolve(dirname(path), relative);
  const { hosts, files } = settings.container;
  const container = {
    hosts,
    files:
      files &&
      Object.fromEntries(Object.entries(files).map(([inside, own]) => [inside, here(own)])),
  };
  return { ...settings, container, fixtures: here(settings.fixtures) };
}

/** @throws UnusableError */
export function parseSettings(text: string): Partial<ConformanceSettings> {
  const notValid = (line: number) =>
    new UnusableError(`${settingsFileName}, line ${line}: is not valid YAML`);
  let value: unknown;
  try {
    const { document, lineOf } = parseYamlDocument(text);
    const duplicate = duplicateKey(document.contents);
    if (duplicate !== undefined) throw notValid(lineOf(duplicate));
    value = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    throw error instanceof YamlFault ? notValid(error.line) : error;
  }
  checkSettings(value, settingsFileName);
  return value as Partial<ConformanceSettings>;
}

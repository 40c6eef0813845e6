/** Writes a workspace file from what a workspace has. */
import { UsageError } from "svc-connectors/host";
import { Document } from "yaml";
import { StreamBody } from "../pipelines/selecting.ts";
import type { Api, Resource } from "./api.ts";
import type { Inventory } from "./inventory.ts";
import { handleOf, type NameOf } from "./kind.ts";
import { kinds } from "./kinds.ts";
import type { SecretReference } from "./schema.ts";

/** The parser of YAML takes no longer text; JSON is YAML too. */
const maxYamlCharacters = 200_000;

/**
 * @throws UsageError when two things of a kind have one name: names are what a file knows them by
 */
export async function exportWorkspace(
  inventory: Inventory & { readonly api: Api },
): Promise<string> {
  const { things, workspace } = inventory;
  const names = new Map<string, string>();
  for (const kind of kinds)
    for (const there of things[kind.section]) {
      if (things[kind.section].filter(({ name }) => name === there.name).length > 1)
        throw new UsageError(
          `two things of the kind ${kind.noun} are called ${JSON.stringify(there.name)}: give them names of their own first`,
        );
      names.set(`${kind.section} ${handleOf(kind, there)}`, there.name);
    }
  const nameOf: NameOf = (section, id) => names.get(`${section} ${id}`) ?? id;
  const sections = kinds.flatMap((kind) => {
    const entries = things[kind.section].map((there) => {
      const entry = kind.entryOf(there, nameOf) as object;
      const more = kind.section === "credentials" ? secretsOf(there, things.credentials) : {};
      return [there.name, { ...entry, ...streamsOf(entry), ...more }] as const;
    });
    return entries.length === 0 ? [] : [[kind.section, Object.fromEntries(entries)] as const];
  });
  const content = { version: 1, workspace: workspace.slug, ...Object.fromEntries(sections) };
  const document = new Document(content, { aliasDuplicateObjects: false });
  document.commentBefore = [
    " A workspace of svc, as svc export wrote it. svc apply makes it so; svc apply --plan says what",
    " that would change. Secrets stand elsewhere: credentials name a file or a variable, which are",
    " needed where a credential is made anew.",
  ].join("\n");
  const text = document.toString({ lineWidth: 0 });
  return text.length > maxYamlCharacters ? `${JSON.stringify(content, null, 2)}\n` : text;
}

/** Secrets are never given back: variables that would hold them take their place. */
function secretsOf(there: Resource, all: readonly Resource[]) {
  if (there.auth_type === "oauth2" || there.secret_fields.length === 0) return {};
  const place = all.filter(({ auth_type }) => auth_type !== "oauth2").indexOf(there);
  const isShared = all.some(
    (one) => one !== there && variableOf(one.name) === variableOf(there.name),
  );
  const stem = ["SVC", variableOf(there.name), ...(isShared ? [place + 1] : [])]
    .filter(Boolean)
    .join("_");
  const secrets: Record<string, SecretReference> = Object.fromEntries(
    there.secret_fields.map((field: string) => [field, { $env: `${stem}_${variableOf(field)}` }]),
  );
  return { secrets };
}

/** `Shop's database` → `SHOP_S_DATABASE`. */
const variableOf = (name: string) =>
  name
    .normalize("NFKD")
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");

const streamFields = Object.keys(StreamBody.properties);

/** Streams without what is said for them anyway. */
function streamsOf(entry: object) {
  if (!("streams" in entry)) return {};
  const streams = (entry.streams as readonly Resource[]).map((stream) =>
    Object.fromEntries(
      streamFields.flatMap((field) => {
        const value = stream[field];
        const isNothing =
          value === null ||
          value === undefined ||
          (Array.isArray(value) && value.length === 0) ||
          (field === "detect_deletes" && value === "none");
        return isNothing ? [] : [[field, value]];
      }),
    ),
  );
  return { streams };
}

/** A kind of thing in a workspace file: how the API and the file say the same. */
import type { JsonObject, JsonValue } from "svc-connectors/host";
import type { Api, Resource } from "./api.ts";
import type { Entries, SectionName } from "./schema.ts";

/** How things are called: names for what the API has ids for. */
export type NameOf = (section: SectionName, id: string) => string;

/** The means to create and change things. */
export interface Hands {
  readonly api: Api;
  /** The id by which requests name a thing. */
  readonly idOf: (section: SectionName, name: string) => string;
  /** Where the API takes the secrets of a connector. */
  readonly secretsPath: (connector: string) => Promise<string>;
  /** The secrets of a credential, fetched from where the file says. */
  readonly secretsOf: (entry: Entries["credentials"]) => Promise<Readonly<Record<string, string>>>;
  /** Writes what the API shows once. */
  readonly keepSecret: (path: string, secret: string) => Promise<void>;
}

/** A change to something that is there. */
export interface Change<E> {
  readonly there: Resource;
  /** As the file would say what is there. */
  readonly before: E;
  readonly entry: E;
  /** Undefined: it keeps its name. */
  readonly name: string | undefined;
  /** First parts of the places that differ. */
  readonly fields: ReadonlySet<string>;
  /** A JSON merge patch of the configuration. */
  readonly configuration: JsonObject | undefined;
}

export interface Kind<S extends SectionName = SectionName> {
  readonly section: S;
  readonly noun: string;
  readonly path: string;
  /** Its id in answers. */
  readonly idField: string;
  /** The field by which requests name it, where that is not its id. */
  readonly handleField?: string;
  /** Fields of an entry that name others. */
  readonly names: Readonly<Record<string, SectionName>>;
  /** Fields that stay as they were made. */
  readonly fixed: readonly string[];
  /** Fields that only say how it is made, or where something is kept. */
  readonly unseen?: readonly string[];
  readonly entryOf: (resource: Resource, nameOf: NameOf) => Entries[S];
  readonly create: (name: string, entry: Entries[S], hands: Hands) => Promise<Resource>;
  readonly change: (change: Change<Entries[S]>, hands: Hands) => Promise<void>;
  /** The address that deletes it. Default: its own. */
  readonly deletePath?: (resource: Resource) => string;
}

/** The object without what is undefined. */
export const said = (object: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

export const only = (
  object: object,
  fields: ReadonlySet<string>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(object).filter(([name]) => fields.has(name)));

export const notEmpty = (object: JsonObject): JsonObject | undefined =>
  Object.keys(object).length > 0 ? object : undefined;

/** Changes whatever one PATCH can: the name, and the fields that a body makes of an entry. */
export async function patch<E>(
  { path, idField }: { readonly path: string; readonly idField: string },
  { there, name }: Pick<Change<E>, "there" | "name">,
  body: Readonly<Record<string, unknown>>,
  { api }: Hands,
): Promise<Resource> {
  const changes = said({ name, ...body });
  if (Object.keys(changes).length === 0) return there;
  return api.write("PATCH", `${path}/${there[idField]}`, changes, { version: there.version });
}

/** Drops nulls: of something new there is nothing to take away. */
export const withoutNulls = (configuration: object | undefined) =>
  configuration &&
  Object.fromEntries(Object.entries(configuration).filter(([, value]) => value !== null));

/** The value by which requests name a thing. */
export const handleOf = ({ idField, handleField = idField }: Kind, there: Resource): string =>
  there[handleField];

/** A merge patch for nested places. */
export function mergePatchOf(
  differences: readonly {
    readonly path: readonly (string | number)[];
    readonly after?: JsonValue | undefined;
  }[],
): JsonObject | undefined {
  const root: Record<string, unknown> = {};
  for (const { path, after } of differences) {
    let at = root;
    for (const part of path.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
    at[path.at(-1) ?? ""] = after ?? null;
  }
  return Object.keys(root).length > 0 ? (root as JsonObject) : undefined;
}

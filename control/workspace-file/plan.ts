/** Compares a workspace file with a workspace: what is to be made, changed and deleted. */
import { isSecretName, type JsonObject, type JsonValue, suggestion } from "svc-connectors/host";
import { openSettingsOf } from "../contract/secret-settings.ts";
import type { Api, Resource } from "./api.ts";
import { type Difference, differencesOf } from "./differences.ts";
import type { Inventory } from "./inventory.ts";
import { handleOf, type Kind, type NameOf } from "./kind.ts";
import { kinds } from "./kinds.ts";
import { type Fault, FaultyFile, type Path, type ReadFile } from "./read.ts";
import type { Entries, SectionName } from "./schema.ts";
import { labelOfStream, streamDifferences } from "./streams.ts";

type Entry = Entries[SectionName];

/** One thing, and what becomes of it. */
export interface PlanStep {
  readonly kind: Kind;
  readonly name: string;
  /** keep: it is not in the file. */
  readonly action: "make" | "change" | "same" | "delete" | "keep";
  /** As the file has it; not of what is deleted or kept. */
  readonly entry?: Entry | undefined;
  readonly there?: Resource | undefined;
  /** As the file would say what is there. */
  readonly before?: Entry | undefined;
  readonly differences: readonly Difference[];
  /** Its name until now, when it has another. */
  readonly formerName?: string | undefined;
}

export interface PlanOptions {
  /** Delete what is not in the file, of the kinds that the file has a section for. */
  readonly prune: boolean;
  /** Send the secrets of credentials that are there already. */
  readonly sendSecrets: boolean;
}

/** The settings that a connector asks for. */
export interface ConnectorMetadata {
  readonly secretFields: readonly string[];
  readonly settings: readonly string[];
  /** Where the API takes its secrets. */
  readonly secretsPath: string;
}

export interface WorkspacePlan {
  readonly steps: readonly PlanStep[];
  readonly connectors: ReadonlyMap<string, ConnectorMetadata>;
}

/** @throws FaultyFile when the file cannot be applied to this workspace */
export async function planOf(
  file: ReadFile,
  inventory: Inventory & { readonly api: Api },
  options: PlanOptions,
): Promise<WorkspacePlan> {
  const faults: Fault[] = [];
  const matches = kinds.map((kind) => match(kind, file, inventory, faults));
  faults.push(...unknownNames(file, inventory));
  const connectors = await factsOf(file, inventory.api, faults);
  faults.push(...secretFaults(file, connectors));
  if (faults.length > 0) throw new FaultyFile(file, faults);

  const names = new Map(
    matches.flatMap(({ kind, found, rest }) =>
      [...found, ...rest.map((there) => [there.name, there] as const)].map(
        ([name, there]) => [`${kind.section} ${handleOf(kind, there)}`, name] as const,
      ),
    ),
  );
  const nameOf: NameOf = (section, id) => names.get(`${section} ${id}`) ?? id;
  const steps = matches.flatMap(({ kind, found, rest }) => {
    const entries = Object.entries(sectionOf(file, kind.section));
    const named = entries.map(([name, entry]): PlanStep => {
      const there = found.get(name);
      if (!there && kind.section === "credentials" && !("secrets" in entry))
        faults.push({ path: [kind.section, name], problem: notThere });
      return there
        ? compare(kind, name, entry, there, { nameOf, options, faults })
        : { kind, name, action: "make", entry, differences: [] };
    });
    const isPruned = options.prune && file.content[kind.section] !== undefined;
    const action = isPruned ? "delete" : "keep";
    const others = rest.map(
      (there): PlanStep => ({ kind, name: there.name, action, there, differences: [] }),
    );
    return [...named, ...others];
  });
  if (faults.length > 0) throw new FaultyFile(file, faults);
  return { steps, connectors };
}

const notThere =
  "is not there yet: give its secrets, or connect the account in the browser first (POST /credentials/source/oauth/start)";

export const sectionOf = (
  { content }: Pick<ReadFile, "content">,
  section: SectionName,
): Readonly<Record<string, Entry>> => content[section] ?? {};

/** Which thing of the workspace is meant by which name of the file. */
function match(kind: Kind, file: ReadFile, { things }: Inventory, faults: Fault[]) {
  const all = things[kind.section];
  const found = new Map<string, Resource>();
  const entries = sectionOf(file, kind.section);
  for (const [name, { renamed_from: former }] of Object.entries(entries)) {
    const path = [kind.section, name];
    const own = all.filter((one) => one.name === name);
    const before = own.length === 0 && former !== undefined;
    const meant = before ? all.filter((one) => one.name === former) : own;
    if (former !== undefined && Object.hasOwn(entries, former))
      faults.push({ path: [...path, "renamed_from"], problem: "names what is in the file too" });
    if (meant.length > 1)
      faults.push({
        path,
        problem: `is the name of ${meant.length} things of this kind in the workspace: give them names of their own first`,
      });
    if (meant[0]) found.set(name, meant[0]);
  }
  const matched = new Set(found.values());
  return { kind, found, rest: all.filter((one) => !matched.has(one)) };
}

/** Names of things that neither the file nor the workspace has. */
function unknownNames(file: ReadFile, { things }: Inventory): Fault[] {
  return kinds.flatMap(({ section, names }) =>
    Object.entries(sectionOf(file, section)).flatMap(([name, entry]) =>
      Object.entries(names).flatMap(([field, target]) => {
        const wanted = (entry as Readonly<Record<string, unknown>>)[field];
        if (typeof wanted !== "string") return [];
        const known = [
          ...Object.keys(sectionOf(file, target)),
          ...things[target].map((one) => String(one.name)),
        ];
        if (known.includes(wanted)) return [];
        const noun = kinds.find((one) => one.section === target)?.noun;
        return [
          {
            path: [section, name, field],
            problem: `names no ${noun} of the file or the workspace${suggestion(wanted, known)}`,
          },
        ];
      }),
    ),
  );
}

/** Asks what the connectors of the file ask for. */
async function factsOf(file: ReadFile, api: Api, faults: Fault[]) {
  const facts = new Map<string, ConnectorMetadata>();
  const known = (await api.list("/connectors")).map((one) => String(one.connector_id));
  for (const section of ["credentials", "sources", "destinations"] as const)
    for (const [name, { connector }] of Object.entries(file.content[section] ?? {})) {
      // Reverse ETL has connectors of its own, which the list does not show: asking tells.
      if (facts.has(connector)) continue;
      const spec = await api
        .get(`/connectors/${encodeURIComponent(connector)}/spec`)
        .catch(() => undefined);
      if (!spec) {
        const near = suggestion(connector, known);
        const problem = `names no connector${near || `; there are ${known.join(", ")}`}`;
        faults.push({ path: [section, name, "connector"], problem });
        continue;
      }
      facts.set(connector, {
        secretFields: spec.secret_fields,
        settings: openSettingsOf(spec.connection_specification ?? {}),
        secretsPath:
          spec.auth.type === "oauth2" || spec.auth.start_path === null
            ? "/credentials"
            : spec.auth.start_path,
      });
    }
  return facts;
}

/** Secrets where settings belong: nothing of the file is shown before they are refused. */
function secretFaults(file: ReadFile, connectors: ReadonlyMap<string, ConnectorMetadata>): Fault[] {
  const faults: Fault[] = [];
  const look = (
    value: JsonValue | undefined,
    path: Path,
    facts: ConnectorMetadata | undefined,
    around = "",
  ) => {
    if (typeof value === "string" && /:\/\/[^/\s?#]*@/.test(value))
      faults.push({ path, problem: "holds a name or a password in an address" });
    if (typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      const setting = around === "" ? name : `${around}.${name}`;
      const isDeclared = facts?.settings.includes(setting) === true;
      const isSecret =
        facts?.secretFields.includes(setting) === true ||
        (isSecretName(name, "mention") && !isDeclared && !Array.isArray(value));
      if (isSecret && inner !== null && inner !== "")
        faults.push({
          path: [...path, name],
          problem: "is a secret: it belongs to the secrets of a credential, by reference",
        });
      else look(inner, [...path, name], facts, setting);
    }
  };
  for (const section of [
    "sources",
    "destinations",
    "credentials",
    "reverse_etl_destinations",
  ] as const)
    for (const [name, entry] of Object.entries(sectionOf(file, section))) {
      const field = section === "credentials" ? "metadata" : "configuration";
      const settings = (entry as { readonly [name: string]: unknown })[field] as
        | JsonObject
        | undefined;
      const connector = "connector" in entry ? entry.connector : undefined;
      look(settings, [section, name, field], connectors.get(connector ?? ""));
    }
  return faults;
}

interface Comparison {
  readonly nameOf: NameOf;
  readonly options: PlanOptions;
  readonly faults: Fault[];
}

function compare(
  kind: Kind,
  name: string,
  entry: Entry,
  there: Resource,
  { nameOf, options, faults }: Comparison,
): PlanStep {
  const before = kind.entryOf(there, nameOf) as Entry;
  const { renamed_from: _, ...own } = entry as Readonly<Record<string, unknown>>;
  const { secrets, streams: _streams, ...rest } = own;
  const plain = Object.entries(rest).filter(([field]) => !kind.unseen?.includes(field));
  const plainDifferences = differencesOf(
    Object.fromEntries(plain) as JsonObject,
    before as unknown as JsonObject,
  );
  for (const { path } of plainDifferences)
    if (kind.fixed.includes(String(path[0])))
      faults.push({
        path: [kind.section, name, ...path],
        problem: `cannot be changed: give the ${kind.noun} another name, and --prune deletes this one`,
      });
  const formerName = there.name === name ? undefined : String(there.name);
  const differences = [
    ...plainDifferences,
    ...streamsOf(entry, before),
    ...(secrets !== undefined && options.sendSecrets
      ? [{ path: ["secrets"], before: "stored", after: "sent again" }]
      : []),
  ];
  const isSame = differences.length === 0 && formerName === undefined;
  return {
    kind,
    name,
    action: isSame ? "same" : "change",
    entry,
    there,
    before,
    differences,
    formerName,
  };
}

function streamsOf(entry: Entry, before: Entry): Difference[] {
  if (!("source" in entry && "source" in before)) return [];
  return streamDifferences(entry, before).flatMap(({ wanted, there, fields }): Difference[] => {
    const stream = wanted ?? there;
    const path = ["streams", stream ? labelOfStream(stream) : ""];
    if (!wanted) return [{ path, before: "synced" }];
    if (!there) return [{ path, after: "synced" }];
    return fields.map((field) => ({
      path: [...path, field],
      before: (there[field] ?? null) as JsonValue,
      after: (wanted[field] ?? null) as JsonValue,
    }));
  });
}

/** Whether anything is to be done. */
export const isChanging = ({ action }: PlanStep) =>
  action === "make" || action === "change" || action === "delete";

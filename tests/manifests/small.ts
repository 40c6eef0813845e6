/**
 * Small manifests of the comparison, each with one thing to say: what it says stands in a table,
 * and the rest of the manifest is the same for all of them.
 */
import { createHash, generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import type { Case } from "./cases.ts";

type Part = Record<string, unknown>;

/** A row of the table: parts that are put into those of every manifest. */
interface Row {
  readonly name: string;
  /** Values of settings, and the schemas of those that are neither text nor number. */
  readonly config?: Part;
  readonly settings?: Part;
  readonly fields?: Part;
  readonly path?: string;
  readonly requester?: Part;
  readonly selector?: Part;
  readonly retriever?: Part;
  readonly stream?: Part;
  readonly spec?: Part;
  readonly manifest?: Part;
  /** Further states to go on from. */
  readonly states?: readonly unknown[];
  readonly fails?: boolean;
  readonly differs?: string;
  readonly theirFault?: boolean;
  readonly ownWaits?: boolean;
  readonly ownRequests?: readonly string[];
  readonly files?: Part;
}

const folder = fileURLToPath(new URL("small/", import.meta.url));

/** The key in a setting `pem`: made anew each time, so that no key lies in the repository. */
const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs1", format: "pem" },
});

/** All of them, in the order of their names. */
export const smallCases: readonly Case[] = readdirSync(folder)
  .sort()
  .flatMap((file) => parse(readFileSync(folder + file, "utf8"), { merge: true }) as Row[])
  .map(toCase);

function toCase(row: Row): Case {
  const { name, fields = { id: {}, name: {} }, states = [], fails, ownWaits } = row;
  // An account of its own: accounts share what the host has learned of their limits.
  const key = `key-K7Qx2mVt9s${createHash("sha256").update(name).digest("hex").slice(0, 12)}`;
  const config = {
    ...{ key, secret: "secret-Jq82LmVxTr56Kd" },
    ...{ refresh: "refresh-Pw93NbCzQs17Hf", ...row.config },
    ...(row.config?.pem === "PEM" ? { pem: privateKey } : {}),
  };
  const requester = {
    ...{ type: "HttpRequester", url_base: "https://api.example.com" },
    ...{ path: row.path ?? "orders", ...row.requester },
  };
  const record_selector = {
    type: "RecordSelector",
    extractor: { type: "DpathExtractor", field_path: ["data"] },
    ...row.selector,
  };
  const stream = {
    type: "DeclarativeStream",
    name,
    primary_key: ["id"],
    schema_loader: { type: "InlineSchemaLoader", schema: { type: "object", properties: fields } },
    retriever: { type: "SimpleRetriever", requester, record_selector, ...row.retriever },
    ...row.stream,
  };
  const manifest = {
    ...{ type: "DeclarativeSource", version: "6.36.2" },
    check: { type: "CheckStream", stream_names: [name] },
    streams: [stream],
    spec: {
      type: "Spec",
      connection_specification: { type: "object", required: ["key"], properties: settingsOf(row) },
      ...row.spec,
    },
    ...row.manifest,
  };
  return {
    file: name,
    manifest: stringify(withoutNulls(manifest), { aliasDuplicateObjects: false }),
    config,
    states: { [name]: [...states] },
    fails: fails ? [name] : [],
    differs: row.differs,
    theirFault: row.theirFault,
    ownWaits: ownWaits ? [name] : [],
    ownRequests: row.ownRequests ?? [],
    files: row.files ?? {},
  };
}

function settingsOf({ config = {}, settings }: Row): Part {
  const open = Object.entries(config).map(([name, value]) => [name, { type: typeof value }]);
  const secret = { type: "string", airbyte_secret: true };
  return { key: secret, secret, refresh: secret, ...Object.fromEntries(open), ...settings };
}

/** A part that is null takes the usual one away. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const parts = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(parts.map(([name, part]) => [name, withoutNulls(part)]));
}

/** The settings that a declared egress names, and what each of them must be. */
import {
  type Auth,
  type AuthField,
  type Egress,
  type HttpEgress,
  settingOf,
} from "../contract/egress.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { isSecret as isMarked } from "../contract/spec.ts";
import { isSecretName } from "../filter/secret-names.ts";
import { oauthTemplates } from "./authorization.ts";
import type { Fault } from "./validation.ts";

/**
 * An egress of any kind of connector that authenticates; where a base URL comes from may differ.
 */
type AuthenticatedEgress =
  | Extract<Egress, { kind: "postgres" | "mysql" }>
  | (Omit<Extract<Egress, { kind: "http" }>, "baseUrl"> & {
      readonly baseUrl: string | { readonly field: string };
    });

export interface EgressField {
  readonly field: string;
  /** It authenticates, and must be marked as a secret. */
  readonly isSecret: boolean;
}

const open = (field: string): EgressField => ({ field, isSecret: false });
const hidden = (field: string): EgressField => ({ field, isSecret: true });
const authField = (field: AuthField): EgressField =>
  typeof field === "string" ? hidden(field) : open(field.identifier);

/** Every config property that an egress declaration names. */
export function egressFields(egress: AuthenticatedEgress): EgressField[] {
  if (egress.kind !== "http") {
    const { host, port, database, username, password, sslMode, sslRootCertificate } = egress;
    const { tunnel } = egress;
    return [
      ...[host, port, database, username, sslMode].map(open),
      hidden(password),
      ...(sslRootCertificate ? [open(sslRootCertificate)] : []),
      ...(tunnel ? [tunnel.host, tunnel.port, tunnel.user, tunnel.hostKey].map(open) : []),
      ...(tunnel ? [tunnel.privateKey, tunnel.password].map(hidden) : []),
      ...(egress.kind === "postgres" && egress.replicationSlot
        ? [open(egress.replicationSlot)]
        : []),
    ];
  }
  const base =
    typeof egress.baseUrl === "string" ? placeholders(egress.baseUrl) : [egress.baseUrl.field];
  return [
    ...base.map(open),
    ...furtherTemplates(egress).flatMap(placeholders).map(open),
    ...egress.auth.flatMap(oauthTemplates).flatMap(placeholders).map(open),
    ...egress.auth.flatMap(authUses).map(({ use }) => authField(use)),
    ...rotatingFields(egress).map(hidden),
  ];
}

/** Where a connector with placeholders goes besides its base URL. */
const furtherTemplates = ({ placeholders }: Pick<HttpEgress, "placeholders">) => [
  ...(placeholders?.urls ?? []),
  ...(placeholders?.minted ?? []).map(({ url }) => url),
];

/** The settings with a first refresh token, which the host replaces by the next ones. */
export const rotatingFields = ({ placeholders }: Pick<HttpEgress, "placeholders">): string[] => [
  ...new Set((placeholders?.minted ?? []).flatMap(({ rotates }) => rotates?.field ?? [])),
];

const placeholders = (template: string) =>
  [...template.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? "");

interface AuthUse {
  readonly use: AuthField;
  /** The header, parameter or property that carries it. */
  readonly place: string;
  readonly prefix?: string;
}

/** Everything that an authentication sends. */
function authUses(auth: Auth): AuthUse[] {
  if (auth.type === "headers")
    return Object.entries(auth.headers).map(([place, { prefix, field }]) => ({
      use: field,
      place,
      prefix,
    }));
  if (auth.type === "basic")
    return [
      { use: auth.username, place: "user name" },
      { use: auth.password, place: "password" },
    ];
  if (auth.type === "oauth2")
    return [
      { use: { identifier: auth.clientId }, place: "client_id" },
      { use: auth.clientSecret, place: "client_secret" },
      { use: auth.refreshToken, place: "refresh_token" },
    ];
  return Object.entries(auth.fields).map(([place, use]) => ({ use, place }));
}

/**
 * Settings that the egress names must exist, and those that authenticate must be marked as secrets.
 * A setting at the end of a host must be an enum.
 */
export function fieldFaults(spec: JsonObject, egress: Egress): Fault[] {
  const faults: Fault[] = [];
  for (const { field, isSecret } of egressFields(egress)) {
    const schema = schemaOf(spec, field);
    const path = `spec.properties.${field}`;
    // In a choice each branch says what its own are; a run looks whether they are hidden.
    if (!schema && isInChoice(spec, field)) continue;
    if (!schema) faults.push({ path, problem: "is used by the egress but not declared" });
    else if (isSecret && !isMarked(schema)) faults.push({ path, problem: mustBeSecret });
  }
  if (egress.kind === "http") faults.push(...identifierFaults(spec, egress.auth));
  for (const field of hostEnds(egress)) {
    if (Array.isArray(schemaOf(spec, field)?.enum)) continue;
    faults.push({
      path: `spec.properties.${field}`,
      problem: "ends a host name in the egress and must be an enum",
    });
  }
  return faults;
}

export const mustBeSecret =
  "authenticates requests and must be marked secret(…); an id that proves nothing alone is declared as identifier(…)";

/**
 * An identifier is one only where nothing speaks against it: neither its own name nor the place
 * that carries it is that of a secret, no scheme stands before it, and a secret of the user's own
 * stands beside it.
 */
export function identifierFaults(spec: JsonObject, declared: readonly Auth[]): Fault[] {
  const faults: Fault[] = [];
  const uses = declared.flatMap(authUses);
  const hasSecret = uses.some(({ use }) => typeof use === "string");
  for (const { use, place, prefix = "" } of uses) {
    if (typeof use === "string") continue;
    const path = `spec.properties.${use.identifier}`;
    if (isMarked(schemaOf(spec, use.identifier) ?? {})) continue;
    const names = [use.identifier.split(".").at(-1) ?? "", place];
    if (prefix !== "" || names.some((name) => isSecretName(name, "suspicion")))
      faults.push({ path, problem: "has the name or the place of a secret: mark it secret(…)" });
    else if (!hasSecret)
      faults.push({ path, problem: "authenticates without a secret beside it: mark it secret(…)" });
  }
  for (const auth of declared) {
    if (auth.type !== "basic" || typeof auth.username === "string") continue;
    const password = schemaOf(spec, auth.password) ?? {};
    if (["default", "const", "enum"].some((keyword) => password[keyword] !== undefined))
      faults.push({
        path: `spec.properties.${settingOf(auth.username)}`,
        problem: "stands beside a password that the connector knows: mark it secret(…)",
      });
  }
  return faults;
}

/** Settings at the end of a host: whoever chooses their value chooses the owner of the host. */
function hostEnds(egress: Egress): string[] {
  if (egress.kind !== "http") return [];
  const { baseUrl } = egress;
  const templates = [
    ...(typeof baseUrl === "string" ? [baseUrl] : []),
    ...egress.auth.flatMap(oauthTemplates),
    ...furtherTemplates(egress),
  ];
  // Who has placeholders may leave a whole host to the customer: the operator approves it.
  const isWholeAllowed = egress.placeholders !== undefined;
  return templates.flatMap((template) =>
    isWholeAllowed && /^https:\/\/\{[^{}]+\}(?=\/|$)/.test(template)
      ? []
      : (/^https:\/\/[^/]*\{([^{}]+)\}(?::\d+)?(?:\/|$)/.exec(template)?.[1] ?? []),
  );
}

/** True where an object on the way to a setting has alternatives. */
const isInChoice = (spec: JsonObject, field: string): boolean =>
  field
    .split(".")
    .some(
      (_, index, names) => schemaOf(spec, names.slice(0, index).join("."))?.oneOf !== undefined,
    );

/** The schema of a property by its dotted path. */
export function schemaOf(spec: JsonObject, field: string): JsonObject | undefined {
  let at: JsonValue | undefined = spec;
  for (const name of field.split(".")) {
    const properties: JsonValue | undefined = (at as JsonObject | undefined)?.properties;
    at =
      typeof properties === "object" && properties !== null && Object.hasOwn(properties, name)
        ? (properties as JsonObject)[name]
        : undefined;
  }
  return at as JsonObject | undefined;
}

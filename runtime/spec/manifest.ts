import { type Static, Type } from "typebox";
import type { CatalogStream, Manifest } from "../contract/catalog.ts";
import type { Egress } from "../contract/egress.ts";
import { ConnectorError, errorTable } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { secretKeyword } from "../contract/spec.ts";
import {
  Authorization,
  authorizationFaults,
  ClientAuth,
  oauthTemplates,
  TokenAuthorization,
} from "./authorization.ts";
import { unreachableSecret } from "./secret-fields.ts";
import { compileLater, compileSchema, type Fault } from "./validation.ts";

const Field = Type.String({ minLength: 1, maxLength: 200 });
const Fields = Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Field);
const HeaderName = Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" });
const exactly = { additionalProperties: false };

const Auth = Type.Union([
  Type.Object(
    {
      type: Type.Literal("headers"),
      headers: Type.Record(
        HeaderName,
        Type.Object(
          {
            prefix: Type.String({ maxLength: 50 }),
            field: Field,
            bareIfStartsWith: Type.Optional(Type.String({ minLength: 1, maxLength: 50 })),
          },
          exactly,
        ),
      ),
      authorization: Type.Optional(TokenAuthorization),
    },
    exactly,
  ),
  Type.Object({ type: Type.Literal("basic"), username: Field, password: Field }, exactly),
  Type.Object(
    {
      type: Type.Literal("body"),
      fields: Fields,
      except: Type.Optional(Type.Array(Type.String({ pattern: "^(/[A-Za-z0-9._-]+)+$" }))),
    },
    exactly,
  ),
  Type.Object({ type: Type.Literal("query"), fields: Fields }, exactly),
  Type.Object(
    {
      type: Type.Literal("oauth2"),
      tokenUrl: Type.String({ pattern: "^https://" }),
      clientId: Field,
      clientSecret: Field,
      refreshToken: Field,
      clientAuth: Type.Optional(ClientAuth),
      scheme: Type.Optional(Type.String({ pattern: "^[A-Za-z-]{1,40}$" })),
      authorization: Type.Optional(Authorization),
    },
    exactly,
  ),
]);

const ApprovedUrl = Type.Object(
  {
    field: Field,
    pathEnd: Type.String({ pattern: "^(/[A-Za-z0-9._-]+)*$" }),
    approvedHosts: Type.Optional(Type.Array(Type.String())),
  },
  exactly,
);

const Count = (maximum: number) => Type.Integer({ minimum: 1, maximum });
const Status = Type.Integer({ minimum: 100, maximum: 599 });

const HttpEgress = Type.Object(
  {
    kind: Type.Literal("http"),
    baseUrl: Type.Union([Type.String({ pattern: "^https://" }), ApprovedUrl]),
    auth: Type.Array(Auth),
    rateLimit: Type.Optional(
      Type.Object({ requests: Count(1_000_000), perMs: Count(86_400_000) }, exactly),
    ),
    concurrency: Type.Optional(Count(64)),
    headers: Type.Optional(Type.Record(HeaderName, Type.String({ maxLength: 500 }))),
    responseHeaders: Type.Optional(Type.Array(HeaderName)),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            status: Type.Optional(Type.Union([Status, Type.Array(Status)])),
            header: Type.Optional(
              Type.Object({ name: HeaderName, equals: Type.String() }, exactly),
            ),
            pointer: Type.Optional(Type.String({ pattern: "^(/.*)?$" })),
            equals: Type.Optional(
              Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
            ),
            contains: Type.Optional(Type.String({ minLength: 1 })),
            code: Type.String({ enum: Object.keys(errorTable) }),
          },
          exactly,
        ),
      ),
    ),
    maxResponseBytes: Type.Optional(Count(256 * 1024 * 1024)),
    isPostSafe: Type.Optional(Type.Boolean()),
  },
  exactly,
);

const PostgresEgress = Type.Object(
  {
    kind: Type.Literal("postgres"),
    host: Field,
    port: Field,
    database: Field,
    username: Field,
    password: Field,
    sslMode: Field,
    sslRootCertificate: Type.Optional(Field),
  },
  exactly,
);

const ManifestShape = Type.Object(
  {
    id: Type.String({ pattern: "^conn_[a-z0-9_]{1,60}$" }),
    version: Type.String({
      pattern: "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-[0-9A-Za-z.-]+)?$",
    }),
    title: Type.String({ minLength: 1, maxLength: 100 }),
    documentationUrl: Type.Optional(Type.String({ format: "uri", maxLength: 500 })),
    spec: Type.Object({ type: Type.Literal("object") }),
    egress: Type.Unknown(),
    state: Type.Optional(Type.Object({})),
    streams: Type.Optional(
      Type.Array(Type.Object({ name: Type.String({ minLength: 1 }) }), { maxItems: 6000 }),
    ),
    hasEntities: Type.Optional(Type.Boolean()),
  },
  exactly,
);

const manifestFaults = compileLater(ManifestShape);
const egressFaults = {
  http: compileLater(HttpEgress),
  postgres: compileLater(PostgresEgress),
};

/** Checks what a worker says of its connector. @throws CONNECTOR_INVALID naming the first fault */
export function parseManifest(value: JsonValue): Manifest {
  refuse(manifestFaults(value));
  const manifest = value as unknown as Static<typeof ManifestShape>;
  const egress = manifest.egress as Egress;
  const check = egressFaults[egress?.kind as keyof typeof egressFaults];
  if (!check)
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "egress.kind",
      problem: "must be http or postgres",
    });
  refuse(check(egress as unknown as JsonValue), "egress");
  compileOrRefuse(manifest.spec, "spec");
  if (manifest.state) compileOrRefuse(manifest.state, "state");
  const lost = unreachableSecret(manifest.spec as JsonObject);
  if (lost !== undefined) {
    refuse([
      {
        path: `spec.${lost}`,
        problem:
          "holds a secret where only properties may: not in lists, maps, references or conditions",
      },
    ]);
  }
  refuse(fieldFaults(manifest.spec as JsonObject, egress));
  refuse(authorizationFaults(egress, (field) => schemaOf(manifest.spec as JsonObject, field)));
  refuse(streamFaults((manifest.streams ?? []) as unknown as CatalogStream[]));
  return manifest as unknown as Manifest;
}

function refuse(faults: readonly Fault[], prefix = ""): void {
  const fault = faults.at(0);
  if (!fault) return;
  const path = [prefix, fault.path].filter((part) => part !== "").join(".") || "definition";
  throw new ConnectorError("CONNECTOR_INVALID", { path, problem: fault.problem });
}

function compileOrRefuse(schema: object, path: string): void {
  try {
    compileSchema(schema);
  } catch {
    throw new ConnectorError("CONNECTOR_INVALID", { path, problem: "is not a valid JSON Schema" });
  }
}

/**
 * Config properties that the declared egress names must exist, and the ones that authenticate must
 * be marked secret.
 */
function fieldFaults(spec: JsonObject, egress: Egress): Fault[] {
  const faults: Fault[] = [];
  const refer = (field: string, mustBeSecret: boolean) => {
    const schema = schemaOf(spec, field);
    if (!schema)
      faults.push({
        path: `spec.properties.${field}`,
        problem: "is used by the egress but not declared",
      });
    else if (mustBeSecret && schema[secretKeyword] !== true) {
      faults.push({
        path: `spec.properties.${field}`,
        problem: "authenticates requests and must be marked secret(…)",
      });
    }
  };
  for (const { field, isSecret } of egressFields(egress)) refer(field, isSecret);
  for (const field of hostEnds(egress)) {
    if (Array.isArray(schemaOf(spec, field)?.enum)) continue;
    faults.push({
      path: `spec.properties.${field}`,
      problem: "ends a host name in the egress and must be an enum",
    });
  }
  return faults;
}

/** Settings at the end of a host: whoever chooses their value chooses the owner of the host. */
function hostEnds(egress: Egress): string[] {
  if (egress.kind === "postgres") return [];
  const oauthUrls = egress.auth.flatMap(oauthTemplates);
  const templates = typeof egress.baseUrl === "string" ? [egress.baseUrl, ...oauthUrls] : oauthUrls;
  return templates.flatMap(
    (template) => /^https:\/\/[^/]*\{([^{}]+)\}(?::\d+)?(?:\/|$)/.exec(template)?.[1] ?? [],
  );
}

/** An egress of any kind of connector that authenticates; where a base URL comes from may differ. */
type AuthenticatedEgress =
  | Extract<Egress, { kind: "postgres" }>
  | (Omit<Extract<Egress, { kind: "http" }>, "baseUrl"> & {
      readonly baseUrl: string | { readonly field: string };
    });

/** Every config property that an egress declaration names. */
export function egressFields(
  egress: AuthenticatedEgress,
): { readonly field: string; readonly isSecret: boolean }[] {
  const open = (field: string) => ({ field, isSecret: false });
  const hidden = (field: string) => ({ field, isSecret: true });
  if (egress.kind === "postgres") {
    const { host, port, database, username, password, sslMode, sslRootCertificate } = egress;
    return [
      ...[host, port, database, username, sslMode].map(open),
      hidden(password),
      ...(sslRootCertificate ? [open(sslRootCertificate)] : []),
    ];
  }
  const base =
    typeof egress.baseUrl === "string" ? placeholders(egress.baseUrl) : [egress.baseUrl.field];
  return [
    ...base.map(open),
    ...egress.auth.flatMap(oauthTemplates).flatMap(placeholders).map(open),
    ...egress.auth.flatMap((auth) => {
      if (auth.type === "headers")
        return Object.values(auth.headers).map(({ field, prefix }) =>
          prefix === "" ? open(field) : hidden(field),
        );
      if (auth.type === "basic") return [open(auth.username), hidden(auth.password)];
      if (auth.type === "oauth2")
        return [open(auth.clientId), hidden(auth.clientSecret), hidden(auth.refreshToken)];
      // body and query fields may hold a client id as well as a secret
      return Object.values(auth.fields).map(open);
    }),
  ];
}

const placeholders = (template: string) =>
  [...template.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? "");

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

/** Names unique also without case; keys and cursors declared in the schema. */
export function streamFaults(streams: readonly CatalogStream[]): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const stream of streams) {
    const path = `stream ${stream.name}`;
    const key = JSON.stringify([stream.namespace ?? null, stream.name]).toLowerCase();
    if (seen.has(key)) faults.push({ path, problem: "has the same name as another one" });
    seen.add(key);
    const properties = (stream.json_schema?.properties ?? {}) as JsonObject;
    const fields = [
      ...stream.source_defined_primary_key.map((one) => one[0] ?? ""),
      ...stream.default_cursor_field,
    ];
    for (const field of fields) {
      if (!Object.hasOwn(properties, field))
        faults.push({ path, problem: `names ${field} as key or cursor, which its schema lacks` });
    }
  }
  return faults;
}

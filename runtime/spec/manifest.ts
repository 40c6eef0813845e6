import { type Static, Type } from "typebox";
import type { CatalogStream, Manifest } from "../contract/catalog.ts";
import type { Egress } from "../contract/egress.ts";
import { ConnectorError, errorTable } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import {
  Authorization,
  authorizationFaults,
  ClientAuth,
  TokenAuthorization,
} from "./authorization.ts";
import { fieldFaults, schemaOf } from "./egress-fields.ts";
import { unreachableSecret } from "./secret-fields.ts";
import { compileLater, compileSchema, type Fault } from "./validation.ts";

const Field = Type.String({ minLength: 1, maxLength: 200 });
const HeaderName = Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" });
const exactly = { additionalProperties: false };
const AuthField = Type.Union([Field, Type.Object({ identifier: Field }, exactly)]);
const Fields = Type.Record(Type.String({ minLength: 1, maxLength: 100 }), AuthField);

const Auth = Type.Union([
  Type.Object(
    {
      type: Type.Literal("headers"),
      headers: Type.Record(
        HeaderName,
        Type.Object(
          {
            prefix: Type.String({ maxLength: 50 }),
            field: AuthField,
            bareIfStartsWith: Type.Optional(Type.String({ minLength: 1, maxLength: 50 })),
          },
          exactly,
        ),
      ),
      authorization: Type.Optional(TokenAuthorization),
    },
    exactly,
  ),
  Type.Object({ type: Type.Literal("basic"), username: AuthField, password: Field }, exactly),
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

import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { budgets } from "../contract/budgets.ts";
import type { Manifest } from "../contract/catalog.ts";
import type { Egress, HttpEgress } from "../contract/egress.ts";
import { ConnectorError, errorTable } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import {
  Authorization,
  authorizationFaults,
  ClientAuth,
  TokenAuthorization,
} from "./authorization.ts";
import { closedSpec } from "./config.ts";
import { fieldFaults, schemaOf } from "./egress-fields.ts";
import { parseLocalUrl } from "./local-url.ts";
import { schemaExcess } from "./schema-budget.ts";
import { unreachableSecret } from "./secret-fields.ts";
import { createStreamList } from "./streams.ts";
import { compileLater, compileSchema, type Fault, schemaPlace } from "./validation.ts";

const Field = Type.String({ minLength: 1, maxLength: 200 });
const HeaderName = Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$" });
const Url = Type.String({ pattern: "^https://", maxLength: 500 });
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
      except: Type.Optional(
        Type.Array(Type.String({ pattern: "^(/[A-Za-z0-9._-]+)+$", maxLength: 200 }), {
          maxItems: 100,
        }),
      ),
    },
    exactly,
  ),
  Type.Object({ type: Type.Literal("query"), fields: Fields }, exactly),
  Type.Object(
    {
      type: Type.Literal("oauth2"),
      tokenUrl: Url,
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
    pathEnd: Type.String({ pattern: "^(/[A-Za-z0-9._-]+)*$", maxLength: 200 }),
    approvedHosts: Type.Optional(Type.Array(Type.String({ maxLength: 253 }), { maxItems: 100 })),
  },
  exactly,
);

const Count = (maximum: number) => Type.Integer({ minimum: 1, maximum });
const Status = Type.Integer({ minimum: 100, maximum: 599 });
const Pointer = Type.String({ pattern: "^(/.*)?$", maxLength: 500 });
const RotatingToken = Type.Object(
  { field: Field, accessToken: Field, refreshToken: Field, expiresIn: Field },
  exactly,
);
const RuleText = Type.String({ maxLength: 500 });

const HttpEgressShape = Type.Object(
  {
    kind: Type.Literal("http"),
    baseUrl: Type.Union([Type.String({ maxLength: 500 }), ApprovedUrl]),
    auth: Type.Array(Auth, { maxItems: 10 }),
    rateLimit: Type.Optional(
      Type.Object({ requests: Count(1_000_000), perMs: Count(86_400_000) }, exactly),
    ),
    concurrency: Type.Optional(Count(64)),
    headers: Type.Optional(
      Type.Record(HeaderName, Type.String({ maxLength: 500 }), { maxProperties: 50 }),
    ),
    responseHeaders: Type.Optional(Type.Array(HeaderName, { maxItems: 100 })),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            status: Type.Optional(Type.Union([Status, Type.Array(Status, { maxItems: 500 })])),
            header: Type.Optional(Type.Object({ name: HeaderName, equals: RuleText }, exactly)),
            pointer: Type.Optional(Pointer),
            equals: Type.Optional(
              Type.Array(Type.Union([RuleText, Type.Number(), Type.Boolean()]), { maxItems: 100 }),
            ),
            contains: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
            code: Type.String({ enum: Object.keys(errorTable) }),
          },
          exactly,
        ),
        { maxItems: budgets.errorRules.count[0] },
      ),
    ),
    maxResponseBytes: Type.Optional(Count(budgets.answersAtOnce.together)),
    isPostSafe: Type.Optional(Type.Boolean()),
    isImage: Type.Optional(Type.Boolean()),
    placeholders: Type.Optional(
      Type.Object(
        {
          urls: Type.Optional(Type.Array(Url, { maxItems: 50 })),
          archives: Type.Optional(Type.Boolean()),
          minted: Type.Optional(
            Type.Array(
              Type.Object(
                {
                  url: Url,
                  pointers: Type.Array(Pointer, { maxItems: 20 }),
                  rotates: Type.Optional(RotatingToken),
                },
                exactly,
              ),
              { maxItems: 50 },
            ),
          ),
        },
        exactly,
      ),
    ),
  },
  exactly,
);

const databaseEgressShape = (kind: "postgres" | "mysql") =>
  Type.Object(
    {
      kind: Type.Literal(kind),
      host: Field,
      port: Field,
      database: Field,
      username: Field,
      password: Field,
      sslMode: Field,
      sslRootCertificate: Type.Optional(Field),
      ...(kind === "postgres" ? { replicationSlot: Type.Optional(Field) } : {}),
      tunnel: Type.Optional(
        Type.Object(
          {
            host: Field,
            port: Field,
            user: Field,
            privateKey: Field,
            password: Field,
            hostKey: Field,
          },
          exactly,
        ),
      ),
    },
    exactly,
  );

const MissingStream = Type.Object(
  {
    stream: Type.String({ maxLength: 500 }),
    path: Type.String({ maxLength: 2_000 }),
    problem: Type.String({ maxLength: 2_000 }),
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
    streams: Type.Optional(Type.Array(Type.Unknown())),
    missingStreams: Type.Optional(Type.Array(MissingStream, { maxItems: 6_000 })),
    hasEntities: Type.Optional(Type.Boolean()),
  },
  exactly,
);

const manifestFaults = compileLater(ManifestShape);
const egressFaults = {
  http: compileLater(HttpEgressShape),
  postgres: compileLater(databaseEgressShape("postgres")),
  mysql: compileLater(databaseEgressShape("mysql")),
};

/**
 * Digests of manifests without a fault: looking at one takes longer than the rest of a short run,
 * and many runs have the same one.
 */
const faultless = new Set<string>();
const maxFaultless = 100;

/** Checks what a worker says of its connector. @throws CONNECTOR_INVALID naming the first fault */
export function parseManifest(value: JsonValue): Manifest {
  const digest = createHash("sha256").update(JSON.stringify(value)).digest("base64");
  if (!faultless.has(digest)) {
    requireFaultless(value);
    for (const oldest of faultless) {
      if (faultless.size < maxFaultless) break;
      faultless.delete(oldest);
    }
    faultless.add(digest);
  }
  const manifest = value as unknown as Manifest;
  // Defaults are filled in, too.
  createStreamList()((manifest.streams ?? []) as unknown as JsonValue);
  return manifest;
}

function requireFaultless(value: JsonValue): void {
  refuse(manifestFaults(value));
  const manifest = value as unknown as Static<typeof ManifestShape>;
  const egress = manifest.egress as Egress;
  const check = egressFaults[egress?.kind as keyof typeof egressFaults];
  if (!check)
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "egress.kind",
      problem: "must be http, postgres or mysql",
    });
  refuse(check(egress as unknown as JsonValue), "egress");
  if (egress.kind === "http") refuse([...baseUrlFaults(egress), ...answerFaults(egress)], "egress");
  compileOrRefuse(closedSpec(manifest.spec), "spec");
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
}

function refuse(faults: readonly Fault[], prefix = ""): void {
  const fault = faults.at(0);
  if (!fault) return;
  const path = [prefix, fault.path].filter((part) => part !== "").join(".") || "definition";
  throw new ConnectorError("CONNECTOR_INVALID", { path, problem: fault.problem });
}

function baseUrlFaults({ baseUrl }: HttpEgress): Fault[] {
  const isFit =
    typeof baseUrl !== "string" || baseUrl.startsWith("https://") || parseLocalUrl(baseUrl);
  if (isFit) return [];
  const problem =
    "must begin with https://; http may be declared for http://localhost, http://127.0.0.1 and http://[::1] only, any port, for svc read --allow-local";
  return [{ path: "baseUrl", problem }];
}

/** The answers that may come at once have to fit into memory. */
function answerFaults({ concurrency, maxResponseBytes }: HttpEgress): Fault[] {
  const most = budgets.answersAtOnce.together;
  if (!concurrency || !maxResponseBytes || concurrency * maxResponseBytes <= most) return [];
  const path = "maxResponseBytes";
  return [{ path, problem: `must be at most ${most} divided by the concurrency` }];
}

function compileOrRefuse(schema: object, path: string): void {
  const problem = schemaExcess(schema as JsonObject);
  if (problem !== undefined) throw new ConnectorError("CONNECTOR_INVALID", { path, problem });
  try {
    compileSchema(schema);
  } catch (error) {
    const place = schemaPlace(error);
    throw new ConnectorError("CONNECTOR_INVALID", {
      path,
      problem: `is not a valid JSON Schema${place === "" ? "" : `: ${place}`}`,
    });
  }
}

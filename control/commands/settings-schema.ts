/**
 * The form of what the control API reads in svc.config.yaml. `expected` ends the sentence "… must
 * be".
 */
import { hostNamePattern, pinnedSandboxes } from "svc-connectors/host";
import { type TObject, type TProperties, type TSchema, Type } from "typebox";
import { defaultLimits } from "../services/settings.ts";

const Section = <P extends TProperties>(properties: P, options: object = {}) =>
  Type.Object(properties, {
    additionalProperties: false,
    expected: "an object of settings",
    ...options,
  });

/** Secrets stand in files of their own: a settings file is shown around, mailed and committed. */
const SecretFile = Type.Object(
  { $file: Type.String({ minLength: 1, expected: "the path of a file" }) },
  {
    additionalProperties: false,
    expected: "the name of a file that holds it: { $file: ./secret.txt }",
  },
);

const text = (expected: string, options: object = {}) =>
  Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: "^[^\\u0000-\\u001f\\u007f]*$",
    expected,
    ...options,
  });
const path = (expected: string) => text(expected, { maxLength: 4096 });
const count = (least: number, most: number) =>
  Type.Integer({
    minimum: least,
    maximum: most,
    expected: `a whole number from ${least} to ${most}`,
  });
const list = <T extends TSchema>(items: T, expected: string) =>
  Type.Array(items, { minItems: 1, expected });

/** How long something is kept. */
const days = Type.Optional(
  Type.Union([Type.Integer({ minimum: 1, maximum: 36_500 }), Type.Literal("forever")], {
    expected: "a number of days from 1 to 36500, or forever",
  }),
);

const Url = (expected: string, pattern: string) => text(expected, { pattern });

const OAuthApp = Section({
  client_id: text("the client ID that the provider gave"),
  client_secret: SecretFile,
  redirect_uris: list(
    Url(
      "an https:// URL without a fragment, or http:// on this machine",
      "^(https://[^\\s#]+|http://(127\\.0\\.0\\.1|\\[::1\\]|localhost)(:\\d+)?(/[^\\s#]*)?)$",
    ),
    "a list of URLs",
  ),
});

const imageName = (expected: string) =>
  text(expected, { pattern: "^[a-z0-9][a-z0-9._/-]*(:[0-9]+/[a-z0-9._/-]+)?$" });

const Declaration = Section(
  {
    path: Type.Optional(path("the path of a connector's module, folder or declarative manifest")),
    package: Type.Optional(
      text("the name of an installed package", {
        pattern: "^(@[a-z0-9~-][a-zA-Z0-9._~-]*/)?[a-z0-9~-][a-zA-Z0-9._~-]*$",
      }),
    ),
    image: Type.Optional(imageName("the repository of an image, without tag and digest")),
    allowed_hosts: Type.Optional(
      list(
        text("a host name, like api.example.com", { maxLength: 253, pattern: hostNamePattern }),
        "a list of hosts",
      ),
    ),
    expose_secrets: Type.Optional(list(text("the name of a secret setting"), "a list of settings")),
    digest: text("the digest that svc connectors digest shows", {
      pattern: "^sha256:[0-9a-f]{64}$",
    }),
    sandbox: Type.Optional(
      Type.Enum([...pinnedSandboxes], { expected: `one of ${pinnedSandboxes.join(", ")}` }),
    ),
  },
  {
    expected:
      "a connector: { path: …, digest: … }, { package: …, digest: … } or { image: …, digest: …, allowed_hosts: […] }",
  },
);

const limit = (name: keyof typeof defaultLimits) =>
  [name, Type.Optional(count(1, 1_000_000))] as const;

export const SettingsDocument = Section({
  oauth_apps: Type.Optional(
    Type.Record(Type.String(), OAuthApp, { expected: "an object of applications by connector id" }),
  ),
  connectors: Type.Optional(
    Type.Array(Declaration, { maxItems: 1_000, expected: "a list of connectors" }),
  ),
  images: Type.Optional(
    list(
      text("a repository, a prefix like acme/*, or a name with its digest", {
        pattern: "^[a-z0-9][a-z0-9._:/-]*(/\\*|@sha256:[0-9a-f]{64})?$",
      }),
      "a list of images",
    ),
  ),
  limits: Type.Optional(
    Section(
      Object.fromEntries(
        Object.keys(defaultLimits).map((name) => limit(name as keyof typeof defaultLimits)),
      ),
    ),
  ),
  jobs: Type.Optional(
    Section({
      concurrency: Type.Optional(count(1, 64)),
      per_workspace: Type.Optional(count(1, 10_000)),
      per_credential: Type.Optional(count(1, 10_000)),
      per_provider: Type.Optional(count(1, 10_000)),
      per_destination: Type.Optional(count(1, 10_000)),
    }),
  ),
  retention: Type.Optional(
    Section({
      jobs: days,
      job_logs: days,
      events: days,
      deliveries: days,
      credential_uses: days,
      audit: days,
    }),
  ),
  audit_archive: Type.Optional(path("the path of the folder for what leaves the audit log")),
  key_file: Type.Optional(path("the path of the key file")),
  warehouses: Type.Optional(path("the path of the folder for DuckDB files")),
  database_url: Type.Optional(SecretFile),
  server: Type.Optional(
    Section({
      host: Type.Optional(text("a host name or an address")),
      port: Type.Optional(count(0, 65_535)),
      tls: Type.Optional(
        Section({
          cert: path("the path of a PEM file with the certificates"),
          key: path("the path of a PEM file with the key"),
        }),
      ),
      trust_proxy: Type.Optional(
        Type.Union([Type.Boolean(), Type.Array(text("an address or a network"))], {
          expected: "true, false, or a list of addresses or networks of proxies",
        }),
      ),
    }),
  ),
  telemetry: Type.Optional(
    Section({
      otlp_endpoint: Type.Optional(
        Url(
          "the address of an OTLP/HTTP receiver without a name or password, like http://127.0.0.1:4318",
          "^https?://[A-Za-z0-9.\\-:\\[\\]]+(/[^\\s?#@]*)?$",
        ),
      ),
      metrics: Type.Optional(
        Section({ host: Type.Optional(text("a host name or an address")), port: count(0, 65_535) }),
      ),
    }),
  ),
  public_url: Type.Optional(
    Url(
      "an address without a path, like https://svc.example.com",
      "^https?://[A-Za-z0-9.\\-:\\[\\]]+$",
    ),
  ),
  mail: Type.Optional(
    Section(
      {
        outbox: Type.Optional(path("the path of a folder")),
        smtp: Type.Optional(
          Section({
            host: text("a host name or an address"),
            port: count(1, 65_535),
            user: Type.Optional(text("the name of the account")),
            password: Type.Optional(SecretFile),
          }),
        ),
        from: Type.Optional(text("the sender, like svc@example.com")),
      },
      { expected: "either { outbox: folder } or { smtp: …, from: … }" },
    ),
  ),
}) satisfies TObject;

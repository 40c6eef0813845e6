/**
 * Reads svc.config.yaml for the commands of the control API. One clear sentence for each fault:
 * file, place, what is wrong.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import {
  builtInSources,
  parsePointer,
  printable,
  readSettings,
  readText,
  suggestion,
  UsageError,
} from "svc-connectors/host";
import type { Static } from "typebox";
import type { ConnectorDeclaration } from "../connectors/places.ts";
import {
  type ControlSettings,
  defaultJobLimits,
  defaultLimits,
  defaultRetention,
  type JobLimits,
  type MailSettings,
  type OAuthApp,
  type Retention,
} from "../services/settings.ts";
import { SettingsDocument } from "./settings-schema.ts";

type Document = Static<typeof SettingsDocument>;

/** The address and the TLS of a server. */
export interface ServerSettings {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly trustProxy?: boolean | readonly string[] | undefined;
}

/** The address that serves metrics beside the API, without tokens. */
export interface MetricsSettings {
  readonly host: string;
  readonly port: number;
}

/** All that the operator's file says. Paths are absolute. */
export interface OperatorSettings {
  readonly control: ControlSettings;
  readonly server: ServerSettings;
  readonly metrics?: MetricsSettings | undefined;
  /** Connectors of one's own. */
  readonly connectors: readonly ConnectorDeclaration[];
  /** The folder of the file, or the working folder: packages are looked up from it. */
  readonly folder: string;
  readonly keyFile?: string | undefined;
  readonly databaseUrl?: string | undefined;
}

/** @throws UsageError naming the file and the setting, never a value */
export async function loadOperatorSettings(
  cwd: string,
  file: string | undefined,
): Promise<OperatorSettings> {
  const { name, folder, values, network } = await readSettings(cwd, file);
  const refuse = (problem: string) => new UsageError(`settings in ${name}: ${problem}`);
  const { approved_hosts: _hosts, allow_networks: _networks, ...own } = values;
  // A setting without a value, as YAML leaves it behind a colon, is as good as none.
  const document = Object.fromEntries(
    Object.entries(own).filter(([, value]) => value !== null),
  ) as Document;
  // When there is something to look at: every command loads this module.
  if (Object.keys(document).length > 0) {
    compiled ??= compile();
    if (!compiled(document)) throw refuse(faultOf(compiled.errors ?? [], document));
  }

  const secret = async ({ $file }: { readonly $file: string }) => {
    const text = (await readText($file, "secret", folder)).replace(/\r?\n$/, "");
    if (!/^[^\p{Cc}]+$/u.test(text))
      throw refuse(`the file "${printable($file)}" must hold one line`);
    return text;
  };
  const apps: [string, OAuthApp][] = [];
  for (const [id, { client_id, client_secret, redirect_uris }] of Object.entries(
    document.oauth_apps ?? {},
  )) {
    const ids = builtInSources.map((one) => one.id);
    // An id of somebody else's may be that of a connector which was added.
    if (!ids.includes(id) && (!/^conn_[a-z0-9_]{1,60}$/.test(id) || suggestion(id, ids) !== ""))
      throw refuse(`oauth_apps.${printable(id)} is not a connector${suggestion(id, ids)}`);
    const clientSecret = await secret(client_secret);
    apps.push([id, { clientId: client_id, clientSecret, redirectUris: redirect_uris }]);
  }
  const resolved = (path: string | undefined) =>
    path === undefined ? undefined : resolve(folder, path);
  const { host, port, tls, trust_proxy } = document.server ?? {};
  const mail = document.mail && (await mailOf(document.mail));
  const { otlp_endpoint, metrics } = document.telemetry ?? {};
  return {
    control: {
      network,
      oauthApps: Object.fromEntries(apps),
      images: document.images ?? [],
      limits: { ...defaultLimits, ...document.limits },
      jobs: jobLimitsOf(document.jobs),
      retention: retentionOf(document.retention),
      auditArchive: resolved(document.audit_archive),
      mail,
      warehouses: resolved(document.warehouses),
      publicUrl: document.public_url,
      otlpEndpoint: otlp_endpoint,
    },
    server: {
      host,
      port,
      tls: tls && { cert: await pem("cert", tls.cert), key: await pem("key", tls.key) },
      trustProxy: trust_proxy,
    },
    metrics: metrics && { host: metrics.host ?? "127.0.0.1", port: metrics.port },
    connectors: connectorsOf(document.connectors),
    folder,
    keyFile: resolved(document.key_file),
    databaseUrl: document.database_url && (await secret(document.database_url)),
  };

  function connectorsOf(entries: Document["connectors"] = []): readonly ConnectorDeclaration[] {
    return entries.map(({ digest, sandbox, ...named }, index) => {
      const { path, package: name, image, allowed_hosts, expose_secrets } = named;
      if ([path, name, image].filter((one) => one !== undefined).length !== 1)
        throw refuse(`connectors.${index} must have one of path, package and image`);
      if (image !== undefined)
        return {
          image,
          digest,
          sandbox,
          hosts: allowed_hosts ?? [],
          exposed: expose_secrets ?? [],
        };
      if (allowed_hosts ?? expose_secrets)
        throw refuse(
          `connectors.${index}: allowed_hosts and expose_secrets are for images; other connectors declare their hosts`,
        );
      return path === undefined
        ? { package: name as string, digest, sandbox }
        : { path, digest, sandbox };
    });
  }

  async function mailOf({
    outbox,
    smtp,
    from,
  }: NonNullable<Document["mail"]>): Promise<MailSettings> {
    if (
      (outbox === undefined) === (smtp === undefined) ||
      (smtp === undefined) !== (from === undefined)
    )
      throw refuse("mail must be either { outbox: folder } or { smtp: …, from: … }");
    if (outbox !== undefined) return { outbox: resolve(folder, outbox) };
    const { password, ...server } = smtp as NonNullable<typeof smtp>;
    return {
      smtp: { ...server, ...(password ? { password: await secret(password) } : {}) },
      from: from as string,
    };
  }

  function pem(setting: string, path: string): Promise<string> {
    return readFile(resolve(folder, path), "utf8").catch(() => {
      throw refuse(`server.tls.${setting}: the file "${printable(path)}" cannot be read`);
    });
  }
}

const jobLimitsOf = (jobs: Document["jobs"] = {}): JobLimits => ({
  concurrency: jobs.concurrency ?? defaultJobLimits.concurrency,
  perWorkspace: jobs.per_workspace ?? defaultJobLimits.perWorkspace,
  perCredential: jobs.per_credential ?? defaultJobLimits.perCredential,
  perProvider: jobs.per_provider ?? defaultJobLimits.perProvider,
  perDestination: jobs.per_destination ?? defaultJobLimits.perDestination,
});

const retentionOf = (days: Document["retention"] = {}): Retention => ({
  ...defaultRetention,
  ...Object.fromEntries(
    Object.entries(days).map(([name, value]) => [name, value === "forever" ? null : value]),
  ),
});

// `verbose` gives each fault its schema, and so its `expected`; the value that comes with it is not
// looked at.
function compile(): ValidateFunction {
  const options = { allErrors: false, strict: true, strictTypes: false, verbose: true };
  const ajv = new Ajv2020({ ...options, validateSchema: false });
  ajv.addKeyword({ keyword: "expected", schemaType: "string" });
  return ajv.compile(SettingsDocument);
}
let compiled: ValidateFunction | undefined;

function faultOf([fault, ...more]: readonly ErrorObject[], document: object): string {
  // Of a union the last fault is the union's own.
  const { keyword, params, parentSchema, instancePath } = more.at(-1) ?? (fault as ErrorObject);
  const path = parsePointer(instancePath);
  const at = (name: string) => printable([...path, name].join("."));
  if (keyword === "required") return `${at(String(params.missingProperty))} is missing`;
  // A secret in the place of the name of a file: say so, and do not name its parts.
  const isSecret = parentSchema?.properties !== undefined && "$file" in parentSchema.properties;
  if (keyword === "additionalProperties" && !isSecret) {
    const name = String(params.additionalProperty);
    const known = Object.keys((parentSchema?.properties ?? {}) as object);
    return `${at(name)} is not a setting${suggestion(name, known)}`;
  }
  const where = printable(path.join("."));
  const expected =
    typeof parentSchema?.expected === "string" ? parentSchema.expected : "of another form";
  return `${where || Object.keys(document)[0]} must be ${expected}`;
}

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlSettingNames, loadNetworkSettings, UsageError } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defaultJobLimits, defaultLimits, defaultRetention } from "../services/settings.ts";
import { loadOperatorSettings } from "./settings-file.ts";
import { SettingsDocument } from "./settings-schema.ts";

const canary = "canary-of-a-client-secret-0123456789";
const digest = `sha256:${"0a".repeat(32)}`;

describe("svc.config.yaml", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-operator-"));
    await writeFile(join(folder, "secret.txt"), `${canary}\n`);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const load = async (text: string) => {
    await writeFile(join(folder, "svc.config.yaml"), text);
    return loadOperatorSettings(folder, undefined);
  };
  const problemOf = async (text: string) => {
    const error: unknown = await load(text).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(UsageError);
    return (error as UsageError).message;
  };

  test("gives everything that the control API needs, with secrets from files", async () => {
    const settings = await load(`
approved_hosts: [mail.example.com]
oauth_apps:
  conn_social: { client_id: "1000.X", client_secret: { $file: ./secret.txt }, redirect_uris: ["https://svc.example.com/done"] }
  conn_helpdesk: { client_id: h, client_secret: { $file: ./secret.txt }, redirect_uris: ["https://svc.example.com/done"] }
connectors:
  - { path: ./helpdesk, digest: "${digest}" }
  - { package: "@acme/svc-tickets", digest: "${digest}", sandbox: process }
  - { image: acme/source-shop, digest: "${digest}", allowed_hosts: [api.shop.example.com], expose_secrets: [key] }
limits: { read: 7 }
retention: { jobs: 90, audit: forever }
audit_archive: data/audit
key_file: keys/keys.json
database_url: { $file: secret.txt }
server: { host: 0.0.0.0, port: 8443, trust_proxy: ["10.0.0.1"] }
public_url: https://svc.example.com
warehouses: data/warehouses
telemetry: { otlp_endpoint: "http://127.0.0.1:4318", metrics: { port: 9464 } }
images: ["acme/*"]
mail: { smtp: { host: smtp.example.com, port: 587, user: svc, password: { $file: secret.txt } }, from: svc@example.com }
`);
    expect(settings).toEqual({
      control: {
        network: { approvedHosts: ["mail.example.com"], allowNetworks: [] },
        oauthApps: {
          conn_social: {
            clientId: "1000.X",
            clientSecret: canary,
            redirectUris: ["https://svc.example.com/done"],
          },
          // It may be one that was added.
          conn_helpdesk: {
            clientId: "h",
            clientSecret: canary,
            redirectUris: ["https://svc.example.com/done"],
          },
        },
        images: ["acme/*"],
        limits: { ...defaultLimits, read: 7 },
        jobs: defaultJobLimits,
        retention: { ...defaultRetention, jobs: 90, audit: null },
        auditArchive: join(folder, "data/audit"),
        publicUrl: "https://svc.example.com",
        warehouses: join(folder, "data/warehouses"),
        otlpEndpoint: "http://127.0.0.1:4318",
        mail: {
          smtp: { host: "smtp.example.com", port: 587, user: "svc", password: canary },
          from: "svc@example.com",
        },
      },
      metrics: { host: "127.0.0.1", port: 9464 },
      server: { host: "0.0.0.0", port: 8443, trustProxy: ["10.0.0.1"] },
      connectors: [
        { path: "./helpdesk", digest },
        { package: "@acme/svc-tickets", digest, sandbox: "process" },
        {
          ...{ image: "acme/source-shop", digest },
          ...{ hosts: ["api.shop.example.com"], exposed: ["key"] },
        },
      ],
      folder,
      keyFile: join(folder, "keys/keys.json"),
      databaseUrl: canary,
    });
  });

  test("is not needed", async () => {
    const settings = await loadOperatorSettings(join(folder, "none"), undefined);
    expect(settings.control.network).toEqual({ approvedHosts: [], allowNetworks: [] });
    expect(settings.server).toEqual({});
  });

  test("serves the runtime too, which reads its own part", async () => {
    await load("allow_networks: [10.0.0.0/8]\nserver: { port: 1 }\n");
    expect(await loadNetworkSettings(folder)).toEqual({
      approvedHosts: [],
      allowNetworks: ["10.0.0.0/8"],
    });
    expect(Object.keys(SettingsDocument.properties).sort()).toEqual(
      [...controlSettingNames].sort(),
    );
  });

  const app = (secret: string) =>
    `oauth_apps: { conn_social: { client_id: a, client_secret: ${secret}, redirect_uris: ["https://a.example.com/"] } }`;
  test.each([
    ["sever: {}", 'sever is not a setting (did you mean "server"?)'],
    ["server: { prot: 1 }", 'server.prot is not a setting (did you mean "port"?)'],
    ["server: { port: high }", "server.port must be a whole number from 0 to 65535"],
    ["server: 7", "server must be an object of settings"],
    ["server: { tls: { cert: a.pem } }", "server.tls.key is missing"],
    [
      "server: { tls: { cert: a.pem, key: b.pem } }",
      'server.tls.cert: the file "a.pem" cannot be read',
    ],
    ["server: { trust_proxy: 7 }", "server.trust_proxy must be true, false, or a list"],
    [
      "retention: { jobs: 0 }",
      "retention.jobs must be a number of days from 1 to 36500, or forever",
    ],
    ["retention: { audit: ever }", "retention.audit must be a number of days"],
    ["connectors: { path: ./a }", "connectors must be a list of connectors"],
    ["connectors: [{ path: ./a }]", "connectors.0.digest is missing"],
    [
      "connectors: [{ path: ./a, digest: abc }]",
      "connectors.0.digest must be the digest that svc connectors digest shows",
    ],
    [
      `connectors: [{ digest: "${digest}" }]`,
      "connectors.0 must have one of path, package and image",
    ],
    [
      `connectors: [{ package: ../a, digest: "${digest}" }]`,
      "connectors.0.package must be the name of an installed package",
    ],
    [
      `connectors: [{ path: ./a, digest: "${digest}", sandbox: inline }]`,
      "connectors.0.sandbox must be one of process, bubblewrap",
    ],
    [
      `connectors: [{ path: ./a, digest: "${digest}", allowed_hosts: [a.example.com] }]`,
      "connectors.0: allowed_hosts and expose_secrets are for images",
    ],
    [
      `connectors: [{ image: "acme/x:1.4", digest: "${digest}" }]`,
      "connectors.0.image must be the repository of an image, without tag and digest",
    ],
    ['images: ["*"]', "images.0 must be a repository, a prefix like acme/*, or a name"],
    ["limits: { reed: 1 }", 'limits.reed is not a setting (did you mean "read"?)'],
    ["limits: { read: 0 }", "limits.read must be a whole number from 1"],
    [app(canary), "oauth_apps.conn_social.client_secret must be the name of a file that holds it"],
    [app(`{ ${canary}: 1 }`), "oauth_apps.conn_social.client_secret"],
    [
      app(`{ $file: ./secret.txt, ${canary}: 1 }`),
      "oauth_apps.conn_social.client_secret must be the name of a file",
    ],
    [app("{ $file: ./none.txt }"), 'secret file "./none.txt": does not exist'],
    [
      app("{ $file: ./secret.txt }").replace("conn_social", "conn_socal"),
      'oauth_apps.conn_socal is not a connector (did you mean "conn_social"?)',
    ],
    [
      app("{ $file: ./secret.txt }").replace("https://a", "http://a"),
      "oauth_apps.conn_social.redirect_uris.0 must be an https:// URL",
    ],
    [
      "database_url: postgres://user:pass@host/db",
      "database_url must be the name of a file that holds it",
    ],
    ["public_url: https://svc.example.com/path", "public_url must be an address without a path"],
    [
      "telemetry: { otlp_endpoint: http://user:pass@host/ }",
      "telemetry.otlp_endpoint must be the address",
    ],
    ["telemetry: { metrics: {} }", "telemetry.metrics.port is missing"],
    ["mail: {}", "mail must be either { outbox: folder } or { smtp: …, from: … }"],
    ["mail: { outbox: a, from: b }", "mail must be either"],
    ["mail: { smtp: { host: a, port: 25 } }", "mail must be either"],
  ])("%s is refused", async (text, problem) => {
    const message = await problemOf(text);
    expect(message).toContain(problem);
    expect(message).toMatch(/svc\.config\.yaml|secret file/);
    expect(message).not.toContain(canary);
    expect(message).not.toContain("pass@");
  });
});

/**
 * `svc config` for every source that comes with svc: what it writes is filled in, as a person
 * would, and is then enough to check and read an account.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtInSources, createHost, type HostOptions } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBankdata } from "../simulators/bankdata/bankdata.ts";
import { startMailer } from "../simulators/mailer/mailer.ts";
import { findMariadb, startMariadb } from "../simulators/mariadb-server.ts";
import { findPostgres, startPostgres } from "../simulators/postgres-server.ts";
import { startSocial } from "../simulators/social/social.ts";
import { startTaskapp } from "../simulators/taskapp/taskapp.ts";
import { runCommand, type Surroundings } from "./command.ts";
import { choose } from "./effort.ts";

interface Account extends AsyncDisposable {
  /** The entries of a person: a text instead of the empty value, or into the file of a secret. */
  readonly values: Readonly<Record<string, string | number>>;
  readonly stream: string;
  readonly seams?: HostOptions["seams"];
  readonly approvedHost?: string;
}

/** Undefined: it cannot be had on this machine. */
const accounts: Readonly<Record<string, (() => Promise<Account>) | undefined>> = {
  async mailer() {
    const mailer = await startMailer({ seed: 3, campaigns: 2, lists: 1, subscribersPerList: 5 });
    const { baseUrl, token, seams, hostname } = mailer;
    const values = { base_url: baseUrl, api_token: token };
    const close = () => mailer.close();
    return {
      values,
      seams,
      approvedHost: hostname,
      stream: "campaigns",
      [Symbol.asyncDispose]: close,
    };
  },
  async social() {
    const social = await startSocial({ brands: 1, postsPerChannel: 2 });
    const { clientId, clientSecret, refreshToken, region, portalId, seams } = social;
    const secrets = { client_secret: clientSecret, refresh_token: refreshToken };
    const values = { client_id: clientId, ...secrets, region, portal_id: portalId };
    return { values, seams, stream: "channels", [Symbol.asyncDispose]: () => social.close() };
  },
  async bankdata() {
    const bankdata = await startBankdata({ transactions: 5 });
    const { secret, clientId, accessToken, seams } = bankdata;
    const environment = bankdata.hostname.split(".")[0] ?? "";
    const values = { api_key: secret, client_id: clientId, environment, access_token: accessToken };
    return { values, seams, stream: "accounts", [Symbol.asyncDispose]: () => bankdata.close() };
  },
  async taskapp() {
    const taskapp = await startTaskapp({ tasks: 3 });
    const { token, seams } = taskapp;
    const values = { access_token: token };
    return { values, seams, stream: "tasks", [Symbol.asyncDispose]: () => taskapp.close() };
  },
  mysql: findMariadb()
    ? async () => {
        const server = await startMariadb();
        const password = randomBytes(9).toString("hex");
        await server.query(`CREATE DATABASE shop; CREATE USER reader IDENTIFIED BY '${password}';
          GRANT SELECT ON shop.* TO reader; CREATE TABLE shop.orders (id int PRIMARY KEY)`);
        const { host, port } = server;
        const values = { host, port, database: "shop", username: "reader", password };
        const close = () => server[Symbol.asyncDispose]();
        return { values, stream: "shop.orders", [Symbol.asyncDispose]: close };
      }
    : undefined,
  postgres: findPostgres()
    ? async () => {
        const server = await startPostgres();
        const { name, query } = await server.createDatabase();
        await query("CREATE TABLE orders (id int PRIMARY KEY); INSERT INTO orders VALUES (1), (2)");
        const { host, port, password } = server;
        const values = { host, port, database: name, username: "postgres", password };
        return { values, stream: "public.orders", [Symbol.asyncDispose]: () => server.stop() };
      }
    : undefined,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-first-config-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(
  choose({ quick: ["postgres"], whole: builtInSources.map(({ name }) => name) }),
)("svc config %s is filled in, checked and read with", async (name) => {
  expect(Object.keys(accounts), "this source needs an account here").toContain(name);
  const open = accounts[name];
  if (!open) return expect(name === "mysql" ? findMariadb() : findPostgres()).toBeUndefined();
  await using account = await open();
  let { stdout: text } = await runCommand(["config", name], { cwd: folder });
  for (const [setting, value] of Object.entries(account.values)) {
    const secret = new RegExp(`^${setting}: \\{ \\$file: (\\./${name}-[a-z-]+\\.txt) \\}$`, "m");
    const [, file] = secret.exec(text) ?? [];
    if (file !== undefined) await writeFile(join(folder, file), `${value}\n`);
    else {
      const line = new RegExp(`^(?:# )?${setting}:.*$`, "m");
      expect(text).toMatch(line);
      text = text.replace(line, `${setting}: ${JSON.stringify(value)}`);
    }
  }
  await writeFile(join(folder, `${name}.yaml`), text);
  const surroundings: Surroundings = {
    cwd: folder,
    createHost: ({ settings, ...options }) =>
      createHost({
        ...options,
        settings: {
          ...settings,
          approvedHosts: account.approvedHost ? [account.approvedHost] : [],
        },
        seams: account.seams,
      }),
  };
  const config = ["--config", `${name}.yaml`];
  expect(await runCommand(["check", name, ...config], surroundings)).toMatchObject({
    code: 0,
    stderr: "",
  });
  const out = join(folder, `${name}-rows`);
  const read = ["read", name, ...config, "--streams", account.stream, "--out", out];
  expect(await runCommand(read, surroundings)).toMatchObject({ code: 0 });
  expect(await readdir(out)).toContain(`${account.stream}.jsonl`);
});

/**
 * `svc read <source> --out x.duckdb` for each source with an HTTP API, killed with -9 in the middle
 * again and again: what is in DuckDB afterwards is the account's truth, each key once. The command
 * is the real one; seams lead its host to the simulator.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { streams as bankdataStreams } from "../connectors/sources/bankdata/streams.ts";
import { streams as mailerStreams } from "../connectors/sources/mailer/streams.ts";
import { streams as socialStreams } from "../connectors/sources/social/streams.ts";
import { streams as taskappStreams } from "../connectors/sources/taskapp/streams.ts";
import { startBankdata } from "../simulators/bankdata/bankdata.ts";
import { startMailer } from "../simulators/mailer/mailer.ts";
import type { SimulatorServer } from "../simulators/simulator/server.ts";
import { startSocial } from "../simulators/social/social.ts";
import { startTaskapp } from "../simulators/taskapp/taskapp.ts";

interface Keyed {
  readonly name: string;
  readonly primaryKey: readonly string[];
}

interface Account {
  readonly simulator: Pick<SimulatorServer, "hostname" | "seams" | "observe" | "close">;
  /** Its other hosts. */
  readonly hosts?: readonly string[];
  readonly config: object;
  readonly streams: readonly Keyed[];
  readonly truth: (stream: string) => readonly Readonly<Record<string, unknown>>[];
}

const accounts: Readonly<Record<string, () => Promise<Account>>> = {
  async mailer() {
    const simulator = await startMailer({
      seed: 5,
      campaigns: 40,
      lists: 3,
      subscribersPerList: 300,
    });
    const { truth } = simulator;
    return {
      simulator,
      config: { base_url: simulator.baseUrl, api_token: simulator.token },
      streams: mailerStreams.filter(({ name }) =>
        ["campaigns", "campaign_opens", "subscribers", "sends"].includes(name),
      ),
      truth: (name) => truth[name as "campaigns"](),
    };
  },
  async social() {
    const simulator = await startSocial({
      brands: 3,
      postsPerChannel: 30,
      tokenLimit: { requests: 1_000, windowMs: 1 },
    });
    const { region, portalId, clientId, clientSecret, refreshToken, truth } = simulator;
    return {
      simulator,
      config: {
        region,
        portal_id: portalId,
        client_id: clientId,
        client_secret: clientSecret,
        refresh_token: refreshToken,
      },
      hosts: [`accounts.zoho.${region}`],
      streams: socialStreams.filter(({ name }) => ["users", "channels", "posts"].includes(name)),
      truth: (name) => truth[name as "posts"](),
    };
  },
  async bankdata() {
    const simulator = await startBankdata({ transactions: 20_000 });
    const { secret, clientId, hostname, accessToken, truth } = simulator;
    const environment = hostname.split(".")[0];
    return {
      simulator,
      config: { api_key: secret, client_id: clientId, environment, access_token: accessToken },
      streams: bankdataStreams.filter(({ name }) => ["accounts", "transactions"].includes(name)),
      truth: (name) => truth[name as "accounts"](),
    };
  },
  async taskapp() {
    const simulator = await startTaskapp({
      workspaces: 2,
      spacesPerWorkspace: 3,
      foldersPerSpace: 3,
      pageSize: 5,
      tasks: 200,
    });
    const { token, truth } = simulator;
    return {
      simulator,
      config: { access_token: token },
      streams: taskappStreams.filter(({ name }) =>
        ["spaces", "lists", "tasks", "comments"].includes(name),
      ),
      truth: (name) => truth[name as "tasks"](),
    };
  },
};

/**
 * The executable, with a host that finds the simulator and a clock on which nobody waits for rate
 * limits.
 */
async function program({ simulator, hosts = [] }: Account): Promise<string> {
  const { hostname, seams } = simulator;
  const ports = await Promise.all(
    [hostname, ...hosts].map(async (host) => [host, await portOf(seams, host)]),
  );
  return `
    import { connect } from "node:net";
    import { createScaledClock, main, runProcess } from "svc-connectors/host";
    const seams = {
      ca: ${JSON.stringify(seams.ca)},
      resolve: async () => [{ address: "93.184.215.14", family: 4 }],
      dial: ({ host }) => connect({ port: ${JSON.stringify(Object.fromEntries(ports))}[host], host: "127.0.0.1", noDelay: true }),
    };
    const settings = { approvedHosts: [${JSON.stringify(hostname)}], allowNetworks: [] };
    const clock = createScaledClock(20);
    await runProcess((argv, environment) => main(argv, {
      ...environment, clock, createHost: (options) => environment.createHost({ ...options, settings, seams, clock }),
    }));`;
}

async function portOf(seams: SimulatorServer["seams"], host: string): Promise<number> {
  const socket = seams.dial({ host, address: "", port: 0 });
  await once(socket, "connect");
  const port = socket.remotePort ?? 0;
  socket.destroy();
  return port;
}

async function keysIn(file: string, { name, primaryKey }: Keyed): Promise<string[]> {
  const instance = await DuckDBInstance.create(file, { access_mode: "READ_ONLY" });
  const connection = await instance.connect();
  const reader = await connection.runAndReadAll(
    `SELECT ${primaryKey.map((field) => `"${field}"::VARCHAR`).join(", ")} FROM "${name}"`,
  );
  connection.closeSync();
  instance.closeSync();
  return reader
    .getRowsJson()
    .map((row) => row.join(" "))
    .sort();
}

test.each(
  Object.entries(accounts),
)("%s, killed again and again, ends with the account's truth in DuckDB", async (name, open) => {
  const folder = await mkdtemp(join(tmpdir(), "svc-source-kill-"));
  const account = await open();
  const { simulator, streams } = account;
  try {
    const file = join(folder, "out.duckdb");
    await writeFile(join(folder, "config.json"), JSON.stringify(account.config), { mode: 0o600 });
    const source = await program(account);
    const args = ["read", name, "--config", join(folder, "config.json"), "--out", file];
    const selected = ["--streams", streams.map((stream) => stream.name).join(",")];

    let killCount = 0;
    let onRequest: () => void = () => undefined;
    simulator.observe(() => onRequest());
    for (let isDone = false; !isDone; ) {
      const child = spawn(
        process.execPath,
        [
          "--conditions=svc-source",
          "--input-type=module",
          "-e",
          source,
          "--",
          "svc",
          ...args,
          ...selected,
        ],
        {
          stdio: ["ignore", "pipe", "pipe"],
          cwd: fileURLToPath(new URL("../", import.meta.url)),
        },
      );
      let printed = "";
      for (const output of [child.stdout, child.stderr])
        output.on("data", (chunk) => {
          printed += String(chunk);
        });
      let left = 6 * 3 ** killCount;
      onRequest = () => {
        left -= 1;
        if (left === 0) child.kill("SIGKILL");
      };
      const [code, signal] = (await once(child, "close")) as [number | null, string | null];
      if (signal === "SIGKILL") killCount += 1;
      else expect([code, code === 0 ? "" : printed]).toEqual([0, ""]);
      isDone = code === 0;
    }
    expect(killCount).toBeGreaterThanOrEqual(2);
    for (const stream of streams) {
      const keys = account
        .truth(stream.name)
        .map((row) => stream.primaryKey.map((field) => String(row[field])).join(" "));
      expect(await keysIn(file, stream), stream.name).toEqual(keys.sort());
    }
  } finally {
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  }
});

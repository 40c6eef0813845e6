import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Manifest } from "../runtime/contract/catalog.ts";
import { http, oauth2 } from "../runtime/contract/egress.ts";
import type { StoredTokens, Tokens } from "../runtime/contract/token-store.ts";
import { createSecretRegistry } from "../runtime/filter/secrets.ts";
import { finishAuthorization } from "../runtime/oauth/finish.ts";
import { createMemoryPendingStore } from "../runtime/oauth/pending.ts";
import { startAuthorization } from "../runtime/oauth/start.ts";
import { authorizeInBrowser } from "../simulators/authorization/browser.ts";
import {
  type AuthorizationServer,
  authorizationServerName,
  client,
  startAuthorizationServer,
} from "../simulators/authorization/server.ts";
import { createInstantClock } from "../simulators/loopback.ts";
import {
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../simulators/postgres-server.ts";
import {
  createTable,
  type ProcessCommand,
  type ProcessSettings,
  type Report,
} from "./oauth-process.ts";

const redirectUri = "https://svc.example.net/oauth/callback/conn_x";
const context = { workspace: "w1", connector: "conn_x", user: "u1", session: "s1" };
const config = { client_id: client.id, client_secret: client.secret };
const startMs = Date.UTC(2026, 0, 15);
const hourMs = 3_600_000;
const callerCount = 50;
/** Of kills. */
const rounds = 8;

const secret = { type: "string", "x-svc-secret": true };
const manifest: Manifest = {
  id: "conn_x",
  version: "1.0.0",
  title: "X",
  spec: {
    type: "object",
    properties: { client_id: { type: "string" }, client_secret: secret, refresh_token: secret },
  },
  egress: http({
    baseUrl: "https://api.example.com/v1",
    auth: oauth2({
      tokenUrl: `https://${authorizationServerName}/token`,
      clientId: "client_id",
      clientSecret: "client_secret",
      refreshToken: "refresh_token",
      authorization: {
        authorizeUrl: `https://${authorizationServerName}/auth`,
        scopes: ["items:read"],
      },
    }),
  }),
};

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

/** A credential that a user has authorised, and processes that share it. */
async function open() {
  const server = await startAuthorizationServer({ redirectUris: [redirectUri] });
  const database = await postgres.createDatabase();
  await database.query(createTable);
  await database.query("INSERT INTO credential VALUES (0, '{}')");
  const children = new Set<ChildProcess>();
  const forkOne = async (stopsBeforeSave = false) => {
    const { url: databaseUrl } = database;
    const settings: ProcessSettings = {
      databaseUrl,
      port: server.port,
      ca: server.seams.ca,
      stopsBeforeSave,
    };
    const program = new URL("oauth-process.ts", import.meta.url);
    const child = fork(program, [JSON.stringify(settings)], {
      execArgv: ["--conditions=svc-source"],
    });
    children.add(child);
    await once(child, "message");
    return child;
  };
  return {
    server,
    forkOne,
    forkMany: (count: number) => Promise.all(Array.from({ length: count }, () => forkOne())),
    authorize: async (nowMs: number) => save(database, await authorize(server, nowMs)),
    async stored(): Promise<StoredTokens> {
      const [row] = await database.query("SELECT version, tokens FROM credential");
      return row as unknown as StoredTokens;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...children].map(kill));
      await server[Symbol.asyncDispose]();
    },
  };
}

async function authorize(server: AuthorizationServer, nowMs: number): Promise<Tokens> {
  const clock = createInstantClock(nowMs);
  const pendings = createMemoryPendingStore(clock.now);
  const { url, pending } = await startAuthorization({
    manifest,
    config,
    redirectUri,
    context,
    clock,
  });
  await pendings.put(pending);
  const callbackUrl = await authorizeInBrowser(server, url);
  return (
    await finishAuthorization({
      manifest,
      callbackUrl,
      context,
      pendings,
      ...networkOf(server, nowMs),
    })
  ).tokens;
}

const networkOf = ({ seams }: AuthorizationServer, nowMs: number) => ({
  settings: { approvedHosts: [], allowNetworks: [] },
  seams,
  secrets: createSecretRegistry(),
  clock: createInstantClock(nowMs),
});

const save = (database: PostgresDatabase, tokens: Tokens) =>
  database.query(
    `UPDATE credential SET version = version + 1, tokens = '${JSON.stringify(tokens)}'`,
  );

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** The result of one command to each process; undefined for one that died over it. */
function order(children: readonly ChildProcess[], nowMs: number) {
  return Promise.all(
    children.map(async (child) => {
      const done = new AbortController();
      const answer = once(child, "message", done);
      const death = once(child, "exit", done).then((): [undefined] => [undefined]);
      child.send({ nowMs, callerCount } satisfies ProcessCommand);
      const [report] = (await Promise.race([answer, death])) as [Report | undefined];
      done.abort();
      return report && "counts" in report ? report.counts : report;
    }),
  );
}

const allGood = { 200: callerCount };
const allRefused = { REAUTHORIZATION_NEEDED: callerCount };
const refreshCount = ({ requests }: AuthorizationServer) =>
  requests.filter((one) => one === "POST /token").length;

describe("processes that share a rotating refresh token", () => {
  test.each([
    2, 4,
  ])("(%i of them, with 50 requests each) refresh it once per expiry", async (count) => {
    await using credential = await open();
    const { server } = credential;
    await credential.authorize(startMs);
    const children = await credential.forkMany(count);
    const all = Array(count).fill(allGood);
    expect(await order(children, startMs)).toEqual(all);
    expect(refreshCount(server)).toBe(1); // The code.
    for (let expiry = 1; expiry <= 3; expiry++) {
      expect(await order(children, startMs + expiry * hourMs)).toEqual(all);
      expect(refreshCount(server)).toBe(1 + expiry);
    }
    expect(server.revokedGrantCount).toBe(0);
    expect((await credential.stored()).version).toBe(4);
  });

  test("renew a token that the provider refuses before its time once", async () => {
    await using credential = await open();
    const { server } = credential;
    await credential.authorize(startMs);
    const children = await credential.forkMany(3);
    expect(await order(children, startMs)).toEqual(Array(3).fill(allGood));
    const { accessToken = "" } = (await credential.stored()).tokens;
    server.refuse(accessToken);
    expect(await order(children, startMs)).toEqual(Array(3).fill(allGood));
    expect(refreshCount(server)).toBe(2);
    expect(server.revokedGrantCount).toBe(0);
  });

  test("ask once more when one was killed between the answer and the save, and then for a new authorisation", async () => {
    await using credential = await open();
    const { server } = credential;
    await credential.authorize(startMs);
    const laterMs = startMs + hourMs;
    const doomed = await credential.forkOne(true);
    const children = await credential.forkMany(2);
    expect(await order([doomed], laterMs)).toEqual([{ minted: true }]);
    const waiting = order(children, laterMs);
    await kill(doomed);
    expect(await waiting).toEqual([allRefused, allRefused]);
    const [fresh] = await credential.forkMany(1);
    for (let again = 0; again < 3; again++) {
      expect(await order([...children, ...(fresh ? [fresh] : [])], laterMs + again)).toEqual(
        Array(3).fill(allRefused),
      );
    }
    // The code, the lost refresh, and one that the server refused.
    expect(refreshCount(server)).toBe(3);
    expect((await credential.stored()).tokens.refusedAtMs).toBe(laterMs);

    await credential.authorize(laterMs);
    expect(await order(children, laterMs)).toEqual([allGood, allGood]);
  });

  test("lose no token when one is killed at any moment, but between the answer and the save", async () => {
    await using credential = await open();
    const { server } = credential;
    await credential.authorize(startMs);
    const [survivor] = await credential.forkMany(1);
    if (!survivor) throw new Error("unreachable");
    let nowMs = startMs;
    let lostCount = 0;
    for (let round = 0; round < rounds; round++) {
      nowMs += hourMs;
      const [before, minted, asked] = [
        (await credential.stored()).version,
        server.mintedCount,
        refreshCount(server),
      ];
      const doomed = await credential.forkOne();
      const together = order([doomed, survivor], nowMs);
      // A moment of the refresh, which takes some 40 ms: nothing is waited for.
      const timer = setTimeout(() => void kill(doomed), Math.random() * 60);
      const [, counts] = await together;
      clearTimeout(timer);
      await kill(doomed);
      const { version, tokens } = await credential.stored();
      const isRefused = tokens.refusedAtMs !== undefined;
      const savedCount = version - before - (isRefused ? 1 : 0);
      expect(counts).toEqual(isRefused ? allRefused : allGood);
      expect(server.mintedCount - minted - savedCount).toBe(isRefused ? 1 : 0);
      expect(refreshCount(server) - asked).toBeLessThanOrEqual(2);
      if (!isRefused) continue;
      lostCount++;
      await credential.authorize(nowMs);
    }
    expect(server.revokedGrantCount).toBe(lostCount);
  });
});

/** Tokens of one account, renewed by several servers on one database. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openKeyring } from "../control/vault/keyring.ts";
import { createInstantClock } from "../simulators/loopback.ts";
import { type PostgresServer, startPostgres } from "../simulators/postgres-server.ts";
import { hash } from "../simulators/simulator/seeded.ts";
import { startSocial } from "../simulators/social/social.ts";
import { startTaskapp } from "../simulators/taskapp/taskapp.ts";
import { startTestControl, type TestControl } from "./control.ts";
import type { ProcessCommand, ProcessSettings } from "./credential-process.ts";

const startMs = Date.UTC(2026, 5, 1);
const hourMs = 3_600_000;
const callerCount = 50;
const plenty = { requests: 1_000_000, windowMs: 60_000 };

let postgres: PostgresServer;
let folder: string;
beforeAll(async () => {
  postgres = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), "svc-refresh-"));
});
afterAll(async () => {
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

const check = (api: TestControl, token: string, sourceId: string) =>
  api.call("POST", `/sources/${sourceId}/check`, { token });
const outcomeOf = ({ status, body }: Awaited<ReturnType<typeof check>>) =>
  `${status} ${body.data?.status} ${body.data?.error}`;
const credentialOf = async (api: TestControl, id: string) =>
  (await api.call("GET", `/credentials/${id}`)).body.data;

/** The account of a user, connected in the browser, and a source that uses it. */
async function connect(
  api: TestControl,
  way: { connector_id: string; redirect_uri: string; credential_id?: string },
  consent: (url: string) => string,
) {
  const path = "/credentials/source/oauth";
  const started = await api.call("POST", `${path}/start`, { body: way });
  const callback = new URL(consent(started.body.data.authorization_url)).searchParams;
  const connected = await api.call("POST", `${path}/callback`, {
    body: Object.fromEntries(callback),
  });
  return connected.body.data as { credential_id: string; credential_handle: string };
}
const createSource = async (
  api: TestControl,
  connector_id: string,
  credential_handle: string,
  configuration: object,
) =>
  (
    await api.call("POST", "/sources", {
      body: { name: "x", connector_id, credential_handle, configuration },
    })
  ).body.data.source_id as string;

describe("two servers on one database", () => {
  async function open() {
    const clock = createInstantClock(startMs);
    const social = await startSocial({
      seed: 2,
      clockNow: clock.now,
      tokenLimit: plenty,
      postsPerChannel: 1,
    });
    const { clientId, clientSecret, redirectUri } = social;
    const options = {
      database: { url: (await postgres.createDatabase()).url },
      keyring: await openKeyring(join(folder, "two.json"), { create: true }),
      seams: social.seams,
      clock,
      sandbox: "inline" as const,
      // So many checks at once wait for the provider's limit; on this clock that takes no time.
      http: { maxRateLimitWaitMs: 600_000 },
      settings: {
        oauthApps: { conn_social: { clientId, clientSecret, redirectUris: [redirectUri] } },
      },
    };
    const one = await startTestControl(options);
    const other = await startTestControl(options);
    const way = { connector_id: "conn_social", redirect_uri: redirectUri };
    const { credential_id, credential_handle } = await connect(one, way, social.consent);
    const sourceId = await createSource(one, "conn_social", credential_handle, {
      portal_id: social.portalId,
      brand_ids: [social.truth.brands()[0]?.brand_id],
    });
    const token = one.first.tokens.admin;
    return {
      ...{ clock, social, one, credential_id },
      reconnect: () => connect(one, { ...way, credential_id }, social.consent),
      checkAll: () =>
        Promise.all(
          Array.from({ length: callerCount }, (_, at) =>
            check(at % 2 ? one : other, token, sourceId),
          ),
        ),
      async [Symbol.asyncDispose]() {
        for (const api of [one, other]) await api[Symbol.asyncDispose]();
        await social.close();
      },
    };
  }

  test("renew a token that has ended once, however many checks need it at once", async () => {
    await using opened = await open();
    const { clock, social, checkAll } = opened;
    for (let hour = 1; hour <= 3; hour += 1) {
      clock.advance(hourMs);
      const before = social.tokenRequests.length;
      const answers = await checkAll();
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.data?.status}`))).toEqual(
        new Set(["200 succeeded"]),
      );
      expect(social.tokenRequests.length - before).toBe(1);
    }
  });

  test("ask once more when the user has taken the consent back, and then not before it is given anew", async () => {
    await using opened = await open();
    const { clock, social, one, credential_id, checkAll, reconnect } = opened;
    clock.advance(hourMs);
    social.tokens.revoke();
    const before = social.tokenRequests.length;
    const refused = await checkAll();
    expect(refused.filter(({ body }) => body.data?.status === "succeeded")).toEqual([]);
    expect(social.tokenRequests.length - before).toBe(1);
    expect(await credentialOf(one, credential_id)).toMatchObject({
      status: "needs_reauth",
      last_error: { reason: "reauthorization_needed" },
    });
    const again = await checkAll();
    expect(new Set(again.map(outcomeOf))).toEqual(new Set(["200 failed REAUTHORIZATION_NEEDED"]));
    expect(social.tokenRequests.length - before).toBe(1);
    await reconnect();
    expect((await checkAll()).every(({ body }) => body.data.status === "succeeded")).toBe(true);
  });
});

describe("a server that is killed", () => {
  const rounds = 9;

  test("while it renews loses no token, or leaves a credential that is to be connected again, once", async () => {
    const clock = createInstantClock(startMs);
    await using taskapp = await startTaskapp({
      tasks: 3,
      clockNow: clock.now,
      tokenSeconds: 3_600,
    });
    const { clientId, clientSecret, redirectUri } = taskapp.client;
    const oauthApps = { conn_taskapp: { clientId, clientSecret, redirectUris: [redirectUri] } };
    const keyFile = join(folder, "killed.json");
    const databaseUrl = (await postgres.createDatabase()).url;
    await using api = await startTestControl({
      database: { url: databaseUrl },
      keyring: await openKeyring(keyFile, { create: true }),
      seams: taskapp.seams,
      clock,
      sandbox: "inline",
      settings: { oauthApps },
    });
    const way = { connector_id: "conn_taskapp", redirect_uri: redirectUri };
    const { credential_id, credential_handle } = await connect(api, way, taskapp.consent);
    const sourceId = await createSource(api, "conn_taskapp", credential_handle, {});
    const accessToken = api.first.tokens.admin;
    const { port, seams } = taskapp;
    const settings: ProcessSettings = {
      databaseUrl,
      keyFile,
      port,
      ca: String(seams.ca),
      oauthApps,
      accessToken,
    };
    const outcomes = { kept: 0, lost: 0 };
    for (let round = 0; round < rounds; round += 1) {
      clock.advance(hourMs);
      await using doomed = await forkServer(settings);
      const before = taskapp.tokens.refreshCount;
      doomed.child.send({ nowMs: clock.now(), sourceId } satisfies ProcessCommand);
      await momentAfterRequest(taskapp, round);
      await kill(doomed.child);

      await check(api, accessToken, sourceId);
      const { status } = await credentialOf(api, credential_id);
      const answers = [
        await check(api, accessToken, sourceId),
        await check(api, accessToken, sourceId),
      ];
      if (status === "active") {
        outcomes.kept += 1;
        expect(answers.map(({ body }) => body.data?.status)).toEqual(["succeeded", "succeeded"]);
        expect(taskapp.tokens.refreshCount - before).toBeLessThanOrEqual(2);
      } else {
        outcomes.lost += 1;
        expect(status).toBe("needs_reauth");
        expect(answers.map(outcomeOf)).toEqual([
          "200 failed REAUTHORIZATION_NEEDED",
          "200 failed REAUTHORIZATION_NEEDED",
        ]);
        // The one that was lost, and the one that was refused.
        expect(taskapp.tokens.refreshCount - before).toBe(2);
        await connect(api, { ...way, credential_id }, taskapp.consent);
      }
    }
    expect(outcomes.kept + outcomes.lost).toBe(rounds);
    expect(taskapp.tokens.endedFamilyCount).toBe(outcomes.lost);
  });

  /**
   * Some time around the refresh that the check begins with: from before the request until after
   * the save.
   */
  async function momentAfterRequest(
    taskapp: Awaited<ReturnType<typeof startTaskapp>>,
    round: number,
  ): Promise<void> {
    const asked = new Promise<void>((resolve) => taskapp.observe(() => resolve()));
    if (round % 3 > 0) await asked;
    const delayMs = round % 3 === 1 ? 0 : hash(7, "kill", round) % 40;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
});

async function forkServer(settings: ProcessSettings) {
  const program = new URL("credential-process.ts", import.meta.url);
  const child = fork(program, [JSON.stringify(settings)], {
    execArgv: ["--conditions=svc-source"],
  });
  await once(child, "message");
  return { child, [Symbol.asyncDispose]: () => kill(child) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

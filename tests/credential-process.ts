/**
 * A server of the control layer in a process of its own, which checks a source when it is told to,
 * and may be killed over it. Forked by credential-refresh.long.test.ts.
 */
import { connect } from "node:net";
import { createControl } from "../control/create-control.ts";
import { silentLog } from "../control/services/log.ts";
import type { OAuthApp } from "../control/services/settings.ts";
import { openKeyring } from "../control/vault/keyring.ts";
import { createInstantClock } from "../simulators/loopback.ts";
import { plentyOfRequests } from "./control.ts";

export interface ProcessSettings {
  readonly databaseUrl: string;
  readonly keyFile: string;
  /** Of the provider. */
  readonly port: number;
  readonly ca: string;
  readonly oauthApps: Readonly<Record<string, OAuthApp>>;
  readonly accessToken: string;
}

/** To check a source at a moment. */
export interface ProcessCommand {
  readonly nowMs: number;
  readonly sourceId: string;
}

async function run(settings: ProcessSettings): Promise<void> {
  const clock = createInstantClock(0);
  const { databaseUrl, keyFile, port, ca, oauthApps, accessToken } = settings;
  const control = await createControl({
    database: { url: databaseUrl, maxConnections: 3 },
    keyring: await openKeyring(keyFile, { create: false }),
    settings: { oauthApps, limits: plentyOfRequests },
    seams: {
      ca,
      resolve: async () => [{ address: "93.184.215.14", family: 4 }],
      dial: () => connect(port, "127.0.0.1"),
    },
    clock,
    sandbox: "inline",
    log: silentLog,
  });
  const operation = control.operations.find(({ id }) => id === "source.check");
  if (!operation) throw new Error("unreachable");
  process.on("message", async ({ nowMs, sourceId }: ProcessCommand) => {
    clock.advance(nowMs - clock.now());
    const facts = {
      authorization: `Bearer ${accessToken}`,
      client: undefined,
      ip: null,
      userAgent: null,
    };
    const { status, body } = await control.execute(
      operation,
      {
        path: `/control/v1/sources/${sourceId}/check`,
        params: { source_id: sourceId },
        query: {},
        headers: {},
        signal: new AbortController().signal,
      },
      await control.authenticate(facts),
    );
    process.send?.({ status, body });
  });
  process.on("disconnect", () => process.exit());
  process.send?.("ready");
}

const [, file, settings] = process.argv;
if (file === import.meta.filename && settings !== undefined)
  await run(JSON.parse(settings) as ProcessSettings);

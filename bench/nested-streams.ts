import {
  type ConnectorReference,
  createHost,
  createScaledClock,
  type JsonObject,
} from "svc-connectors/host";
import type { SimulatorServer } from "../simulators/simulator/server.ts";
import { startSocial } from "../simulators/social/social.ts";
import { startTaskapp } from "../simulators/taskapp/taskapp.ts";
import type { Result } from "./run.ts";

const perMinute = 100;
/** A quarter of an hour of the provider passes in ten seconds. */
const factor = 90;
const rateLimit = { requests: perMinute, windowMs: 60_000 };

/**
 * Streams below the rows of another one (comments per task, metrics per post), a request for each,
 * under the provider's limit: the time that a read takes against the least that the limit allows.
 */
export async function* benchNestedStreams(): AsyncGenerator<Result> {
  const clock = createScaledClock(factor, Date.parse("2026-06-01T00:00:00Z"));
  const clockNow = () => clock.now();
  {
    await using app = await startTaskapp({ tasks: 1_400, pageSize: 100, rateLimit, clockNow });
    yield await measure(
      "comments of 1,400 tasks",
      "taskapp",
      "comments",
      app,
      { access_token: app.token },
      clock,
    );
  }
  {
    await using social = await startSocial({ brands: 4, postsPerChannel: 60, rateLimit, clockNow });
    const {
      region,
      portalId: portal_id,
      clientId: client_id,
      clientSecret: client_secret,
    } = social;
    const config = {
      region,
      portal_id,
      client_id,
      client_secret,
      refresh_token: social.refreshToken,
    };
    yield await measure("metrics of posts", "social", "post_metrics", social, config, clock);
  }
}

async function measure(
  what: string,
  name: string,
  streamName: string,
  { seams, requests }: Pick<SimulatorServer, "seams" | "requests">,
  config: JsonObject,
  clock: ReturnType<typeof createScaledClock>,
): Promise<Result> {
  const connector: ConnectorReference = {
    name,
    url: new URL(`../connectors/sources/${name}/index.ts`, import.meta.url).href,
  };
  await using host = createHost({ clock, seams });
  const streams = await host.discover(connector, config);
  const catalog = {
    streams: streams
      .filter((stream) => stream.name === streamName)
      .map((stream) => ({ stream, sync_mode: "full_refresh" as const })),
  };
  const nothing = async () => {};
  const before = requests.length;
  const summary = await host.read(
    connector,
    { config, catalog },
    {
      lineFormat: "rows",
      open: nothing,
      write: nothing,
      checkpoint: nothing,
      status: nothing,
      close: nothing,
    },
  );
  if (summary.status !== "succeeded")
    throw new Error(`the read of ${streamName} ${summary.status}`);
  const sent = requests.slice(before);
  const firstMs = sent[0]?.atMs ?? 0;
  const refused = sent.filter(({ status }) => status === 429).length;
  const takenMs = (sent.at(-1)?.atMs ?? firstMs) - firstMs;
  // The provider counts in windows of a minute from the first request: a full one may go out at the
  // start of each.
  const leastMs = Math.floor((sent.length - refused - 1) / perMinute) * 60_000;
  return {
    name: `${what} under a limit of ${perMinute} a minute, against the least time (clock × ${factor})`,
    ours: `${(takenMs / 60_000).toFixed(1)} min, ${sent.length} requests, ${refused} refused`,
    baseline: `${(leastMs / 60_000).toFixed(1)} min`,
    ratio: takenMs / leastMs,
    aim: "≤ 1.1",
  };
}

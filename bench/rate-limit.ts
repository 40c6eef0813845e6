import { createHost, createScaledClock } from "svc-connectors/host";
import { startMailer } from "../simulators/mailer/mailer.ts";
import type { Result } from "./run.ts";

const perMinute = 600;
/** Ten minutes of the provider pass in eight seconds. */
const factor = 75;
const minutes = 10;

/**
 * A provider that allows 600 requests in each fixed minute: how many of the allowed ones are sent,
 * and how many are refused.
 */
export async function benchRateLimit(): Promise<Result> {
  const clock = createScaledClock(factor);
  await using mailer = await startMailer({
    seed: 5,
    lists: 1,
    subscribersPerList: perMinute * (minutes + 5),
    maxPerPage: 1,
    rateLimit: { requests: perMinute, windowMs: 60_000 },
    clockNow: () => clock.now(),
  });
  await using host = createHost({
    clock,
    settings: { approvedHosts: [mailer.hostname] },
    seams: mailer.seams,
  });
  const connector = {
    name: "mailer",
    url: new URL("../connectors/sources/mailer/index.ts", import.meta.url).href,
  };
  const config = { base_url: mailer.baseUrl, api_token: mailer.token, page_size: 1 };
  const streams = await host.discover(connector, config);
  const catalog = {
    streams: streams
      .filter(({ name }) => name === "subscribers")
      .map((stream) => ({ stream, sync_mode: "full_refresh" as const })),
  };
  const nothing = async () => {};
  const abort = new AbortController();
  const reading = host.read(
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
    { signal: abort.signal },
  );
  await clock.sleep((minutes + 2) * 60_000);
  abort.abort();
  await reading;
  // Whole windows of the provider, which begin with the first request; the last one is left out.
  const firstMs = mailer.requests[0]?.atMs ?? 0;
  const byMinute = new Map<number, number>();
  for (const { atMs } of mailer.requests) {
    const minute = Math.floor((atMs - firstMs) / 60_000);
    byMinute.set(minute, (byMinute.get(minute) ?? 0) + 1);
  }
  const whole = [...byMinute]
    .sort(([a], [b]) => a - b)
    .slice(0, -1)
    .map(([, count]) => count);
  const sent = whole.reduce((sum, count) => sum + count, 0);
  const refused = mailer.requests.filter(({ status }) => status === 429).length;
  return {
    name: `requests sent under a limit of ${perMinute} a minute, against allowed (clock × ${factor})`,
    ours: `${sent} in ${whole.length} min, ${refused} refused`,
    baseline: `${perMinute * whole.length}`,
    ratio: sent / (perMinute * whole.length),
    aim: "≥ 0.95, 0 refused",
  };
}

import { ConnectorError } from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import { bindToItsHost, openRun, type RunTarget } from "../sources/runs.ts";
import { readSamples, type Sample } from "./sample.ts";
import { type DataSourceStatus, statusOf } from "./status.ts";

/**
 * The streams of which a page is read: those that need no other, so that a large account costs no
 * more than a small one. The longest come last.
 */
const mainStreams = ["email_lists", "templates", "automations", "campaigns", "sends"];

/** Most rows of a sample. */
export const maxSampleRows = 25;

/**
 * All samples together may take so long; a stream that is not there by then is told as unavailable.
 */
const sampleTimeMs = 30_000;

export interface Inspection {
  readonly status: DataSourceStatus;
  readonly samples: readonly Sample[];
}

/**
 * Looks at a mailer account: does it let us in, and what does a page of each main stream hold?
 * Whatever the account or its server does is a status. Nothing is written but that the
 * credential was used, and that it is bound to the server that has taken it.
 */
export async function inspect(
  ctx: OperationContext,
  target: RunTarget,
  purpose: string,
): Promise<Inspection> {
  const { host, connectors } = ctx.services;
  const run = await openRun(ctx, target, purpose);
  const { config, options } = run;
  const catalog = await connectors.catalog(target.definition);
  const streams = mainStreams.flatMap((name) => catalog.filter((stream) => stream.name === name));
  const check = await host.check(target.definition.reference, config, options);
  if (check.status === "failed") {
    const samples = streams.map((stream): Sample => ({ stream, rows: [], error: check.error }));
    return { status: statusOf(check.error), samples };
  }
  await bindToItsHost(ctx, target, run);
  const deadline = startDeadline(ctx);
  const bounded = { ...options, signal: AbortSignal.any([ctx.signal, deadline.signal]) };
  const samples = await readSamples(
    host,
    target.definition,
    config,
    streams,
    maxSampleRows,
    bounded,
  ).finally(deadline.end);
  if (ctx.signal.aborted) throw new ConnectorError("CANCELLED");
  const failures = samples.flatMap(({ error }) => (error ? [error] : []));
  const [first] = failures;
  if (!first) return { status: "ready", samples };
  return { status: failures.length === samples.length ? statusOf(first) : "degraded", samples };
}

/** Aborts `signal` when the time for the samples is over, unless `end` comes first. */
function startDeadline({ services: { clock } }: OperationContext) {
  const over = new AbortController();
  const ended = new AbortController();
  clock.sleep(sampleTimeMs, ended.signal).then(
    () => over.abort(),
    () => undefined,
  );
  return { signal: over.signal, end: () => ended.abort() };
}

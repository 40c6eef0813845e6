import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, ask, events } from "../api/client.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";

export interface WatchedJob {
  readonly job: schemas["Job"] | undefined;
  readonly attempts: readonly schemas["JobAttempt"][];
  readonly streams: readonly schemas["StreamStats"][];
  readonly log: readonly schemas["JobLogEntry"][];
  /** Lines that are not shown any more. */
  readonly dropped: number;
  readonly problem: Problem | undefined;
}

const nothing: WatchedJob = {
  job: undefined,
  attempts: [],
  streams: [],
  log: [],
  dropped: 0,
  problem: undefined,
};

/** Most lines of the log; older ones go. */
const maxLines = 2_000;
const pauseMs = 3_000;

const isFinal = (status: string | undefined) =>
  status === "succeeded" || status === "failed" || status === "cancelled";

/** A job as it goes on: by its events, and by asking again where they do not come through. */
export function useJob(id: string): WatchedJob & {
  /** Asks anew at once. */
  retry(): void;
} {
  const [watched, setWatched] = useState(nothing);
  const [tries, setTries] = useState(0);
  const queries = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try is another look
  useEffect(() => {
    const stop = new AbortController();
    setWatched(nothing);
    void follow(id, stop.signal, (change) => setWatched(change)).then(() => {
      if (!stop.signal.aborted) void queries.invalidateQueries({ queryKey: ["in"] });
    });
    return () => stop.abort();
  }, [id, queries, tries]);
  return { ...watched, retry: () => setTries(tries + 1) };
}

async function follow(
  id: string,
  signal: AbortSignal,
  change: (to: (before: WatchedJob) => WatchedJob) => void,
): Promise<void> {
  let lastId: string | undefined;
  while (!signal.aborted) {
    try {
      for await (const event of events(`/jobs/${encodeURIComponent(id)}/events`, lastId, signal)) {
        lastId = event.id ?? lastId;
        const data = JSON.parse(event.data) as schemas["JobEvent"];
        change((before) => withEvent(before, data));
        if (data.type === "end") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      const problem = toProblem(error);
      if (problem.status === 404 || problem.status === 403)
        return change((before) => ({ ...before, problem }));
    }
    // The way down: the state as it is now, without the log.
    try {
      const path = { job_id: id };
      const job = await ask(api.GET("/jobs/{job_id}", { params: { path }, signal }));
      const { attempts = [], stream_stats: streams = [] } = job;
      change((before) => ({ ...before, job, attempts, streams, problem: undefined }));
      if (isFinal(job.status)) return;
    } catch (error) {
      if (signal.aborted) return;
      change((before) => ({ ...before, problem: toProblem(error) }));
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function withEvent(before: WatchedJob, event: schemas["JobEvent"]): WatchedJob {
  const { job = before.job, attempts = [], streams = [], entries = [] } = event;
  const known = before.log.at(-1)?.index ?? -1;
  const log = [...before.log, ...entries.filter(({ index }) => index > known)];
  const excess = Math.max(0, log.length - maxLines);
  return {
    job,
    attempts: merged(before.attempts, attempts, ({ attempt }) => String(attempt)),
    streams: merged(before.streams, streams, ({ namespace, name }) =>
      JSON.stringify([namespace, name]),
    ),
    log: excess === 0 ? log : log.slice(excess),
    dropped: before.dropped + excess,
    problem: undefined,
  };
}

function merged<T>(before: readonly T[], changed: readonly T[], keyOf: (one: T) => string): T[] {
  const all = new Map(before.map((one) => [keyOf(one), one]));
  for (const one of changed) all.set(keyOf(one), one);
  return [...all.values()];
}

/** The events of a job, for who watches it: each look tells what has changed since the last. */
import { type Static, Type } from "typebox";
import type { JobRow } from "../contract/job.ts";
import type { LookResult, StreamItem } from "../contract/operation.ts";
import { OneOf, StrictObject } from "../contract/schemas.ts";
import type { Db } from "../store/database.ts";
import {
  Attempt,
  Job,
  LogEntry,
  StreamStats,
  toAttempt,
  toJob,
  toLogEntry,
  toStreamStats,
} from "./schemas.ts";
import { isFinal } from "./transitions.ts";

/** Names of the events. */
const kinds = ["job", "attempts", "streams", "log", "end"] as const;

export const JobEvent = StrictObject(
  {
    type: OneOf(kinds, {
      description:
        "job: it, as it is now · attempts, streams: those that have changed · log: what was written · end: the job is over, and so is the stream.",
    }),
    job: Type.Optional(Job),
    attempts: Type.Optional(Type.Array(Attempt)),
    streams: Type.Optional(Type.Array(StreamStats)),
    entries: Type.Optional(Type.Array(LogEntry)),
  },
  { title: "JobEvent" },
);
type JobEvent = Static<typeof JobEvent>;

/** Entries and streams of one event. */
const atOnce = 500;

/**
 * Looks at a job. The first look tells all of it, and the log after an entry; the others what has
 * changed. Each event has the index of the last entry that was told for an id: who goes on after it
 * gets the state anew, and each entry of the log once.
 * @param find the job's row. @throws not_found when the job was deleted because of its age
 */
export function watchJob(
  db: Db,
  find: () => Promise<JobRow>,
  afterIndex: number,
): () => Promise<LookResult<JobEvent>> {
  let index = afterIndex;
  let jobText: string | undefined;
  const sentAttempts = new Map<string, string>();
  const sentStreams = new Map<string, string>();

  const toItem = (data: JobEvent): StreamItem<JobEvent> => ({
    event: data.type,
    id: String(index),
    data,
  });

  return async () => {
    const row = await find();
    const job = toJob(row);
    const items: StreamItem<JobEvent>[] = [];
    const entries = (await logAfter(db, row.id, index)).map(toLogEntry);
    const isAllSent = entries.length < atOnce;
    if (entries.length > 0) {
      index = entries.at(-1)?.index ?? index;
      items.push(toItem({ type: "log", entries }));
    }
    // Whatever changes of a job's attempts and streams is written together with the job.
    const text = JSON.stringify(job);
    if (text !== jobText) {
      jobText = text;
      items.push(toItem({ type: "job", job }));
      const attempts = changed(
        (await attemptRows(db, row.id)).map(toAttempt),
        ({ attempt }) => String(attempt),
        sentAttempts,
      );
      if (attempts.length > 0) items.push(toItem({ type: "attempts", attempts }));
      const streams = changed(
        (await streamRows(db, row.id)).map(toStreamStats),
        ({ namespace, name }) => JSON.stringify([namespace, name]),
        sentStreams,
      );
      for (let start = 0; start < streams.length; start += atOnce)
        items.push(toItem({ type: "streams", streams: streams.slice(start, start + atOnce) }));
    }
    // Log lines that were written before its end are there by then.
    const isOver = isFinal(row.status) && isAllSent;
    if (isOver) items.push(toItem({ type: "end", job }));
    return { items, isOver, hasMore: !isAllSent };
  };
}

const attemptRows = (db: Db, jobId: string) =>
  db
    .selectFrom("job_attempts")
    .selectAll()
    .where("job_id", "=", jobId)
    .orderBy("attempt")
    .execute();

const streamRows = (db: Db, jobId: string) =>
  db
    .selectFrom("job_streams")
    .selectAll()
    .where("job_id", "=", jobId)
    .orderBy("namespace")
    .orderBy("name")
    .execute();

const logAfter = (db: Db, jobId: string, index: number) =>
  db
    .selectFrom("job_logs")
    .selectAll()
    .where("job_id", "=", jobId)
    .where("index", ">", index)
    .orderBy("index")
    .limit(atOnce)
    .execute();

/** The ones that were not told yet as they are now. */
function changed<T>(all: readonly T[], keyOf: (one: T) => string, sent: Map<string, string>): T[] {
  return all.filter((one) => {
    const key = keyOf(one);
    const text = JSON.stringify(one);
    if (sent.get(key) === text) return false;
    sent.set(key, text);
    return true;
  });
}

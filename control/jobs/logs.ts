import { type SecretRegistry, sanitizeText } from "svc-connectors/host";
import type { JobAttempt, JobLogFields } from "../contract/job.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

/** Entries of a job, all attempts together. */
export const maxLogEntries = 10_000;
const maxFields = 20;
/** Entries in one statement. */
const entriesAtOnce = 500;
/** Entries that wait for the database; beyond it the job says more than it can be told. */
const maxWaiting = 5_000;

export interface JobLog {
  readonly log: JobAttempt["log"];
  /**
   * Writes what was logged.
   * @param to a transaction, for what is to be seen together with what else is written there
   * @throws as the database fails
   */
  flush(to?: Db): Promise<void>;
}

interface Entry {
  readonly at: Date;
  readonly level: Tables["job_logs"]["level"];
  readonly message: string;
  readonly fields: JobLogFields;
}

/**
 * The log of one attempt. Every text is cut to one line of 500 characters and searched for secrets,
 * stack frames, paths and tokens before it is kept anywhere.
 */
export async function openJobLog(
  { database: { db }, clock }: Pick<Services, "database" | "clock">,
  { jobId, attempt }: { readonly jobId: string; readonly attempt: number },
  secrets: SecretRegistry,
): Promise<JobLog> {
  const last = await db
    .selectFrom("job_logs")
    .select((eb) => eb.fn.max("index").as("index"))
    .where("job_id", "=", jobId)
    .executeTakeFirst();
  let index = Number(last?.index ?? 0);
  let keptCount = index;
  let waiting: Entry[] = [];

  const keep = (entry: Entry) => {
    if (keptCount >= maxLogEntries || waiting.length >= maxWaiting) return;
    keptCount += 1;
    const isLast = keptCount === maxLogEntries;
    waiting.push(
      isLast
        ? {
            ...entry,
            level: "warn",
            message: "The log is full: no more of it is kept.",
            fields: {},
          }
        : entry,
    );
  };

  return {
    log(level, message, fields = {}) {
      keep({
        at: new Date(clock.now()),
        level,
        message: sanitizeText(message, secrets),
        fields: safeFields(fields, secrets),
      });
    },
    async flush(to = db) {
      const writing = waiting;
      waiting = [];
      for (let start = 0; start < writing.length; start += entriesAtOnce) {
        const part = writing.slice(start, start + entriesAtOnce);
        try {
          await to
            .insertInto("job_logs")
            .values(
              part.map(({ at, level, message, fields }, offset) => ({
                job_id: jobId,
                index: index + offset + 1,
                attempt,
                at,
                level,
                message,
                fields: JSON.stringify(fields),
              })),
            )
            // An attempt that was taken over writes beside its successor: the successor's entries
            // stay.
            .onConflict((conflict) => conflict.doNothing())
            .execute();
          index += part.length;
        } catch (error) {
          waiting = [...writing.slice(start), ...waiting].slice(0, maxWaiting);
          throw error;
        }
      }
    },
  };
}

function safeFields(fields: JobLogFields, secrets: SecretRegistry): JobLogFields {
  const kept = Object.entries(fields).slice(0, maxFields);
  return Object.fromEntries(
    kept.map(([name, value]) => [
      sanitizeText(name, secrets).slice(0, 100),
      typeof value === "string" ? sanitizeText(value, secrets) : value,
    ]),
  );
}

/**
 * The contract of the code that runs a job: a sync, or a run of an activation. The queue
 * (control/jobs/) claims it, keeps its lease, and decides about retries.
 */
import type { Selectable } from "kysely";
import type { SecretRegistry } from "svc-connectors/host";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { Failure, Tables, Trigger } from "../store/tables.ts";

export type JobRow = Selectable<Tables["jobs"]>;

/** A job that is to be made. */
export interface NewJob {
  readonly workspaceId: string;
  readonly kind: JobRow["kind"];
  /** The pipeline, or the activation: it has at most one job that is under way. */
  readonly subjectId: string;
  readonly pipelineId?: string | undefined;
  readonly connectionId?: string | undefined;
  readonly jobType: JobRow["job_type"];
  readonly trigger: Trigger;
  readonly options: { readonly [name: string]: unknown };
  /**
   * Shared things that only so many jobs may use at once: "credential:cred_…", "provider:conn_…",
   * "destination:dst_…".
   */
  readonly limits: readonly string[];
}

/** One attempt of a job, as its runner sees it. */
export interface JobAttempt {
  readonly services: Services;
  readonly job: JobRow;
  /** 1, 2, 3 … */
  readonly attempt: number;
  /** Of the connection; rises with every attempt. 0 for jobs without one. */
  readonly fence: number;
  /** Secrets that this attempt has met. Whatever leaves is searched for them. */
  readonly secrets: SecretRegistry;
  /** Aborts when the job is cancelled, its lease is lost, or the process stops. */
  readonly signal: AbortSignal;
  /** Adds to the job's log; sanitised once more on the way. */
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: JobLogFields): void;
  /** The counts of the attempt so far. Written to the database now and then, and at its end. */
  readonly progress: Progress;
}

export type JobLogFields = { readonly [name: string]: string | number | boolean | null };

export interface Progress {
  /** Streams that will be read: they are shown before anything happens to them. */
  expect(streams: readonly StreamName[]): void;
  /**
   * Rows that were read, and rows and bytes that the destination has. Adds to what was told before.
   */
  add(stream: StreamName, counts: Partial<StreamCounts>): void;
  status(
    stream: StreamName,
    status: "running" | "complete" | "incomplete",
    failure?: Failure,
  ): void;
  /** How much of its log of changes the source's server keeps for the pipeline; null: none. */
  lag(bytes: number | null): void;
}

export interface StreamName {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface StreamCounts {
  readonly emitted: number;
  readonly committed: number;
  /** Rows that were marked or removed, because the source has them no more. */
  readonly deleted: number;
  readonly bytes: number;
}

/** How an attempt ended. A failure that is retryable leads to another one. */
export type AttemptResult =
  | {
      readonly status: "succeeded";
      /**
       * Writes what is true only when the job ends as succeeded, in the transaction in which it
       * does: a cancellation may still come before it.
       */
      readonly commit?: ((tx: Db) => Promise<void>) | undefined;
    }
  | { readonly status: "cancelled" }
  | {
      readonly status: "failed";
      readonly failure: Failure;
      readonly retryAfterMs?: number | undefined;
    };

/** Throws nothing but what is a fault of svc itself. */
export type JobRunner = (attempt: JobAttempt) => Promise<AttemptResult>;

/**
 * Calls that meet each other and a sync that is under way: what each of them does, what the API
 * promises of it, and a source that stops at named points of a sync so that calls can be made
 * there.
 */

import type { CatalogStream, Host, ReadSummary, StreamDescriptor } from "svc-connectors/host";
import { takingLines } from "../fixtures/taking-lines.ts";
import type { TestAnswer, TestControl } from "./control.ts";
import { tableStream } from "./control-rows.ts";

/** Calls that make a job. */
export const jobCalls = ["sync", "clear", "reset"] as const;
export type JobCall = (typeof jobCalls)[number];

export const callNames = [
  ...jobCalls,
  "cancel",
  "pause",
  "pause and cancel",
  "resume",
  "change the prefix",
  "change the streams",
  "change the cursor",
  "delete the connection",
  "delete the source",
  "disable the connector",
] as const;
export type CallName = (typeof callNames)[number];

/** The points of a sync, in their order. */
export const points = [
  "waiting",
  "claimed",
  "discovering",
  "reading",
  "half read",
  "read",
  "done",
  "ended",
] as const;
export type Point = (typeof points)[number];

export interface Scene {
  readonly sourceId: string;
  readonly pipelineId: string;
  readonly connectionId: string;
  /** Of the latest job. */
  readonly jobId: string;
}

/** Each change of the prefix gives another one. */
let prefixCount = 0;

export function call(api: TestControl, name: CallName, scene: Scene): Promise<TestAnswer> {
  const { pipelineId, connectionId, sourceId, jobId } = scene;
  const pipeline = `/pipelines/${pipelineId}`;
  switch (name) {
    case "sync":
    case "clear":
    case "reset":
      return api.call("POST", `${pipeline}/${name}`);
    case "cancel":
      return api.call("POST", `/jobs/${jobId}/cancel`);
    case "pause":
      return api.call("POST", `${pipeline}/pause`);
    case "pause and cancel":
      return api.call("POST", `${pipeline}/pause`, { body: { cancel_running: true } });
    case "resume":
      return api.call("POST", `${pipeline}/resume`);
    case "change the prefix":
      prefixCount += 1;
      return api.call("PATCH", pipeline, { body: { prefix: `p${prefixCount}_` } });
    case "change the streams":
      return api.call("PATCH", pipeline, { body: { streams: [incremental("id")] } });
    case "change the cursor":
      return api.call("PATCH", pipeline, {
        body: { streams: [incremental("updated_at"), { name: "people" }] },
      });
    case "delete the connection":
      return api.call("DELETE", `/connections/${connectionId}`);
    case "delete the source":
      return api.call("DELETE", `/sources/${sourceId}`);
    case "disable the connector":
      return enable(api, false).then(() => ({ status: 200, headers: {}, body: {}, text: "" }));
  }
}

/** How orders are read. */
export const incremental = (cursor: Cursor) => ({
  name: "orders",
  sync_mode: "incremental",
  destination_sync_mode: "append_dedup",
  cursor_field: [cursor],
});

/** As the operator does it. */
export const enable = async (
  { control, db }: TestControl,
  enabled: boolean,
  connectorId = "conn_mailer_product_edm",
): Promise<void> => {
  const updated_at = new Date(control.services.clock.now());
  await db
    .insertInto("connector_settings")
    .values({ connector_id: connectorId, enabled, updated_at })
    .onConflict((conflict) => conflict.column("connector_id").doUpdateSet({ enabled }))
    .execute();
};

interface ModelJob {
  readonly id: string;
  readonly type: JobCall;
  /** Only these; undefined: all. */
  readonly only: readonly string[] | undefined;
  end: "open" | "succeeded" | "failed" | "cancelled";
  isCancelRequested: boolean;
  /** Its connector was disabled when it began. */
  isRefused: boolean;
  isBegun: boolean;
  /** The tables and streams that its attempt has agreed on. */
  agreed: Agreed | undefined;
}

interface Agreed {
  readonly prefix: string;
  readonly streams: readonly string[];
}

/** The API's promises: how each call is answered, and how each job ends. */
export class Model {
  pipeline: "active" | "paused" | "deleted" = "active";
  hasSource = true;
  isEnabled = true;
  agreed: Agreed = { prefix: "", streams: ["orders", "people"] };
  readonly jobs: ModelJob[] = [];

  get #open(): ModelJob | undefined {
    return this.jobs.find(({ end }) => end === "open");
  }

  /** The latest job. */
  get job(): ModelJob {
    const job = this.jobs.at(-1);
    if (!job) throw new Error("there is no job");
    return job;
  }

  /** The status of the answer, and the reason of a refusal. */
  promises(name: CallName): readonly [status: number, reason: string | undefined] {
    const isGone = this.pipeline === "deleted";
    switch (name) {
      case "sync":
      case "reset":
        if (isGone) return [404, "not_found"];
        if (this.pipeline === "paused") return [409, "pipeline_paused"];
        if (!this.isEnabled) return [409, "connector_disabled"];
        return this.#open ? [409, "sync_already_running"] : [202, undefined];
      case "clear":
        if (isGone) return [404, "not_found"];
        return this.#open ? [409, "sync_already_running"] : [202, undefined];
      case "cancel":
        return ["open", "cancelled"].includes(this.job.end) ? [200, undefined] : [409, "job_ended"];
      case "change the streams":
      case "change the cursor":
        if (!isGone && !this.isEnabled) return [409, "connector_disabled"];
        return isGone ? [404, "not_found"] : [200, undefined];
      case "pause":
      case "pause and cancel":
      case "resume":
      case "change the prefix":
      case "delete the connection":
        return isGone ? [404, "not_found"] : [200, undefined];
      case "delete the source":
        if (!this.hasSource) return [404, "not_found"];
        return isGone ? [200, undefined] : [409, "source_has_connections"];
      case "disable the connector":
        return [200, undefined];
    }
  }

  /** The call was answered as promised, and with success. */
  did(name: CallName, { body }: TestAnswer): void {
    switch (name) {
      case "sync":
      case "clear":
      case "reset":
        this.begin(name, body.data.job.job_id);
        break;
      case "cancel":
        this.#cancel();
        break;
      case "pause":
      case "pause and cancel":
        this.pipeline = "paused";
        if (name === "pause and cancel") this.#cancel();
        break;
      case "resume":
        this.pipeline = "active";
        break;
      case "change the prefix":
        this.agreed = { ...this.agreed, prefix: body.data.prefix };
        break;
      case "change the streams":
        this.agreed = { ...this.agreed, streams: ["orders"] };
        break;
      case "change the cursor":
        this.agreed = { ...this.agreed, streams: ["orders", "people"] };
        break;
      case "delete the connection":
        this.pipeline = "deleted";
        this.#cancel();
        break;
      case "delete the source":
        this.hasSource = false;
        break;
      case "disable the connector":
        this.isEnabled = false;
        break;
    }
  }

  begin(type: JobCall, id: string, only?: readonly string[]): void {
    this.jobs.push({
      id,
      type,
      only,
      end: "open",
      isCancelRequested: false,
      isRefused: false,
      isBegun: false,
      agreed: undefined,
    });
  }

  /** Cancels; a job that waits ends at once. */
  #cancel(): void {
    const job = this.#open;
    if (!job) return;
    job.isCancelRequested = true;
    if (!this.isRunning) job.end = "cancelled";
  }

  /** An attempt is under way. */
  isRunning = false;

  /** An attempt looks for what it needs. */
  opens(): void {
    const { job } = this;
    // A job that clears asks nothing of the source.
    if (!job.isBegun) job.isRefused = job.type !== "clear" && !this.isEnabled;
    job.isBegun = true;
    if (job.type === "clear") this.agrees();
  }

  /** An attempt has looked what is agreed. */
  agrees(): void {
    this.job.agreed = this.agreed;
  }

  /** A worker has died. */
  isLost(): void {
    this.isRunning = false;
    if (this.job.isCancelRequested) this.job.end = "cancelled";
  }

  /** An attempt has come to its end. */
  ends(): void {
    this.isRunning = false;
    const { job } = this;
    if (job.end !== "open") return;
    const lacks = job.only?.some((name) => !job.agreed?.streams.includes(name)) ?? false;
    if (job.isCancelRequested) job.end = "cancelled";
    else job.end = job.isRefused || lacks ? "failed" : "succeeded";
  }
}

export const twoStreams: readonly CatalogStream[] = [tableStream("orders"), tableStream("people")];

/** Ids of the rows that the source has; the last of the orders comes late. */
export const rowIds = (stream: string, isLate: boolean): readonly number[] =>
  stream === "people" ? [1, 2, 3, 4] : [1, 2, 3, 4, 5, 6, ...(isLate ? [7] : [])];

type Cursor = "id" | "updated_at";

/**
 * Where a row stands in the order of a cursor. A position of one of them, at half or at the end,
 * passes over rows in the order of the other.
 */
const positionOf: Readonly<Record<Cursor, (id: number) => number>> = {
  id: (id) => id * 10,
  updated_at: (id) => [75, 15, 14, 13, 12, 11, 76][id - 1] ?? 0,
};

/** A host whose source stops at the points of a sync until `at` lets it go on. */
export function createStoppingHost(
  at: (point: Point) => Promise<void>,
  isLate: () => boolean,
): Host {
  const source: Pick<Host, "discover" | "read"> = {
    async discover() {
      await at("discovering");
      return [...twoStreams];
    },
    async read(_connector, { catalog, state = [] }, sink): Promise<ReadSummary> {
      let isHalf = false;
      const total = { rows: 0, bytes: 0 };
      const streams: ReadSummary["streams"][number][] = [];
      await sink.open(catalog.streams);
      await at("reading");
      for (const { stream, sync_mode, cursor_field } of catalog.streams) {
        const saved = state.find((one) => one.stream.name === stream.name)?.state;
        const after = sync_mode === "incremental" ? Number(saved ?? 0) : 0;
        const position = positionOf[cursor_field?.[0] === "updated_at" ? "updated_at" : "id"];
        const ids = rowIds(stream.name, isLate())
          .filter((id) => position(id) > after)
          .toSorted((a, b) => position(a) - position(b));
        await sink.status(named(stream), "started");
        for (const [index, part] of [ids.slice(0, 2), ids.slice(2)].entries()) {
          const lines = part.map((id) => `${JSON.stringify({ id, note: `n${id}` })}\n`).join("");
          if (part.length > 0)
            await takingLines(sink, catalog.streams).write(
              named(stream),
              Buffer.from(lines),
              part.length,
            );
          if (sync_mode === "incremental" || index === 1)
            await sink.checkpoint(named(stream), position(part.at(-1) ?? 0) || after, part.length);
          total.rows += part.length;
          total.bytes += lines.length;
          if (!isHalf) await at("half read");
          isHalf = true;
        }
        await sink.status(named(stream), "complete");
        streams.push({
          stream: stream.name,
          status: "complete",
          recordCount: ids.length,
          nulledCount: 0,
        });
      }
      await sink.close();
      await at("read");
      return {
        status: "succeeded",
        recordCount: total.rows,
        byteCount: total.bytes,
        requestCount: 1,
        nulledCount: 0,
        redactedCount: 0,
        streams,
      };
    },
  };
  return source as Host;
}

const named = ({ name }: StreamDescriptor): StreamDescriptor => ({ name });

/** A job as it goes, for who watches it. */
import { Type } from "typebox";
import { defineStream } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { StrictObject, workspaceInput } from "../contract/schemas.ts";
import { JobEvent, watchJob } from "../jobs/feed.ts";
import { findJob, jobParams } from "./jobs.ts";

export const streamJobEvents = defineStream({
  id: "job.events",
  operationId: "streamJobEvents",
  area: "Jobs",
  path: "/jobs/{job_id}/events",
  summary: "Watch a job",
  description:
    "Its status, its attempts, the progress of its streams and its log, as they come. It begins with all of them, and ends with the job, by the event `end`: a browser's EventSource is closed then. " +
    "After an interruption the log goes on after Last-Event-ID, and the rest is told as it is then.",
  permission: "read",
  media: "text/event-stream",
  params: jobParams,
  query: StrictObject({
    ...workspaceInput,
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        default: 0,
        description: "Only entries of the log after this one; a Last-Event-ID stands above it.",
      }),
    ),
  }),
  data: JobEvent,
  errors: [],
  async open({ db, workspaceId }, { params, query: { after = 0 } }, lastEventId) {
    const find = () => findJob(db, workspaceId, params.job_id);
    await find();
    return watchJob(db, find, lastEventId === undefined ? after : parseIndex(lastEventId));
  },
});

/** @throws invalid_header */
function parseIndex(lastEventId: string): number {
  if (!/^\d{1,7}$/.test(lastEventId))
    throw new ControlError("invalid_header", {
      header: "Last-Event-ID",
      form: "the id of an event of this stream",
    });
  return Number(lastEventId);
}

export const jobEventOperations = [streamJobEvents];

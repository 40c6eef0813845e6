/** The changes at a source, as people are told of them. */
import type { schemas } from "../api/schema.ts";

/** A change in a sentence; the job's log says it in the same words. */
export function changeWords({ stream, type, column = "" }: schemas["SchemaChange"]): string {
  switch (type) {
    case "stream_added":
      return `The source has a new stream: ${stream}.`;
    case "stream_removed":
      return `The source has the stream ${stream} no more.`;
    case "key_changed":
      return `The primary key of ${stream} is another one.`;
    case "cursor_changed":
      return `The cursor of ${stream} is another one.`;
    case "column_added":
      return `${stream} has a new column: ${column}.`;
    case "column_removed":
      return `${stream} has the column ${column} no more.`;
    case "column_type_changed":
      return `The type of ${column} in ${stream} is another one.`;
    default:
      return `${stream} is another one.`;
  }
}

/** Why svc itself has paused a pipeline. */
export const pauseWords = (reason: string): string =>
  reason === "schema_changed" ? "Its source has changed." : reason;

/**
 * The kinds of things in a workspace file, a file for each area. Comparing, making and exporting
 * follow this table.
 */
import { withConfiguration } from "./connected-kinds.ts";
import { credentials } from "./credential-kind.ts";
import type { Kind } from "./kind.ts";
import { pipelines } from "./pipeline-kind.ts";
import { activations, models, targets } from "./reverse-etl-kinds.ts";
import { webhooks } from "./webhook-kind.ts";

/** In the order in which things are made: what others name comes first. */
export const kinds: readonly Kind[] = [
  credentials,
  withConfiguration("sources", "source", "/sources", "source_id"),
  withConfiguration("destinations", "destination", "/destinations", "destination_id"),
  pipelines,
  models,
  targets,
  activations,
  webhooks,
] as unknown as readonly Kind[];

/**
 * Activation that sends batches of rows to a URL of the customer, signed as Standard Webhooks
 * says. Read on: spec.ts (settings) → answer.ts (what an answer says of each row).
 */
import { activationHttp, defineActivation, publicUrl } from "svc-connectors/destination";
import { failedRows } from "./answer.ts";
import { spec } from "./spec.ts";

/** Statuses by which a receiver refuses a whole batch for what is in it. */
const refusals: readonly number[] = [400, 409, 413, 422];

export default defineActivation({
  id: "conn_webhook",
  version: "1.0.0",
  title: "Webhook",
  spec,
  egress: activationHttp({
    baseUrl: publicUrl("url"),
    signing: { secret: "signing_secret" },
    // The same batch has the same webhook-id: a receiver that keeps the ids takes it once.
    isPostSafe: true,
    maxResponseBytes: 1024 * 1024,
  }),
  maxBatchRows: 100,

  async objects() {
    return [
      {
        name: "rows",
        operations: ["insert", "update", "upsert", "mirror", "append"],
        fields: [],
        isOpen: true,
      },
    ];
  },

  async *write(ctx, { owner, object, operation, identifier }, batches) {
    for await (const { id, rows } of batches) {
      const data = {
        activation_id: owner,
        object,
        operation,
        identifier: identifier ?? null,
        rows,
      };
      const timestamp = new Date(ctx.clock.now()).toISOString();
      const response = await ctx.http.post([], {
        body: { type: "reverse_etl.rows", timestamp, data },
        headers: { "webhook-id": id },
        accept: refusals,
      });
      if (response.status >= 300)
        yield {
          failed: rows.map(({ key }) => ({
            key,
            reason: "rejected" as const,
            word: `http_${response.status}`,
          })),
        };
      else yield { failed: failedRows(response.text(), rows) };
    }
  },
});

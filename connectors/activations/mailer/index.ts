/**
 * Activation for the subscribers of the mailer's lists. Read on: spec.ts (settings) → api.ts
 * (finding) → rows.ts (writing).
 */
import { approvedUrl, bearer, ConnectorError, perMinute } from "svc-connectors";
import { activationHttp, defineActivation, type FailedRow } from "svc-connectors/destination";
import { findLists } from "./api.ts";
import { writeSubscriber } from "./rows.ts";
import { spec } from "./spec.ts";

const field = (name: string, type: string, isIdentifier = false) => ({
  name,
  type,
  isIdentifier,
  isRequired: isIdentifier,
});

export default defineActivation({
  id: "conn_mailer_product_edm",
  version: "1.0.0",
  title: "Mailer subscribers",
  spec,
  egress: activationHttp({
    baseUrl: approvedUrl("base_url", { pathEnd: "/api", approvedHosts: ["*.mailcoach.app"] }),
    auth: bearer("api_token"),
    rateLimit: perMinute(60),
    // One subscriber per address: a POST that is sent again is refused, and then changed instead.
    isPostSafe: true,
  }),
  // Each row is two requests: what a crash makes us do again is a minute.
  maxBatchRows: 30,

  async objects(ctx, name) {
    const lists = await findLists(ctx, name);
    return lists.map((list) => ({
      name: list.name,
      id: list.uuid,
      operations: ["insert", "update", "upsert", "mirror"] as const,
      // Every other field is an attribute of the subscriber.
      isOpen: true,
      fields: [
        field("email", "email", true),
        field("first_name", "text"),
        field("last_name", "text"),
        field("tags", "list"),
      ],
    }));
  },

  async check(ctx) {
    await findLists(ctx);
  },

  async *write(ctx, { object, operation }, batches) {
    const [list, another] = await findLists(ctx, object);
    if (!list)
      throw new ConnectorError("RESOURCE_NOT_FOUND", { reason: "there is no list of that name" });
    if (another)
      throw new ConnectorError("RESOURCE_NOT_FOUND", {
        reason: "several lists have that name: use the id",
      });
    for await (const { rows } of batches) {
      const failed: FailedRow[] = [];
      for (const row of rows) {
        const failure = await writeSubscriber(ctx, list.uuid, operation, row);
        if (failure) failed.push({ key: row.key, ...failure });
      }
      yield { failed };
    }
  },
});

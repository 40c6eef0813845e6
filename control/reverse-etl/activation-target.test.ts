import { createSecretRegistry, type RateLedger } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ReverseEtl, startReverseEtl } from "../../tests/reverse-etl.ts";
import type { Services } from "../services/services.ts";
import type { RunContext } from "../sources/runs.ts";
import { activationTargetOf, openActivation } from "./activation-target.ts";
import { tryReverseDestination } from "./destination-parts.ts";
import { findReverseDestination, type ReverseDestinationRow } from "./rows.ts";

describe("a reverse ETL destination that is opened", () => {
  let etl: ReverseEtl;
  let row: ReverseDestinationRow;
  beforeAll(async () => {
    etl = await startReverseEtl();
    const { db, first } = etl.api;
    row = await findReverseDestination(db, first.id, await etl.mailerDestination());
  });
  afterAll(() => etl?.[Symbol.asyncDispose]());

  const contextWith = (services: Partial<Services>): RunContext => ({
    services: { ...etl.api.control.services, ...services },
    db: etl.api.db,
    now: new Date(),
    secrets: createSecretRegistry(),
    signal: new AbortController().signal,
  });

  test.each([
    "check",
    "objects",
    "run",
  ] as const)("has its requests counted with all others of its credential (%s)", async (purpose) => {
    const counted: string[] = [];
    const providerRates = (credentialId: string): RateLedger => ({
      async book() {
        counted.push(credentialId);
        return { async settle() {} };
      },
      async block() {},
    });
    const ctx = contextWith({ providerRates });
    const target = await activationTargetOf(ctx, row);
    const { reference, config, options } = await openActivation(ctx, target, purpose);
    const { activations } = ctx.services;
    const before = etl.mailer.requests.length;
    if (purpose === "check") await activations.check(reference, config, options);
    if (purpose === "objects") await activations.objects(reference, config, "none", options);
    if (purpose === "run") {
      const [list] = await activations.objects(reference, config, undefined, options);
      const command = {
        owner: "activation",
        object: list?.id ?? "",
        operation: "upsert",
        identifier: "email",
      } as const;
      async function* batches() {
        const fields = { email: "new@example.com" };
        yield { id: "batch", rows: [{ key: "new", change: "added" as const, fields }] };
      }
      for await (const { failed } of activations.write(
        reference,
        config,
        command,
        batches(),
        options,
      ))
        expect(failed).toEqual([]);
    }
    const requests = etl.mailer.requests.length - before;
    expect(requests).toBeGreaterThan(0);
    expect(counted).toEqual(Array(requests).fill(row.credential_id));
  });

  test.each([
    true,
    false,
  ])("notes that its credential works when a check has asked with it (%s)", async (hasCheck) => {
    const { activations } = etl.api.control.services;
    const ctx = contextWith({
      activations: {
        ...activations,
        manifest: async (reference) => ({ ...(await activations.manifest(reference)), hasCheck }),
        check: async () => ({ status: "succeeded" }),
      },
    });
    const rows = etl.api.db.updateTable("credentials").where("id", "=", row.credential_id);
    await rows.set({ last_verified_at: null }).execute();
    const target = await activationTargetOf(ctx, row);
    await tryReverseDestination(ctx as never, target, "Mailer");
    const { last_verified_at } = await etl.api.db
      .selectFrom("credentials")
      .select("last_verified_at")
      .where("id", "=", row.credential_id)
      .executeTakeFirstOrThrow();
    expect(last_verified_at !== null).toBe(hasCheck);
  });
});

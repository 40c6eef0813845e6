/** Ids that do not exist: wherever a request names one, the answer says where and of what kind. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Operation } from "../control/contract/operation.ts";
import { operations } from "../control/operations/index.ts";
import { operationCases, startTestWorld, type TestWorld } from "./control-operations.ts";

/** Fields of a body that name something by its id, with the kind that the answer tells. */
const kinds: Readonly<Record<string, string>> = {
  connector_id: "connector",
  credential_handle: "credential",
  credentialHandle: "credential",
  credential_id: "credential",
  source_id: "source",
  destination_id: "destination",
  prepare_id: "prepare",
  modelId: "reverse_etl_model",
  destinationId: "reverse_etl_destination",
  warehouseId: "destination",
};

const bodyOf = (operation: Operation) =>
  operation.effect === "read" ? {} : (operation.body?.properties ?? {});

/** Refused whatever it is: what a thing belongs to stays as it was. */
const isKept = (schema: unknown) =>
  String((schema as { description?: string }).description).startsWith("Refused");

/** Nothing of the body is looked at there: the path names the connector. */
const unread = ["oauth.finish_taskapp connector_id"];

/** Without these the field says nothing. */
const withThat: Readonly<Record<string, object>> = {
  "pipeline.update prepare_id": { streams: [{ name: "campaigns" }] },
};

const named = operations
  .filter(({ effect, access }) => effect !== "read" && access !== "open")
  .flatMap((operation) =>
    Object.entries(bodyOf(operation))
      .filter(([name, schema]) => name in kinds && !isKept(schema))
      .filter(([name]) => !unread.includes(`${operation.id} ${name}`))
      .map(([name]) => ({ operation, name, id: operation.id })),
  );

test("fields that name something are known here", () => {
  const ids = operations.flatMap((operation) =>
    Object.keys(bodyOf(operation)).filter((name) => /(_id|_handle|Id|Handle)$/.test(name)),
  );
  // The workspace is looked at before; portals are the provider's.
  const others = ["workspace_id", "portal_id"];
  expect(new Set(ids)).toEqual(new Set([...Object.keys(kinds), ...others]));
  expect(named.length).toBeGreaterThan(20);
});

describe("a body that names what does not exist", () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await startTestWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each(named)("$id: $name", async ({ operation, name }) => {
    const { api } = world;
    const { params = {}, body, ...rest } = (await operationCases[operation.id]?.(world)) ?? {};
    const path = operation.path.replace(/\{(\w+)\}/g, (_, part: string) => params[part] ?? "");
    // The credential to connect again, or the source whose credential it is.
    const value = name.toLowerCase().includes("handle")
      ? `ch_${"0".repeat(36)}`
      : "nothing_of_ours";
    const answer = await api.call(operation.method, path, {
      ...rest,
      body: { ...body, ...withThat[`${operation.id} ${name}`], [name]: value },
    });
    expect([answer.status, answer.body.details]).toEqual([
      404,
      {
        reason: "not_found",
        resource: kinds[name],
        errors: [{ path: name, reason: "not_found", message: expect.stringMatching(/^names no /) }],
      },
    ]);
    expect(answer.text).not.toContain(value);
  });
});

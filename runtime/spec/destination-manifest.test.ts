import { Type } from "typebox";
import { describe, expect, test } from "vitest";
import { activationHttp, defineActivation, publicUrl } from "../contract/activation.ts";
import { defineDestination, localFile } from "../contract/destination.ts";
import { bearer, postgres } from "../contract/egress.ts";
import { secret } from "../contract/spec.ts";
import { describeActivation, describeDestination } from "./destination-manifest.ts";

const text = Type.String();
const database = {
  host: text,
  port: Type.Integer(),
  database: text,
  username: text,
  ssl_mode: text,
};
const egress = postgres({
  host: "host",
  port: "port",
  database: "database",
  username: "username",
  password: "password",
  sslMode: "ssl_mode",
});

const destination = defineDestination({
  id: "conn_warehouse",
  version: "1.0.0",
  title: "Warehouse",
  spec: Type.Object({ ...database, password: secret(Type.String()) }),
  egress,
  syncModes: ["append"],
  check: async () => undefined,
  write: () => Promise.reject(new Error("not tried here")),
});
const activation = defineActivation({
  id: "conn_hook",
  version: "1.0.0",
  title: "Hook",
  spec: Type.Object({
    url: text,
    token: secret(Type.String()),
    signing_key: secret(Type.String()),
  }),
  egress: activationHttp({
    baseUrl: publicUrl("url"),
    auth: bearer("token"),
    signing: { secret: "signing_key" },
  }),
  maxBatchRows: 100,
  objects: async () => [],
  write: async function* () {},
});

test("a destination and an activation are described as plain data", () => {
  expect(describeDestination(destination)).toMatchObject({
    id: "conn_warehouse",
    syncModes: ["append"],
    isExclusive: false,
    minRoundMs: 0,
    hasQuery: false,
  });
  expect(describeActivation(activation)).toMatchObject({
    id: "conn_hook",
    maxBatchRows: 100,
    hasCheck: false,
  });
  expect(describeActivation({ ...activation, check: async () => {} }).hasCheck).toBe(true);
});

describe("what a module may not be is refused by the path of the fault", () => {
  const openPassword = Type.Object({ ...database, password: text });
  const faults: [string, object][] = [
    ["id", { id: "warehouse" }],
    ["version", { version: "one" }],
    ["title", { title: "" }],
    ["spec", { spec: undefined }],
    ["egress", { egress: undefined }],
    ["egress", { egress: { kind: "carrier pigeon" } }],
    ["write", { write: undefined }],
  ];
  test.each(faults)("%s of both kinds", (path, change) => {
    const refused = expect.objectContaining({
      code: "CONNECTOR_INVALID",
      details: { path, problem: expect.any(String) },
    });
    expect(() => describeDestination({ ...destination, ...change })).toThrow(refused);
    expect(() => describeActivation({ ...activation, ...change })).toThrow(refused);
  });

  const refuse = (describeModule: (exported: unknown) => unknown, exported: unknown) => {
    try {
      describeModule(exported);
    } catch (error) {
      return (error as { details: { path: string } }).details.path;
    }
    return "nothing";
  };
  test.each([
    ["default export", undefined],
    ["check", { ...destination, check: undefined }],
    ["syncModes", { ...destination, syncModes: [] }],
    ["syncModes", { ...destination, syncModes: ["upsert"] }],
    ["minRoundMs", { ...destination, minRoundMs: -1 }],
    ["minRoundMs", { ...destination, minRoundMs: 86_400_001 }],
    ["egress", { ...destination, egress: activation.egress }],
    ["spec.properties.password", { ...destination, spec: Type.Object(database) }],
    ["spec.properties.password", { ...destination, spec: openPassword }],
    [
      "spec.properties.file",
      { ...destination, egress: localFile({ name: "file", ending: ".db" }) },
    ],
  ])("%s of a destination", (path, exported) => {
    expect(refuse(describeDestination, exported)).toBe(path);
  });

  const openSpec = (name: string) => Type.Object({ ...activation.spec.properties, [name]: text });
  test.each([
    ["default export", null],
    ["objects", { ...activation, objects: undefined }],
    ["maxBatchRows", { ...activation, maxBatchRows: 10_001 }],
    ["maxBatchRows", { ...activation, maxBatchRows: 1.5 }],
    ["egress", { ...activation, egress: localFile({ name: "file", ending: ".db" }) }],
    ["spec.properties.signing_key", { ...activation, spec: openSpec("signing_key") }],
    ["spec.properties.token", { ...activation, spec: openSpec("token") }],
    ["spec.properties.password", { ...activation, egress, spec: openPassword }],
  ])("%s of an activation", (path, exported) => {
    expect(refuse(describeActivation, exported)).toBe(path);
  });
});

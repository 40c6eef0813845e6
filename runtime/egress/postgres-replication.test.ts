import { expect, test } from "vitest";
import { createReplicationGate } from "./postgres-replication.ts";

const message = (type: string, body: Buffer | string) => {
  const bytes = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeUInt32BE(4 + bytes.length, 1);
  return Buffer.concat([head, bytes]);
};
const query = (text: string) => message("Q", `${text}\0`);
const mayPass = (chunk: Buffer) => createReplicationGate("svc_shop")(chunk);
const start = (slot: string) =>
  `START_REPLICATION SLOT "${slot}" LOGICAL 0/16B3748 (proto_version '1', publication_names '"svc"')`;

test.each([
  "IDENTIFY_SYSTEM",
  "SET timezone TO 'UTC'",
  'CREATE_REPLICATION_SLOT "svc_shop" LOGICAL pgoutput NOEXPORT_SNAPSHOT',
  'CREATE_REPLICATION_SLOT "svc_shop_rows" TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT',
  'DROP_REPLICATION_SLOT "svc_shop"',
  start("svc_shop"),
])("what reading the slot needs passes: %s", (text) => {
  expect(mayPass(query(text))).toBe(true);
});

test.each([
  "BASE_BACKUP",
  "TIMELINE_HISTORY 1",
  "SHOW data_directory",
  "SELECT 1",
  "SET role TO 'postgres'",
  "SET default_transaction_read_only TO 'off'",
  "IDENTIFY_SYSTEM; DROP TABLE t",
  "START_REPLICATION PHYSICAL 0/0",
  'CREATE_REPLICATION_SLOT "svc_shop" PHYSICAL',
  'CREATE_REPLICATION_SLOT "svc_shop" LOGICAL test_decoding NOEXPORT_SNAPSHOT',
  'DROP_REPLICATION_SLOT "svc_other"',
  'CREATE_REPLICATION_SLOT "svc_shop" TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT',
  'CREATE_REPLICATION_SLOT "svc_shop_other" LOGICAL pgoutput NOEXPORT_SNAPSHOT',
  'DROP_REPLICATION_SLOT "svc_shop_other"',
  start("svc_shop_other"),
  'DROP_REPLICATION_SLOT "svc_shopping"',
  start("other"),
  `${start("svc_shop")}; SELECT 1`,
])("nothing else does: %s", (text) => {
  expect(mayPass(query(text))).toBe(false);
});

test("a status of a standby, the end of a COPY and of the session pass; other messages do not", () => {
  const status = Buffer.alloc(34);
  status[0] = 0x72;
  expect(mayPass(Buffer.concat([message("d", status), message("c", "")]))).toBe(true);
  expect(mayPass(message("X", ""))).toBe(true);
  expect(mayPass(message("d", Buffer.alloc(34)))).toBe(false);
  expect(mayPass(message("d", "r"))).toBe(false);
  for (const type of ["P", "B", "E", "F", "f", "p", "S"])
    expect(mayPass(message(type, ""))).toBe(false);
});

test("what is no whole message does not pass, however it is cut", () => {
  const whole = query("IDENTIFY_SYSTEM");
  for (let end = 1; end < whole.length; end++) expect(mayPass(whole.subarray(0, end))).toBe(false);
  expect(mayPass(Buffer.concat([whole, query("BASE_BACKUP")]))).toBe(false);
  expect(mayPass(Buffer.from([0x51, 0, 0, 0, 0]))).toBe(false);
  expect(mayPass(Buffer.from([0x51, 0xff, 0xff, 0xff, 0xff]))).toBe(false);
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadSettings, parseSettings } from "./settings.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-settings-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const nothing = { approvedHosts: [], allowNetworks: [] };

test("without a file nothing is allowed", async () => {
  expect(await loadSettings(join(root, "none"))).toEqual(nothing);
});

test("svc.config.yaml of the working folder is used, or the file that is named", async () => {
  await writeFile(join(root, "svc.config.yaml"), "approved_hosts: [mail.example.com]\n");
  await writeFile(join(root, "other.json"), '{"allow_networks": ["10.0.0.0/8", "fd00::/8"]}');
  expect(await loadSettings(root)).toEqual({ ...nothing, approvedHosts: ["mail.example.com"] });
  expect(await loadSettings(root, "other.json")).toEqual({
    ...nothing,
    allowNetworks: ["10.0.0.0/8", "fd00::/8"],
  });
});

test.each([
  null,
  {},
  { approved_hosts: null },
  { allow_networks: [] },
])("%j allows nothing", (document) => {
  expect(parseSettings(document, "f")).toEqual(nothing);
});

test.each([
  "mail.example.com",
  "*.example.com",
  "xn--bcher-kva.example",
  "a.b.c.d.example",
])("%s is a host", (host) => {
  expect(parseSettings({ approved_hosts: [host] }, "f").approvedHosts).toEqual([host]);
});

test.each([
  "",
  "*",
  "*.com",
  "com",
  "localhost",
  "a..b",
  "-a.example.com",
  "https://a.example.com",
  "a.example.com/api",
  "a.example.com:8443",
  "10.0.0.1",
  "*.*.example.com",
  "a b.example.com",
  "[::1]",
  "a.example.com.",
  7,
  null,
])("%j is no host", (host) =>
  expect(() => parseSettings({ approved_hosts: [host] }, "f")).toThrow(
    /^settings in f: approved_hosts\[0\] must be a host name/,
  ));

test.each([
  "10.0.0.0",
  "10.0.0.0/33",
  "10.0.0.0/-1",
  "10.0.0/8",
  "::/129",
  "a/8",
  "10.0.0.0/8/8",
  "10.0.0.0/0x8",
  " 10.0.0.0/8",
  10,
])("%j is no network", (network) =>
  expect(() => parseSettings({ allow_networks: [network] }, "f")).toThrow(
    /allow_networks\[0\] must be a network/,
  ));

test.each([
  [[], "must be an object"],
  ["x", "must be an object"],
  [7, "must be an object"],
  [{ approved_hosts: "x" }, "approved_hosts must be a list"],
  [{ aproved_hosts: [] }, 'aproved_hosts is not a setting (did you mean "approved_hosts"?)'],
])("%j is refused", (document, problem) => {
  expect(() => parseSettings(document, "f")).toThrow(`settings in f: ${problem}`);
});

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { parseManifest } from "../spec/manifest.ts";
import { describeSource } from "../worker/load.ts";
import { toSource } from "./source.ts";

const text = readFileSync(
  new URL("../../fixtures/manifests/source-shop.yaml", import.meta.url),
  "utf8",
);
/** Whatever a test changes in the document. */
type Loose = ReturnType<typeof parse>;

function changed(change: (document: Loose) => void): string {
  const document = parse(text);
  change(document);
  return stringify(document);
}
const load = (yaml: string) => parseManifest(describeSource(toSource(yaml, "shop")) as never);
function faultOf(yaml: string): string {
  try {
    load(yaml);
  } catch (error) {
    const { code, details } = error as { code: string; details: { path: string; problem: string } };
    return `${code} ${details.path}: ${details.problem}`;
  }
  return "nothing was refused";
}

describe("a manifest", () => {
  test("declares its hosts, with settings in them, and keeps to placeholders", () => {
    expect(load(text).egress).toMatchObject({
      baseUrl: "https://{account}.example.com",
      auth: [],
      placeholders: { urls: ["https://search.example.com"] },
    });
  });

  test.each<[string, string, RegExp]>([
    ["that is no YAML", "a: [", /the manifest: is not valid YAML: line 1/],
    ["that is a text", "hello", /the manifest: must be an object/],
    ["that is too large", `a: ${"x".repeat(2 * 1024 * 1024)}`, /larger than/],
    ["that is nested too deeply", `a: ${"[".repeat(100)}${"]".repeat(100)}`, /nested deeper/],
    [
      "of aliases of aliases",
      `a: &a [1,1,1,1,1,1,1,1,1,1]\n${"bcdefgh"
        .split("")
        .map((one, index) => `${one}: &${one} [${Array(10).fill(`*${"abcdefg"[index]}`)}]`)
        .join("\n")}`,
      /too many aliases/,
    ],
    [
      "that refers to itself",
      changed((all) => (all.streams[0].retriever = "#/streams/0/retriever")),
      /refers to itself/,
    ],
    [
      "that refers to a file",
      changed((all) => (all.streams[0].$ref = "./other.yaml#/x")),
      /streams\.0: refers to another document/,
    ],
    [
      "that refers to nothing",
      changed((all) => (all.streams[0].$ref = "#/definitions/none")),
      /refers to what is not there/,
    ],
    [
      "that grows with its references",
      changed((all) => {
        all.definitions.a = Array(100).fill({ x: 1 });
        all.definitions.b = Array(100).fill("#/definitions/a");
        all.definitions.c = Array(100).fill("#/definitions/b");
        all.schemas = "#/definitions/c";
      }),
      /more than 200000 values/,
    ],
    [
      "with a component that is not supported",
      changed((all) => (all.streams[0].incremental_sync = { type: "DatetimeBasedCursor" })),
      /streams\.orders\.incremental_sync: is not supported in a DeclarativeStream/,
    ],
    [
      "with a custom component",
      changed(
        (all) =>
          (all.streams[1].retriever.requester.authenticator = {
            type: "CustomAuthenticator",
            class_name: "x.Y",
          }),
      ),
      /streams\.items\.retriever\.requester\.authenticator: is a CustomAuthenticator, which is not supported/,
    ],
    [
      "with an internal address",
      changed((all) => (all.streams[1].retriever.requester.url_base = "https://169.254.169.254/")),
      /url_base: leads to an address/,
    ],
    [
      "with an address in brackets",
      changed((all) => (all.streams[1].retriever.requester.url_base = "https://[::1]/")),
      /leads to an address/,
    ],
    [
      "without TLS",
      changed(
        (all) => (all.streams[1].retriever.requester.url_base = "http://search.example.com/"),
      ),
      /must begin with https/,
    ],
    [
      "whose host a record chooses",
      changed(
        (all) => (all.streams[1].retriever.requester.url_base = "https://{{ record.host }}/"),
      ),
      /only settings may be filled in/,
    ],
    [
      "whose host's end a customer chooses",
      changed(
        (all) => (all.streams[1].retriever.requester.url_base = "https://a.{{ config.account }}/"),
      ),
      /spec\.properties\.account: ends a host name/,
    ],
    [
      "with an expression that reaches for insides",
      changed((all) => (all.streams[1].retriever.requester.path = "{{ config.__class__ }}")),
      /streams\.items\.retriever\.requester\.path: .*__class__/,
    ],
    [
      "without streams",
      changed((all) => (all.streams = [])),
      /manifest\.streams: must name a stream/,
    ],
    [
      "whose check names no stream",
      changed((all) => (all.check.stream_names = ["none"])),
      /check\.stream_names: names a stream/,
    ],
    [
      "whose authenticator uses no setting",
      changed((all) => delete all.spec.connection_specification.properties.key),
      /no setting key/,
    ],
  ])("%s is refused with the place", (_, yaml, words) => {
    expect(faultOf(yaml)).toMatch(words);
    expect(faultOf(yaml)).toMatch(/^CONNECTOR_INVALID /);
  });
});

/** Whatever authentication uses stays with the host, in every connector there is. */
import {
  builtInSources,
  createHost,
  findConnector,
  type Host,
  type JsonObject,
} from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSecretRegistry } from "../../runtime/filter/secrets.ts";
import { parseConfig } from "../../runtime/spec/config.ts";
import { egressFields, schemaOf } from "../../runtime/spec/egress-fields.ts";
import { createMemorySink } from "../memory-sink.ts";
import { broken, rowsOnly } from "./connector.ts";

let host: Host;
beforeAll(() => {
  host = createHost();
});
afterAll(() => host[Symbol.asyncDispose]());

const canaryOf = (field: string) => `cnry-7Kq2ZpX9vLm4Rt8Wn3Bs6Yd1Hf5Gj-${field}`;

/** A configuration that is valid, with a canary for each setting that authenticates. */
function sampleOf(schema: JsonObject, isCanary: (path: string) => boolean, path = ""): unknown {
  if (isCanary(path)) return canaryOf(path);
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.type === "integer") return schema.minimum ?? 1;
  if (schema.type !== "object") return "https://mail.example.com/api";
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonObject>);
  const isNeeded = (name: string, here: string) =>
    (schema.required as string[] | undefined)?.includes(name) || isCanary(here);
  return Object.fromEntries(
    properties.flatMap(([name, property]) => {
      const here = path === "" ? name : `${path}.${name}`;
      return isNeeded(name, here) ? [[name, sampleOf(property, isCanary, here)]] : [];
    }),
  );
}

test("there are connectors to look at", () => {
  expect(builtInSources.length).toBeGreaterThanOrEqual(5);
});

test.each(
  builtInSources.map((source) => [source.name, source] as const),
)("what authenticates %s never reaches its worker, and is searched for", async (_, source) => {
  const manifest = await host.spec(findConnector(source.name, process.cwd()));
  const secret = egressFields(manifest.egress).flatMap(({ field, isSecret }) =>
    isSecret ? [field] : [],
  );
  expect(secret.length).toBeGreaterThan(0);
  for (const field of secret)
    expect(schemaOf(manifest.spec, field)).toMatchObject({ "x-svc-secret": true });
  const config = sampleOf(manifest.spec, (path) => secret.includes(path)) as JsonObject;
  const { withoutSecrets, secrets } = parseConfig(manifest, config);
  const registry = createSecretRegistry();
  for (const one of secrets) registry.add(one);
  for (const field of secret) {
    expect(JSON.stringify(withoutSecrets)).not.toContain(canaryOf(field));
    expect(registry.redactText(`it is ${canaryOf(field)}.`)).not.toContain("7Kq2ZpX9vLm4");
  }
});

test("a setting with a dot in its name does not stand in for the secret of that path", async () => {
  const sink = createMemorySink();
  const config = { "account.token": canaryOf("account.token") };
  const reading = host.read(broken("two-tokens"), { config, catalog: rowsOnly }, sink);
  await expect(reading).rejects.toMatchObject({ code: "CONNECTOR_INVALID" });
  expect(sink.rows()).toEqual([]);
});

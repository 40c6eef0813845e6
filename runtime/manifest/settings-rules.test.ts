import { expect, test } from "vitest";
import { smallCases } from "../../tests/manifests/small.ts";
import { toSource } from "./source.ts";

const manifestOf = (name: string) =>
  smallCases.find(({ file }) => file === name)?.manifest ?? `there is no case ${name}`;

test("a setting that an authenticator reaches by a rule is a secret where it comes from", () => {
  const manifest = manifestOf("settings_of_an_older_form").replaceAll("airbyte_secret: true", "");
  const { spec } = toSource(manifest, "older") as unknown as {
    spec: { properties: { token: object; key: object } };
  };
  expect(spec.properties.token).toMatchObject({ airbyte_secret: true });
  expect(spec.properties.key).not.toMatchObject({ airbyte_secret: true });
});

test("a setting that a rule makes stands in no host", () => {
  const manifest = manifestOf("settings_remapped").replace(
    "https://api.example.com",
    "https://{{ config['region'] }}.example.com",
  );
  expect(() => toSource(manifest, "remapped")).toThrow(
    expect.objectContaining({
      code: "CONNECTOR_INVALID",
      details: expect.objectContaining({ problem: expect.stringContaining("setting region") }),
    }),
  );
});

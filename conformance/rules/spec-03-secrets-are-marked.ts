import type { JsonObject } from "svc-connectors";
import { isJsonObject, isSecret, isSecretName } from "svc-connectors/host";
import { exchangeEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { inlined, type SpecProperty, specProperties } from "../derive/spec/properties.ts";
import { compileSchema } from "../derive/spec/schemas.ts";
import { settingAt, withSetting } from "../derive/sweeps/settings.ts";
import { canaryValue } from "../fixtures/canaries.ts";
import { proofsIn } from "./spec-03.proofs.ts";

/** Settings whose way is followed with a run of their own. */
const followed = 8;

export default defineRule({
  id: "SPEC-03",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Every setting that is a secret is marked as one, and none comes with a default, an example or a list of values.",
  why: "Platforms encrypt, mask and redact what the spec marks, and nothing else: an unmarked token is shown in forms, logs and exports.",
  fix: "Mark the setting (airbyte_secret: true, or secret(…) of svc), and take default, examples, enum and const off it.",
  good: 'api_token: { type: "string", title: "API token", airbyte_secret: true }',
  bad: 'api_token: { type: "string", title: "API token", examples: ["pk_live_51H8…"] }',
  needsProvider: false,
  async run(lab, report) {
    const properties = specProperties(inlined(lab.spec));
    report.checked("the spec");
    for (const { path, schema } of properties) {
      report.checked(path);
      const name = path.replaceAll("[]", "").split(".").at(-1) ?? "";
      const isMarked = isMarkedSecret(schema);
      const isLikely =
        mayHoldSecret(schema) &&
        (isSecretName(name, "setting") ||
          schema.format === "password" ||
          schema.writeOnly === true);
      const shown = () => textEvidence("Its schema", JSON.stringify(schema, null, 2));
      if (isLikely && !isMarked)
        report.fail(
          `The setting ${path} holds a secret by its name or form, but is not marked: set airbyte_secret: true.`,
          shown(),
        );
      if (!isMarked && !isLikely) continue;
      for (const keyword of ["default", "example", "examples", "enum", "const"]) {
        if (schema[keyword] !== undefined)
          report.fail(
            `The secret ${path} comes with "${keyword}": a secret is nobody else's, and what stands there is published.`,
            shown(),
          );
      }
    }
    await followSettings(lab, report, properties);
  },
});

/**
 * Narrower than isSecret, which takes JSON Schema's writeOnly and marks in alternatives too: other
 * platforms that run an image or a program mask what has one of these marks, and nothing else.
 */
const isMarkedSecret = (schema: JsonObject) =>
  schema.airbyte_secret === true || schema["x-svc-secret"] === true;

/** A flag or a number is no secret, nor is an object whose members are declared. */
function mayHoldSecret({ type, properties, oneOf, anyOf }: JsonObject): boolean {
  const types = type === undefined ? ["string"] : [type].flat();
  if (isJsonObject(properties) || Array.isArray(oneOf)) return false;
  return (
    Array.isArray(anyOf) ||
    types.some((one) => one === "string" || one === "object" || one === "array")
  );
}

/** Whatever it is called: a setting that authenticates requests is a secret. */
async function followSettings(
  lab: Lab,
  report: Reporter,
  properties: readonly SpecProperty[],
): Promise<void> {
  if (lab.egress !== "http") return;
  const open = [
    ...new Map(
      properties
        .filter(({ path, schema }) => !isSecret(schema) && !path.includes("[]"))
        .map((one) => [one.path, one]),
    ).values(),
  ];
  const golden = (await lab.golden()).map(({ observation }) => observation);
  const reported = new Set<string>();
  for (const { path, schema } of open) {
    const given = settingAt(lab.config, path);
    if (typeof given !== "string" || given.length < 6 || schema.enum !== undefined) continue;
    if (golden.some((seen) => reportUse(seen, path, given, report))) reported.add(path);
  }
  for (const { path } of lab.sample(
    open.filter(({ path, schema }) => isText(schema) && !reported.has(path)),
    followed,
  )) {
    const value = canaryValue(lab.seed, `setting ${path}`);
    const config = withSetting(lab.config, path, value);
    if (config === undefined || !fits(lab.spec, config)) continue;
    report.checked(`where ${path} travels`);
    reportUse(await lab.run({ verb: "check", config }), path, value, report);
  }
}

const isText = ({ type, enum: values, format }: JsonObject) =>
  values === undefined && format !== "uri" && [type].flat().includes("string");

function fits(spec: JsonObject, config: JsonObject): boolean {
  try {
    return compileSchema(spec).fault(config) === undefined;
  } catch {
    return true; // SPEC-02 says what is wrong with the schema
  }
}

function reportUse(
  { exchanges }: Observation,
  path: string,
  value: string,
  report: Reporter,
): boolean {
  for (const exchange of exchanges) {
    const place = proofsIn(exchange.request).find((proof) => proof.value.includes(value))?.place;
    if (place === undefined) continue;
    const { request } = exchange;
    report.fail(
      `The setting ${path} authenticates requests (it travels in ${place} of ${request.method} ${request.url.pathname}), but is not marked as a secret: set airbyte_secret: true.`,
      exchangeEvidence("Requests", exchanges, (one) => one === exchange),
    );
    return true;
  }
  return false;
}

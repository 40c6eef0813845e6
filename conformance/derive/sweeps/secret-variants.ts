/** The configuration with other secrets in it, where the connector's spec admits them. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "svc-connectors";
import { parsePointer } from "svc-connectors/host";
import { settingAt, withSetting } from "../../contract/config-setting.ts";
import type { Canary, Lab } from "../../contract/lab.ts";
import type { Command } from "../../contract/observation.ts";
import { canaryValue } from "../../fixtures/canaries.ts";

export interface SecretVariant {
  /** Where each secret stands, as property names, and what it is. */
  readonly secrets: readonly { readonly path: readonly string[]; readonly value: string }[];
  readonly canaries: readonly Canary[];
}

/**
 * Every secret that is set becomes what `make` gives for its dotted name; the first of several that
 * the spec admits.
 */
function makeVariant(lab: Lab, make: (name: string) => readonly string[]): SecretVariant {
  const isAdmitted = specCheck(lab);
  const secrets = setSecrets(lab).flatMap((path) => {
    const value = make(path.join(".")).find((one) =>
      isAdmitted(withSetting(lab.config, path, one)),
    );
    return value === undefined ? [] : [{ path, value }];
  });
  return {
    secrets,
    canaries: secrets.map(({ path, value }) => ({ name: `config ${path.join(".")}`, value })),
  };
}

/** The command with other secrets in its configuration. */
export function withSecrets(
  command: Command,
  { secrets }: Pick<SecretVariant, "secrets">,
): Command {
  if (command.verb === "spec") return command;
  return {
    ...command,
    config: secrets.reduce<JsonObject>(
      (config, { path, value }) => withSetting(config, path, value) as JsonObject,
      command.config,
    ),
  };
}

/**
 * Secrets with what encodings change; else with what URLs change. A line break or a space cannot be
 * in a header.
 */
export function awkwardSecrets(lab: Lab): SecretVariant {
  return makeVariant(lab, (name) => {
    const value = canaryValue(lab.seed, `awkward ${name}`);
    return [
      `${value.slice(0, 8)}"\\/+=&%'<>#?;${value.slice(8)}`,
      `${value.slice(0, 8)}+/=~._-${value.slice(8)}`,
    ];
  });
}

/** Paths of the secrets that the configuration holds, as property names. */
export function setSecrets({
  secretPaths,
  config,
}: Pick<Lab, "secretPaths" | "config">): readonly (readonly string[])[] {
  return secretPaths
    .map((pointer) => parsePointer(pointer))
    .filter((steps) => typeof settingAt(config, steps) === "string");
}

/**
 * Validates a configuration by the spec; a spec that no validator takes admits nothing (SPEC-02
 * reports it).
 */
export function specCheck({ spec }: Pick<Lab, "spec">): (config: unknown) => boolean {
  try {
    const { $schema: _, ...schema } = spec;
    const check = new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(
      schema,
    );
    return (config) => check(config);
  } catch {
    return () => false;
  }
}

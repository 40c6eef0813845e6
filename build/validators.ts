/**
 * Validators of the schemas that every run needs, compiled when svc is built: to compile them at
 * each start would take a sixth of the time of a short command. The code is what Ajv would make of
 * them there.
 */
import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import standalone from "ajv/dist/standalone/index.js";
import { rolldown } from "rolldown";
// All of them are known once the modules that have them are loaded.
import "../runtime/host.ts";
import type { Manifest } from "../runtime/contract/catalog.ts";
import type { Source } from "../runtime/contract/source.ts";
import { closedSpec } from "../runtime/spec/config.ts";
import { closedState } from "../runtime/spec/selection.ts";
import { createValidator, digestOf, metaschema, ownSchemas } from "../runtime/spec/validation.ts";
import { describeSource } from "../runtime/worker/load.ts";

const standaloneCode = standalone as unknown as typeof standalone.default;
const validators = "\0validators.cjs";
const entry = "\0compiled";

/**
 * The schemas that every run of a source validates against: its settings, and its state in two
 * forms.
 */
export function schemasOf(source: Source): object[] {
  // As they come over the wire.
  const { spec, state } = JSON.parse(JSON.stringify(describeSource(source))) as Manifest;
  return [closedSpec(spec), ...(state ? [state, closedState(state) as object] : [])];
}

/** Of all built sources in a folder. */
export async function builtSchemas(folder: string): Promise<object[]> {
  const modules = await Promise.all(
    (await readdir(folder)).map((name) => import(resolve(folder, name, "index.js"))),
  );
  return modules.flatMap((module: { default: Source }) => schemasOf(module.default));
}

/**
 * The source of `runtime/spec/compiled.ts` in a built package: a module without imports.
 * @param others schemas besides the runtime's own
 */
export async function compileValidators(others: readonly object[]): Promise<string> {
  const ajv = createValidator({ keepsCode: true });
  const names = new Map<string, string>([["metaschema", metaschema]]);
  const schemas = new Map([...ownSchemas, ...others].map((schema) => [digestOf(schema), schema]));
  for (const [digest, schema] of schemas) {
    const name = `schema${names.size}`;
    ajv.addSchema(schema, name);
    names.set(name, digest);
  }
  const code = standaloneCode(ajv, {
    ...Object.fromEntries([...names.keys()].map((name) => [name, name])),
    metaschema,
  });
  const lines = [...names].map(([name, key]) => `  ${JSON.stringify(key)}: ${name},`);
  const modules = new Map([
    [validators, code],
    [
      entry,
      `import { ${[...names.keys()].join(", ")} } from ${JSON.stringify(validators)};
export const compiledAhead = {
${lines.join("\n")}
};
`,
    ],
  ]);
  const bundle = await rolldown({
    input: entry,
    platform: "node",
    logLevel: "warn",
    plugins: [
      {
        name: "validators",
        resolveId: (id) => (modules.has(id) ? id : undefined),
        load: (id) => modules.get(id),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false, minify: true });
  await bundle.close();
  return output[0].code;
}

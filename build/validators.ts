/**
 * Validators of the schemas that every run needs, compiled when svc is built: to compile them at
 * each start would take a sixth of the time of a short command. The code is what Ajv would make of
 * them there.
 */
import standalone from "ajv/dist/standalone/index.js";
import { rolldown } from "rolldown";
// All of them are known once the modules that have them are loaded.
import "../runtime/host.ts";
import { createValidator, digestOf, metaschema, ownSchemas } from "../runtime/spec/validation.ts";

const standaloneCode = standalone as unknown as typeof standalone.default;
const validators = "\0validators.cjs";
const entry = "\0compiled";

/** What `runtime/spec/compiled.ts` is in a built package: a module without imports. */
export async function compileValidators(): Promise<string> {
  const ajv = createValidator({ keepsCode: true });
  const names = new Map<string, string>([["metaschema", metaschema]]);
  for (const schema of ownSchemas) {
    const name = `own${names.size}`;
    ajv.addSchema(schema, name);
    names.set(name, digestOf(schema));
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

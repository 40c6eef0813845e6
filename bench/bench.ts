/**
 * `npm run bench`: every ratio of bench/README.md in one run. Needs `npm run build` (done by `npm
 * ci`).
 */
import { benchControl } from "./control.ts";
import { benchDiscover } from "./discover.ts";
import { benchNestedStreams } from "./nested-streams.ts";
import { benchRateLimit } from "./rate-limit.ts";
import type { Result } from "./run.ts";
import { benchSanitizedRead } from "./sanitized-read.ts";
import { benchStart } from "./start.ts";

const print = ({ name, ours, baseline, ratio, aim }: Result) =>
  console.log(`| ${name} | ${ours} | ${baseline} | ${ratio.toFixed(2)} | ${aim} |`);

console.log("| what | svc | baseline | ratio | aim |\n|---|---|---|---|---|");
for await (const result of benchSanitizedRead()) print(result);
print(await benchRateLimit());
for await (const result of benchNestedStreams()) print(result);
const discovered = await benchDiscover();
if (discovered) print(discovered);
else console.log("| discover | skipped: no PostgreSQL server is installed | | | |");
for await (const result of benchStart()) print(result);
for await (const result of benchControl()) print(result);

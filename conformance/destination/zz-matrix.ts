import { readdir } from "node:fs/promises";
import { tryRule } from "/work/main/conformance/certify.ts";
import { openDestinationLab } from "/work/main/conformance/destination/lab.ts";
import { loadDestinationRules } from "/work/main/conformance/destination/rules.ts";
import { defaultSettings } from "/work/main/conformance/settings.ts";

const folder = new URL("file:///work/main/fixtures/broken-destinations/");
const rules = (await loadDestinationRules()).filter(
  ({ id }) => !["DEST-04", "DEST-12", "DEST-14", "DEST-15", "DEST-03"].includes(id),
);
const only = process.argv[2]?.split(",");
for (const name of (await readdir(folder)).filter((n) => /^dest-\d\d/.test(n)).sort()) {
  if (only && !only.some((o) => name.startsWith(o))) continue;
  await using lab = await openDestinationLab({
    reference: { name: "broken", url: new URL(name, folder).href },
    settings: defaultSettings,
    network: {},
    seed: 1,
    isExhaustive: false,
    todayMs: Date.now(),
  });
  const own = name.slice(0, 7).toUpperCase();
  const found: string[] = [];
  for (const rule of rules) {
    const r = await tryRule(rule, lab);
    if (r.result !== "pass") {
      found.push(rule.id);
      if (rule.id !== own) console.log("   ", name, rule.id, r.result, r.problems[0]?.sentence ?? r.reason);
    }
  }
  console.log(found.join() === own || found.join() === "" ? "ok   " : "WRONG", name, found.join());
}
process.exit(0);

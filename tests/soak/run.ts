/**
 * A soak by hand, as long as one likes:
 *
 *     node --conditions=svc-source tests/soak/run.ts --seed 7 --days 365 --real 40 --light 200 \
 *       --deeds 10 [--postgres postgres://…]
 *
 * It prints a line for each month, and ends with 1 when a promise is broken, or when jobs or memory
 * cost more at the end than at the beginning.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { soak } from "./soak.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    days: { type: "string", default: "365" },
    real: { type: "string", default: "6" },
    light: { type: "string", default: "20" },
    hours: { type: "string", default: "12" },
    deeds: { type: "string", default: "1" },
    postgres: { type: "string" },
  },
});
const folder = await mkdtemp(join(tmpdir(), "svc-soak-"));
try {
  const { months, counts, deeds } = await soak({
    seed: Number(values.seed),
    folder,
    days: Number(values.days),
    turnHours: Number(values.hours),
    pipelines: { real: Number(values.real), light: Number(values.light) },
    deedsPerDay: Number(values.deeds),
    databaseUrl: values.postgres,
    onMonth: ({ day, heapBytes, jobs, cpuMsPerJob, rows }) =>
      console.log(
        `day ${day}: ${jobs} attempts, ${cpuMsPerJob.toFixed(0)} ms of processor each, heap ${(heapBytes / 1e6).toFixed(1)} MB, ${rows} rows kept`,
      ),
  });
  console.log({ deeds: deeds.length, ...counts });
  const [first, last] = [months[1], months.at(-1)];
  if (first && last) {
    const ratios = {
      heap: last.heapBytes / first.heapBytes,
      cpu: last.cpuMsPerJob / first.cpuMsPerJob,
    };
    console.log(ratios);
    if (ratios.heap > 1.5 || ratios.cpu > 2) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

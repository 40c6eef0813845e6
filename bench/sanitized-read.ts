import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, type Result, runProgram, startProgram } from "./run.ts";

const rowsPerPage = 1_000;

/** Wall time of whole processes, start-up included; ours and the baseline by turns, medians. */
export async function* benchSanitizedRead(): AsyncGenerator<Result> {
  using server = await startProgram("rows-server.ts");
  const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
  const ca = join(folder, "ca.pem");
  await writeFile(ca, String(server.ready.ca));
  const port = Number(server.ready.port);
  const read = (file: string, rows: number) => runProgram(file, [port, ca, rows / rowsPerPage]);
  try {
    for (const [rows, rounds] of [
      [200_000, 5],
      [2_000_000, 3],
    ] as const) {
      const ours: number[] = [];
      const naive: number[] = [];
      for (let round = 0; round < rounds; round++) {
        naive.push((await read("naive-read.ts", rows)).seconds);
        ours.push((await read("svc-read.ts", rows)).seconds);
      }
      const rate = (seconds: number) => `${Math.round(rows / seconds / 1000)}k records/s`;
      yield {
        name: `sanitised read of ${rows.toLocaleString("en")} records, against a naive loop`,
        ours: rate(median(ours)),
        baseline: rate(median(naive)),
        ratio: median(naive) / median(ours),
        aim: rows > 1_000_000 ? "≥ 1.0" : "",
      };
    }
    const small = (await read("svc-read.ts", 200_000)).report;
    const large = (await read("svc-read.ts", 5_000_000)).report;
    for (const process of ["host", "worker"] as const) {
      const peak = (report: Record<string, unknown>) =>
        Number((report.peakMb as Record<string, number>)[process]);
      yield {
        name: `peak memory of the ${process}: 5,000,000 records, against 200,000`,
        ours: `${peak(large)} MB`,
        baseline: `${peak(small)} MB`,
        ratio: peak(large) / peak(small),
        aim: "≤ 1.1",
      };
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

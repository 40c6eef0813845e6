import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { createHost } from "svc-connectors/host";
import { median, type Result } from "./run.ts";

const rounds = 15;

/**
 * A worker that is started, has loaded the mailer and sent its manifest, cold and from the warm
 * pool, against a bare node.
 */
export async function* benchStart(): AsyncGenerator<Result> {
  const connector = {
    name: "mailer",
    url: new URL("../dist/connectors/sources/mailer/index.js", import.meta.url).href,
  };
  const bare: number[] = [];
  const cold: number[] = [];
  const warm: number[] = [];
  await using coldHost = createHost();
  await using warmHost = createHost({ keepWarm: 1 });
  const timed = async (work: () => Promise<unknown>) => {
    const startedMs = performance.now();
    await work();
    return performance.now() - startedMs;
  };
  await warmHost.spec(connector);
  for (let round = 0; round < rounds; round++) {
    bare.push(
      await timed(
        () => new Promise((resolve) => spawn(process.execPath, ["-e", "0"]).once("close", resolve)),
      ),
    );
    cold.push(await timed(() => coldHost.spec(connector)));
    await pause(300); // the pool refills while a run would work
    warm.push(await timed(() => warmHost.spec(connector)));
  }
  const ms = (values: readonly number[]) => `${median(values).toFixed(0)} ms`;
  for (const [name, values, aim] of [
    ["cold", cold, "≤ 4"],
    ["warm", warm, ""],
  ] as const) {
    yield {
      name: `start of a worker with its connector, ${name}, against a bare \`node -e 0\``,
      ours: ms(values),
      baseline: ms(bare),
      ratio: median(values) / median(bare),
      aim,
    };
  }
}

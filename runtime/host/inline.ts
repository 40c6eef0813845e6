import { duplexPair } from "node:stream";
import { ConnectorError } from "../contract/errors.ts";
import type { Source } from "../contract/source.ts";
import { serve } from "../worker/serve.ts";
import type { WorkerProcess } from "./process.ts";

/**
 * A "worker" inside this process, for an author's debugger: same protocol, no sandbox, no memory
 * limit, no kill. The connector still gets neither secrets nor connections from the runtime, but
 * nothing stops it from taking its own.
 */
export function startInline(aroundSource?: (source: Source) => Source): WorkerProcess {
  const [hostEnd, workerEnd] = duplexPair();
  // The pair passes memory on as it is and calls back before it is read, but the frame writer then
  // uses it again.
  const pass = workerEnd._write.bind(workerEnd);
  workerEnd._write = (chunk: Buffer, encoding, done) => pass(Buffer.from(chunk), encoding, done);
  let reason: ConnectorError | undefined;
  const ended = serve(workerEnd, aroundSource)
    .catch(() => {
      reason ??= new ConnectorError("CONNECTOR_EXITED", { reason: "inline" });
    })
    .then(() => {
      workerEnd.end();
      return reason;
    });
  return {
    wire: hostEnd,
    ended,
    onText: () => {},
    kill(why) {
      reason ??= why;
      hostEnd.destroy();
      workerEnd.destroy();
    },
    hold: () => {},
  };
}

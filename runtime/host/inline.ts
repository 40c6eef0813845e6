import { ConnectorError } from "../contract/errors.ts";
import type { Source } from "../contract/source.ts";
import { createWirePair } from "../wire/wire-pair.ts";
import { serve } from "../worker/serve.ts";
import type { WorkerProcess } from "./process.ts";

/**
 * A "worker" inside this process, for an author's debugger: same protocol, no sandbox, no memory
 * limit, no kill. The connector still gets neither secrets nor connections from the runtime, but
 * nothing stops it from taking its own.
 */
export function startInline(aroundSource?: (source: Source) => Source): WorkerProcess {
  const { hostEnd, workerEnd } = createWirePair();
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

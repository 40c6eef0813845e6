/** Runs in which one request is refused with a status, to see when and what comes next. */
import type { Lab } from "../contract/lab.ts";
import type { Exchange } from "../contract/network.ts";
import type { Observation, Order } from "../contract/observation.ts";

/** A recorded run and the index of one of its requests: the first one and the last one of each recording that succeeds. */
export async function firstRequests(lab: Lab): Promise<readonly { readonly name: string; readonly order: Order; readonly at: number }[]> {
  const golden = (await lab.golden()).filter(({ recording, observation }) => recording.outcome.status === "succeeded" && observation.exchanges.length > 0);
  const cases = golden.flatMap(({ recording, observation }) => {
    const indexes = new Set([0, observation.exchanges.length - 1]);
    return [...indexes].map((at) => ({ name: `${recording.name}, request ${at + 1}`, order: lab.orderOf(recording), at }));
  });
  return lab.sample(cases, 4);
}

/** Request `at` is answered once with the status (429) and headers. `next`: the request that came after it to the same URL. */
export async function rateLimited(lab: Lab, order: Order, at: number, headers: Readonly<Record<string, string>>, status = 429): Promise<{ readonly observation: Observation; readonly refused: Exchange | undefined; readonly next: Exchange | undefined }> {
  const truth = lab.learned.provider();
  const observation = await lab.run(order, {
    provider: {
      answer: (request) =>
        request.index === at
          ? { status, headers: { "content-type": "application/json", ...headers }, body: Buffer.from(lab.answers?.answers[String(status)]?.body ?? "{}") }
          : truth.answer(request),
      unused: () => [],
    },
  });
  const refused = observation.exchanges[at];
  const next = observation.exchanges.find(({ request }) => request.index > at && request.url.href === refused?.request.url.href);
  return { observation, refused, next };
}

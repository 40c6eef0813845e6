/** Runs with secrets that a careless filter of output stumbles over: empty, one character, a number, characters of regular expressions. */
import type { JsonObject, JsonValue } from "svc-connectors";
import type { Lab } from "../contract/lab.ts";
import type { Provider, ProviderRequest } from "../contract/network.ts";
import type { Observation, Order } from "../contract/observation.ts";
import { setSecrets, specCheck, withValue } from "./secret-variants.ts";

export interface PlainSecretRun {
  /** `notes, api_token is "a(b[c*+?"`. */
  readonly name: string;
  readonly secret: string;
  /** With the kit's own secret. */
  readonly normal: Observation;
  readonly observation: Observation;
}

/** Each kind, shortest first: the first that the spec admits is tried. */
const kinds: readonly (readonly string[])[] = [
  [""],
  ["a", "aa", "aaaa", "aaaaaaaa", "a".repeat(16), "a".repeat(32)],
  ["1", "12", "2026", "20260501", "2026050120260501"],
  ["(", "a(b", "a(b[c*+?", "$&a(b[c*+?\\^|{", "$&a(b[c*+?\\^|{$&a(b[c*+?\\^|{1234"],
  [".", ".*", ".*.*.*.*", ".*.*.*.*.*.*.*.*"],
];
const sampledOrders = 3;

/** Done once for all rules. */
export function plainSecretRuns(lab: Lab): Promise<readonly PlainSecretRun[]> {
  return lab.once("plain secrets", async () => {
    const recordings = lab.sample(lab.recordings.filter(({ outcome }) => outcome.status === "succeeded"), sampledOrders);
    const runs: PlainSecretRun[] = [];
    for (const recording of recordings) {
      const order = lab.orderOf(recording);
      const normal = await lab.run(order);
      for (const { path, secret, config } of variantsOf(lab, normal)) {
        const observation = await lab.run(withConfig(order, config), { provider: knowing(lab, path, secret) });
        runs.push({ name: `${recording.name}, ${path.join(".")} is ${JSON.stringify(secret)}`, secret, normal, observation });
      }
    }
    return runs;
  });
}

/** Not those that the output holds as a whole value anyway: to mask such a one is no mistake. */
function variantsOf(lab: Lab, { messages }: Observation): { readonly path: readonly string[]; readonly secret: string; readonly config: JsonObject }[] {
  const isAdmitted = specCheck(lab);
  const output = messages.map(({ line }) => line).join("\n");
  return setSecrets(lab).flatMap((path) =>
    kinds.flatMap((values) => {
      const secret = values.find((one) => !output.includes(JSON.stringify(one)) && isAdmitted(withValue(lab.config, path, one)));
      return secret === undefined ? [] : [{ path, secret, config: withValue(lab.config, path, secret) as JsonObject }];
    }),
  );
}

const withConfig = (order: Order, config: JsonObject): Order => (order.verb === "spec" ? order : { ...order, config: { ...order.config, ...config } });

/** The learned provider, which takes the other secret for the one of the recordings where that is a whole parameter or value. */
function knowing(lab: Lab, path: readonly string[], secret: string): Provider {
  const truth = lab.learned.provider();
  const own = String(path.reduce<JsonValue | undefined>((part, step) => (part as JsonObject | undefined)?.[step], lab.config));
  return { answer: (request) => truth.answer(translated(request, secret, own)), unused: () => [] };
}

function translated(request: ProviderRequest, secret: string, own: string): ProviderRequest {
  const url = new URL(request.url);
  for (const [name, value] of [...url.searchParams]) if (value === secret && secret !== "") url.searchParams.set(name, own);
  const form = encodeURIComponent(secret);
  const body = secret === "" ? request.body : request.body.replaceAll(JSON.stringify(secret), () => JSON.stringify(own)).replaceAll(`=${form}`, () => `=${own}`);
  return { ...request, url, body };
}

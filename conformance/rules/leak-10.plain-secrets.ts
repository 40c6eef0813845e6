/**
 * Runs with secrets that a careless filter of output stumbles over: empty, one character, a number,
 * characters of regular expressions.
 */

import type { JsonObject, JsonValue } from "svc-connectors";
import { withSetting } from "../contract/config-setting.ts";
import type { Lab } from "../contract/lab.ts";
import type { Provider, ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { setSecrets, specCheck, withSecrets } from "../derive/sweeps/secret-variants.ts";

export interface PlainSecretRun {
  /** `notes, api_token is "a(b[c*+?"`. */
  readonly name: string;
  readonly secret: string;
  /** The run with the kit's own secret. */
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
const sampledCommands = 3;

/** Done once for all rules. */
export function plainSecretRuns(lab: Lab): Promise<readonly PlainSecretRun[]> {
  return lab.once("plain secrets", async () => {
    const recordings = lab.sample(
      lab.recordings.filter(({ outcome }) => outcome.status === "succeeded"),
      sampledCommands,
    );
    const runs: PlainSecretRun[] = [];
    for (const recording of recordings) {
      const command = lab.commandOf(recording);
      const normal = await lab.run(command);
      for (const { path, secret } of variantsOf(lab, normal)) {
        const runOptions = lab.database
          ? { database: { password: secret } }
          : { provider: knowing(lab, path, secret) };
        const observation = await lab.run(
          withSecrets(command, { secrets: [{ path, value: secret }] }),
          runOptions,
        );
        runs.push({
          name: `${recording.name}, ${path.join(".")} is ${JSON.stringify(secret)}`,
          secret,
          normal,
          observation,
        });
      }
    }
    return runs;
  });
}

/** Not those that the output holds as a whole value anyway: to mask such a one is no mistake. */
function variantsOf(
  lab: Lab,
  { messages }: Observation,
): { readonly path: readonly string[]; readonly secret: string }[] {
  const isAdmitted = specCheck(lab);
  const output = messages.map(({ line }) => line).join("\n");
  return setSecrets(lab).flatMap((path) =>
    kinds.flatMap((values) => {
      const secret = values.find(
        (one) =>
          !output.includes(JSON.stringify(one)) && isAdmitted(withSetting(lab.config, path, one)),
      );
      return secret === undefined ? [] : [{ path, secret }];
    }),
  );
}

/**
 * The learned provider, which takes the other secret for the one of the recordings, where those
 * hold it.
 */
function knowing(lab: Lab, path: readonly string[], secret: string): Provider {
  const truth = lab.learned.provider();
  const own = String(
    path.reduce<JsonValue | undefined>(
      (part, step) => (part as JsonObject | undefined)?.[step],
      lab.config,
    ),
  );
  const requests = lab.recordings.flatMap(({ interactions }) =>
    interactions.map(({ request }) => request),
  );
  const names = new Set(
    requests.flatMap(({ url }) =>
      [...new URL(url).searchParams].flatMap(([name, value]) => (value === own ? [name] : [])),
    ),
  );
  const isInBody = secret !== "" && requests.some(({ body }) => body?.includes(own));
  const translate = (request: ProviderRequest): ProviderRequest => {
    const url = new URL(request.url);
    for (const name of names)
      if (url.searchParams.get(name) === secret) url.searchParams.set(name, own);
    const inForm = `=${encodeURIComponent(secret)}`;
    const body = isInBody
      ? request.body
          .replaceAll(JSON.stringify(secret), () => JSON.stringify(own))
          .replaceAll(inForm, () => `=${own}`)
      : request.body;
    return { ...request, url, body };
  };
  return { answer: (request) => truth.answer(translate(request)), unused: () => [] };
}

/** One conformance run of a destination, as kit.ts beside this folder makes one of a source. */
import { packageVersion } from "svc-connectors/host";
import { certify, tryRule } from "../certify/certify.ts";
import { chooseRules } from "../certify/load-rules.ts";
import type { KitOptions, OpenKit } from "../contract/kit.ts";
import { UnusableError } from "../contract/unusable.ts";
import { loadSettings } from "../target/settings.ts";
import { openDestinationLab } from "./lab.ts";
import { loadDestinationRules } from "./load-rules.ts";
import type { DestinationSubject } from "./subject.ts";

/** @throws UnusableError */
export async function openDestinationKit(
  subject: DestinationSubject,
  options: KitOptions,
): Promise<OpenKit> {
  const { chosen, unknown } = chooseRules(
    await loadDestinationRules(),
    options.profiles,
    options.rules,
  );
  if (unknown.length > 0)
    throw new UnusableError(
      `there is no rule ${unknown.join(", ")} for destinations; docs/conformance.md lists them`,
    );
  const startedAt = new Date();
  const settings = await loadSettings(subject.settingsFile);
  const { seed, isExhaustive, network = {}, profiles, command, onStart, onFinished } = options;
  const { reference } = subject;
  const lab = await openDestinationLab({
    ...{ reference, settings, network, seed, isExhaustive },
    todayMs: startedAt.getTime(),
  });
  return {
    settings,
    todayMs: lab.todayMs,
    rules: chosen,
    async tryRule(id) {
      const rule = chosen.find((one) => one.id === id);
      if (!rule) throw new UnusableError(`there is no rule ${id}`);
      return await tryRule(rule, lab, command);
    },
    async run() {
      onStart?.(chosen);
      return await certify({
        ...{
          lab,
          rules: chosen,
          profiles,
          waivers: settings.waivers,
          kitVersion: packageVersion,
          command,
        },
        startedAt: startedAt.toISOString(),
        signal: options.signal,
        onFinished,
      });
    },
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  };
}

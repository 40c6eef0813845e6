/** The verbs of activations: objects and write. */
import type {
  Activation,
  ActivationCommand,
  ActivationContext,
  ActivationEgress,
  ActivationObject,
  BatchResult,
  RowBatch,
} from "../contract/activation.ts";
import type { CheckResult, ConnectorReference } from "../contract/host.ts";
import type { JsonObject } from "../contract/json.ts";
import { type ActivationManifest, describeActivation } from "../spec/destination-manifest.ts";
import { createModuleHost, type DestinationHostOptions, type DestinationOptions } from "./host.ts";

export type ActivationOptions = Omit<DestinationOptions, "folder">;

/** Every method throws ConnectorError only. */
export interface ActivationHost {
  /** @throws CONNECTOR_INVALID */
  manifest(activation: ConnectorReference): Promise<ActivationManifest>;
  /**
   * Lists the objects that can be written to; with a name, only those that have it as name or id.
   * @throws CONFIG_INVALID and how the connection fails
   */
  objects(
    activation: ConnectorReference,
    config: JsonObject,
    name?: string,
    options?: ActivationOptions,
  ): Promise<readonly ActivationObject[]>;
  /** Whatever is wrong is a result. @throws CANCELLED only */
  check(
    activation: ConnectorReference,
    config: JsonObject,
    options?: ActivationOptions,
  ): Promise<CheckResult>;
  /**
   * As the contract's `write`. The connection ends with the loop over the results.
   * @throws CONFIG_INVALID and as the activation's `write` says
   */
  write(
    activation: ConnectorReference,
    config: JsonObject,
    command: ActivationCommand,
    batches: AsyncIterable<RowBatch>,
    options?: ActivationOptions,
  ): AsyncGenerator<BatchResult>;
}

type Context = ActivationContext<never, ActivationEgress>;

export function createActivationHost(options: DestinationHostOptions = {}): ActivationHost {
  const { manifest, check, open } = createModuleHost<Context, Activation, ActivationManifest>(
    options,
    describeActivation,
  );
  return {
    manifest,
    check,
    async objects(reference, config, name, verb) {
      await using opened = await open(reference, config, verb);
      const found = await opened.module.objects(opened.ctx, name).catch((error: unknown) => {
        throw opened.sanitize(error);
      });
      return found.filter((one) => name === undefined || one.name === name || one.id === name);
    },
    async *write(reference, config, command, batches, verb) {
      await using opened = await open(reference, config, verb);
      try {
        yield* opened.module.write(opened.ctx, command, batches);
      } catch (error) {
        throw opened.sanitize(error);
      }
    },
  };
}

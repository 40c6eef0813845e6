/** Opens a lab for a destination: places to write to, processes to kill, and all that it says. */
import {
  type ConnectorReference,
  createDestinationHost,
  type NetworkSettings,
} from "svc-connectors/host";
import { createRandom } from "../contract/random.ts";
import { countRun } from "../contract/run-count.ts";
import type { ConformanceSettings } from "../contract/settings.ts";
import { UnusableError } from "../contract/unusable.ts";
import { canaryValue, withCanaries } from "../fixtures/canaries.ts";
import { startObjectStore } from "../target/object-store.ts";
import { startPostgres } from "../target/postgres.ts";
import type { DestinationLab, Place, RowForm } from "./contract.ts";
import { createFilePlace, fileConfig } from "./file-place.ts";
import type { PlaceContext } from "./place.ts";
import { connectionConfig, createPostgresPlaces } from "./postgres-place.ts";
import { createProcesses } from "./process.ts";
import { createS3Places } from "./s3-place.ts";
import { describeStream, integer, scriptOf } from "./streams.ts";

export interface DestinationLabOptions {
  readonly reference: ConnectorReference;
  readonly settings: ConformanceSettings;
  readonly network: Partial<NetworkSettings>;
  readonly seed: number;
  readonly isExhaustive: boolean;
  readonly todayMs: number;
}

/** @throws UnusableError when the module is no destination */
export async function openDestinationLab(
  options: DestinationLabOptions,
): Promise<DestinationLab & AsyncDisposable> {
  const { reference, settings, network, seed, isExhaustive, todayMs } = options;
  const manifest = await createDestinationHost()
    .manifest(reference)
    .catch((error: Error) => {
      throw new UnusableError(`${reference.name} is no destination: ${error.message}`);
    });
  await using opening = new AsyncDisposableStack();
  const processes = opening.use(createProcesses());
  const said: { where: string; text: string }[] = [];
  let runCount = 0;
  const context: PlaceContext = {
    reference,
    network,
    processes,
    onRun() {
      runCount++;
      countRun();
    },
    onSaid: (where, text) => void said.push({ where, text }),
  };
  const { egress } = manifest;
  const made = withCanaries(settings.config, manifest.spec, [], seed);
  let missing: string | undefined;
  const places = new AsyncDisposableStack();
  const create = await placesOf();

  async function placesOf(): Promise<() => Promise<Place>> {
    if (egress.kind === "file") {
      const config = fileConfig(egress, made.config);
      return () => createFilePlace(context, egress, config);
    }
    if (egress.kind === "s3") {
      const secret = String(made.config[egress.secretAccessKey] ?? "");
      const store = await startObjectStore({ secret });
      if ("missing" in store) {
        missing = store.missing;
        return () => Promise.reject(new Error(store.missing));
      }
      opening.use(store);
      const { create } = await createS3Places(context, store, egress, made.config);
      return create;
    }
    const server = await startPostgres();
    if ("missing" in server) {
      missing = server.missing;
      return () => Promise.reject(new Error(server.missing));
    }
    opening.use(server);
    const found = await createPostgresPlaces(
      context,
      server,
      egress,
      connectionConfig(egress, made.config),
    );
    return () => found.create();
  }

  let shared: Promise<Place> | undefined;
  const place = () => (shared ??= create().then((made) => places.use(made)));
  let nameCount = 0;
  const fresh = () => {
    nameCount += 1;
    return { owner: `pipe_${nameCount}`, name: `s${nameCount}` };
  };
  let forms: Promise<readonly RowForm[]> | undefined;
  const findForms = async () => {
    const { owner, name } = fresh();
    const stream = describeStream({ id: integer }, { name });
    const { command } = scriptOf({ owner, fence: 1 }, [{ stream, batches: [] }]);
    const writer = await (await place()).open(command);
    await writer.close();
    return writer.forms;
  };
  opening.use(places);
  const open = opening.move();
  return {
    target: { kind: "host", name: reference.name },
    manifest,
    egress: egress.kind,
    settings,
    seed,
    isExhaustive,
    todayMs,
    missingProvider: missing,
    get runCount() {
      return runCount;
    },
    canaries: made.canaries,
    said,
    place,
    emptyPlace: create,
    fresh,
    forms: () => (forms ??= findForms()),
    random: (name) =>
      createRandom(seed ^ Number.parseInt(canaryValue(seed, name).slice(4, 10), 32)),
    effort: (most, exhaustive) => (isExhaustive ? exhaustive : most),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/**
 * Records a connector or an image against its live provider. Start here: captures.ts runs the
 * verbs, redactor.ts cleans the exchanges, replay.ts tries the recording, scan.ts searches it for
 * leaks.
 */
import type { Clock, JsonObject } from "svc-connectors";
import {
  type ConnectorReference,
  createHost,
  type Host,
  type HostOptions,
  type NetworkSeams,
  type NetworkSettings,
} from "svc-connectors/host";
import type { RecordedRun, Recording, RecordingMetadata } from "../contract/recording.ts";
import { formatRecording, formatYaml } from "../fixtures/format.ts";
import type { RecordingLimits } from "./allowance.ts";
import { toErrorAnswers } from "./answers.ts";
import { toBaseline } from "./baseline.ts";
import { type Capture, type Captures, captureAll } from "./captures.ts";
import { createStandingClock } from "./clock.ts";
import { configSecrets, withWrongSecrets } from "./config-secrets.ts";
import { createConnectorSubject } from "./connector-subject.ts";
import { headerRules } from "./headers.ts";
import { type ImageReference, openImageSubject } from "./image-subject.ts";
import { toInteraction } from "./interactions.ts";
import { createKnownSecrets } from "./known-secrets.ts";
import { orphanedRecordings } from "./orphaned-recordings.ts";
import { placeholderPattern } from "./placeholders.ts";
import { versionInUrls } from "./provider-version.ts";
import { createPseudonyms } from "./pseudonyms.ts";
import { RecordingError } from "./recording-error.ts";
import { createRedactor, type Redactor } from "./redactor.ts";
import { outcomeOf } from "./replay.ts";
import { type FixtureLeak, findLeaks } from "./scan.ts";
import type { RecordedSubject } from "./subject.ts";
import { toRecordedRun } from "./verbs.ts";
import { writeAll } from "./write.ts";

export interface RecordOptions {
  readonly connector: ConnectorReference | ImageReference;
  /** The whole configuration, secrets included. */
  readonly config: JsonObject;
  /** Hosts and networks that the operator allows. */
  readonly settings?: Partial<NetworkSettings> | undefined;
  /** As in {@link HostOptions}. */
  readonly allowLocal?: boolean | undefined;
  /** For simulators. */
  readonly seams?: NetworkSeams | undefined;
  /** Default "process". */
  readonly sandbox?: HostOptions["sandbox"];
  /** Where the files go; made when it is not there. Other files in it stay. */
  readonly folder: string;
  /**
   * Version of the provider's API, for people: "v8", "2026-01". Default what the URLs name, or
   * "unknown".
   */
  readonly providerApiVersion?: string | undefined;
  /** Seed of the pseudonyms. Default 1. */
  readonly seed?: number | undefined;
  /**
   * RFC 3339, UTC: `recorded_at`, and the start of the connector's clock; an image has its own
   * clock. Default the present.
   */
  readonly now?: string | undefined;
  /** In place of a clock that starts at `now` and stands still except for waits. */
  readonly clock?: Clock | undefined;
  /** Labels of the streams; default all. */
  readonly streams?: readonly string[] | undefined;
  /** Data beyond them is left out, with a notice. */
  readonly limits?: Partial<RecordingLimits> | undefined;
  /**
   * Fields whose text names people, besides those whose names say so: "nickname", "requester.name".
   * Their words are replaced.
   */
  readonly people?: readonly string[] | undefined;
  /** In place of the runtime's host, which reaches the provider. */
  readonly createHost?: (options: HostOptions) => Host | Promise<Host>;
  readonly signal?: AbortSignal;
}

export interface RecordSummary {
  readonly files: readonly {
    readonly name: string;
    readonly interactionCount: number;
    readonly recordCount?: number;
  }[];
  /** Ids of the redaction rules that replaced something. */
  readonly redactions: readonly string[];
  /** Sentences about what was not recorded. */
  readonly notices: readonly string[];
}

/**
 * Runs check, discover and every stream, and writes the exchanges after secrets and people were
 * replaced, a replay succeeded, and a search found no leak.
 * @throws RecordingError, UsageError or ConnectorError; then nothing is written
 */
export async function record(options: RecordOptions): Promise<RecordSummary> {
  const { connector, config, seed = 1, now } = options;
  const recordedAt = now ?? new Date().toISOString();
  await using subject = await openSubject(options);
  const live = await captureAll({ subject, ...options });

  const secrets = createKnownSecrets();
  for (const { path, value } of knownConfigSecrets(config, live))
    secrets.addConfigured(path, value);
  const pseudonyms = createPseudonyms(seed);
  const redactor = createRedactor(secrets, pseudonyms, options.people);
  refusePlaceholders(live.captures);
  const rules = headerRules(live.published);
  const clean = (capture: Capture) => ({
    capture,
    run: toCleanRun(capture, live, redactor),
    interactions: capture.exchanges.map((exchange) => toInteraction(exchange, redactor, rules)),
  });
  // The first pass learns the secrets, the second one replaces all of them.
  live.captures.forEach(clean);
  const cleaned = live.captures.map(clean);

  const urls = live.captures.flatMap(({ exchanges }) => exchanges.map(({ url }) => url));
  const version = options.providerApiVersion ?? versionInUrls(urls);
  const metadata = (clockOriginMs: number): RecordingMetadata => ({
    kit: 1,
    matcher: 1,
    provider: providerOf(connector),
    provider_api_version: version ?? "unknown",
    recorded_at: recordedAt,
    clock_origin: new Date(clockOriginMs).toISOString(),
    seed,
    redactions: ["headers", ...redactor.applied],
  });
  const recordings: Recording[] = [];
  for (const { capture, run, interactions } of cleaned) {
    const { name, clockOriginMs } = capture;
    const draft = { name, metadata: metadata(clockOriginMs), run, interactions };
    const replay = {
      subject,
      config,
      redact: redactor.redactText,
      reveal: (text: string) => secrets.valueOf(text) ?? text,
    };
    recordings.push({ ...draft, outcome: await outcomeOf(draft, capture, replay) });
  }
  const answers = toErrorAnswers(
    metadata(live.captures[0]?.clockOriginMs ?? 0),
    recordings.flatMap(({ interactions }) => interactions),
  );
  const baseline = toBaseline(live.published, live.catalog);

  const leaks: FixtureLeak[] = [
    ...recordings.flatMap(({ name, ...document }) =>
      findLeaks(`${name}.yaml`, document, { secrets, pseudonyms }),
    ),
    ...findLeaks("answers.yaml", answers, { secrets, pseudonyms }),
    ...findLeaks("baseline.yaml", baseline, { secrets, pseudonyms, hasPeople: false }),
  ];
  refuseLeaks(leaks);
  await writeAll(options.folder, [
    ...recordings.map((recording) => ({
      name: `${recording.name}.yaml`,
      text: formatRecording(recording),
    })),
    { name: "answers.yaml", text: formatYaml(answers) },
    { name: "baseline.yaml", text: formatYaml(baseline) },
  ]);
  const orphaned = await orphanedRecordings(options.folder, live.catalog);
  return {
    files: recordings.map(toSummary),
    redactions: redactor.applied,
    notices: [...live.notices, ...afterwards(version, orphaned)],
  };
}

/** The steps that are left for the author. */
const afterwards = (version: string | undefined, orphaned: readonly string[]) => [
  ...(version === undefined
    ? [
        "The URLs do not say of which version the provider's API is: record again with --provider-version V.",
      ]
    : []),
  ...(orphaned.length > 0
    ? [`Recordings of streams that the connector does not have: remove ${orphaned.join(", ")}.`]
    : []),
];

async function openSubject(options: RecordOptions): Promise<RecordedSubject> {
  const { connector, seams, signal, now, clock } = options;
  const originMs = () => (now === undefined ? Date.now() : Date.parse(now));
  if ("image" in connector) {
    const settings = { approvedHosts: [], allowNetworks: [], ...options.settings };
    return await openImageSubject(connector, { settings, seams, signal, originMs });
  }
  return createConnectorSubject({
    connector,
    host: {
      sandbox: options.sandbox ?? "process",
      settings: options.settings,
      allowLocal: options.allowLocal,
      seams,
    },
    createHost: options.createHost ?? createHost,
    createClock: () => clock ?? createStandingClock(originMs()),
    signal,
  });
}

/** The connector's name as people say it: without folders, registry and tag. */
const providerOf = (connector: RecordOptions["connector"]) =>
  "image" in connector
    ? connector.image.replace(/^.*\//, "").replace(/[:@].*$/, "")
    : connector.name.replace(/^.*[/\\]/, "");

/**
 * Secrets of the configuration, the altered ones with which it was tried, and refresh tokens that
 * took the place of the first.
 */
function knownConfigSecrets(
  config: JsonObject,
  { published: { spec }, refreshTokens: { path, later } }: Captures,
) {
  const wrong = configSecrets(withWrongSecrets(config, spec), spec);
  return [...configSecrets(config, spec), ...wrong, ...later.map((value) => ({ path, value }))];
}

/**
 * Text like a placeholder in the provider's own data could not be distinguished from one of ours.
 */
function refusePlaceholders(captures: readonly Capture[]): void {
  for (const { name, exchanges } of captures)
    for (const { url, requestBody, responseBody } of exchanges)
      if (
        [url, requestBody ?? "", responseBody].some((part) =>
          part.toString("utf8").match(placeholderPattern),
        )
      )
        throw new RecordingError(
          `${name}: the provider's data holds text like {{secret:…}}, which recordings use themselves; record other data`,
        );
}

/** The run without secrets: a state may hold what the provider gave out. */
function toCleanRun({ request }: Capture, live: Captures, redactor: Redactor): RecordedRun {
  const clean = <T>(value: T): T => JSON.parse(redactor.redactBody(JSON.stringify(value))) as T;
  const secretNames = new Set(
    configSecrets(request.config, live.published.spec).map(({ path }) => path),
  );
  const config = Object.fromEntries(
    Object.entries(request.config).filter(([setting]) => !secretNames.has(setting)),
  );
  return toRecordedRun(request, clean(config), request.state && clean(request.state));
}

/** Number of leaks that one message lists. */
const maxListed = 5;

function refuseLeaks(leaks: readonly FixtureLeak[]): void {
  if (leaks.length === 0) return;
  const listed = leaks
    .slice(0, maxListed)
    .map(({ file, pointer, what }) => `${what} in ${file} at ${pointer}`);
  const rest = leaks.length > maxListed ? `, and ${leaks.length - maxListed} more` : "";
  throw new RecordingError(
    `nothing was written, because this would be: ${listed.join("; ")}${rest}. Take it out of the account's data, or leave the stream out.`,
    leaks,
  );
}

function toSummary({ name, interactions, outcome }: Recording): RecordSummary["files"][number] {
  const counts = Object.values(outcome.streams ?? {}).map((stream) => stream.record_count);
  return {
    name: `${name}.yaml`,
    interactionCount: interactions.length,
    ...(counts[0] === undefined ? {} : { recordCount: counts[0] }),
  };
}

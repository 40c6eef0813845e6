import { localUrlOf } from "svc-connectors/host";
import { messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { statesOf } from "../derive/rows/rows.ts";

/** The expression that semver.org itself gives (read 2026-07), anchored. */
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/;
const slug = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/;
/** Streams that a default run tries. */
const sampledStreams = 10;

export default defineRule({
  id: "SPEC-05",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Version, name and hosts are declared in their proper form, and every declared capability is real and recorded.",
  why: "Platforms offer what a connector declares. A stream that says incremental and is not costs a full read each hour; a version that no tool can order is never updated.",
  fix: "Use a semantic version and a plain id; declare incremental and is_resumable only where states are written and read; record a read that resumes each incremental stream.",
  good: 'version: "1.4.0", supported_sync_modes: ["full_refresh", "incremental"] // and checkpoints in read',
  bad: 'version: "1.0.0-beta..2", is_resumable: true // and no state is ever written',
  notApplicable(lab) {
    if (lab.manifest || lab.streams.length === 0 || supportOf(lab) !== undefined) return undefined;
    return lab.streams.some((one) => isCapable(one) || one.resumed)
      ? undefined
      : "it declares no version, and no stream that is incremental or can be resumed";
  },
  async run(lab, report) {
    tryManifest(lab, report);
    trySupport(lab, report);
    const capable = lab.streams.filter(
      (one) => isCapable(one) && !Object.hasOwn(lab.settings.empty_streams, one.label),
    );
    for (const facts of lab.streams) tryRecordings(lab, facts, report);
    for (const facts of lab.sample(capable, sampledStreams)) await tryStates(lab, facts, report);
  },
});

const isCapable = ({ isIncremental, stream }: StreamFacts) =>
  isIncremental || stream.is_resumable === true;

function tryManifest({ manifest }: Lab, report: Reporter): void {
  if (!manifest) return;
  const { id, version, title, egress } = manifest;
  report.checked("version");
  if (!semver.test(version))
    report.fail(
      `The version "${version}" is no semantic version (semver.org): 1.4.0 or 1.4.0-beta.2 are.`,
    );
  report.checked("id and title");
  if (!slug.test(id))
    report.fail(`The id "${id}" is no plain name: lower-case words with _ or - between them.`);
  if (title.trim() !== title || title === "")
    report.fail(`The title ${JSON.stringify(title)} is empty or has spaces around it.`);
  report.checked("egress");
  const local = localUrlOf(egress);
  if (local) {
    report.fail(
      `The provider is declared on this machine, at ${local.href}: nobody else reaches it there. The other rules were tried as if it were elsewhere; before you publish the connector, declare the https:// URL that its users will reach, and record it there.`,
    );
    return;
  }
  const hosts =
    egress.kind === "http"
      ? [
          typeof egress.baseUrl === "string" ? egress.baseUrl : `https://{${egress.baseUrl.field}}`,
          ...egress.auth.flatMap((auth) => (auth.type === "oauth2" ? [auth.tokenUrl] : [])),
        ]
      : [`https://{${egress.host}}`];
  for (const url of hosts) {
    const host = /^https:\/\/([^/]*)/.exec(url)?.[1] ?? "";
    const isNamed =
      /^[a-z0-9.{}_:-]+$/i.test(host) &&
      (host.includes(".") || host.includes("{")) &&
      !host.includes("*");
    if (!isNamed)
      report.fail(
        `The egress names no host: "${url}". Name the hosts that the connector talks to.`,
        textEvidence("egress", JSON.stringify(egress, null, 2)),
      );
  }
}

/** `supportsIncremental` of the spec, which is of all streams together. */
const supportOf = (lab: Lab) =>
  lab.first.spec.messages.flatMap(({ message }) =>
    message.type === "SPEC" ? [message.spec.supportsIncremental] : [],
  )[0];

/**
 * `supportsIncremental` against the catalog. What svc writes for streams of discover says nothing
 * about this connector.
 */
function trySupport(lab: Lab, report: Reporter): void {
  const claim = supportOf(lab);
  if (
    typeof claim !== "boolean" ||
    lab.streams.length === 0 ||
    (lab.manifest && !lab.manifest.streams)
  )
    return;
  report.checked("supportsIncremental");
  const incremental = lab.streams
    .filter(({ isIncremental }) => isIncremental)
    .map(({ label }) => label);
  if (claim && incremental.length === 0)
    report.fail(
      "The spec says supportsIncremental: true, but no stream of the catalog lists incremental among its sync modes.",
    );
  if (!claim && incremental.length > 0)
    report.fail(
      `The spec says supportsIncremental: false, but the catalog lists incremental for ${incremental.slice(0, 3).join(", ")}.`,
    );
}

function tryRecordings(
  { egress, settings, recordings }: Lab,
  { label, isIncremental, resumed }: StreamFacts,
  report: Reporter,
): void {
  if (egress !== "http") return;
  if (isIncremental) {
    report.checked(`${label}: a recording that resumes it`);
    if (resumed || Object.hasOwn(settings.empty_streams, label)) return;
    const hasAny = recordings.some(({ run }) => run.verb === "read");
    report.missing(
      hasAny
        ? `${label} declares incremental, but no recording resumes it from a state: record an incremental read with --state, or take incremental off the stream.`
        : "There is no recording of a read: record one with `svc record`.",
    );
  } else if (resumed) {
    report.checked(`${label}: a recording that resumes it`);
    report.fail(
      `The recording ${resumed.name} resumes ${label} from a state, but the stream does not list incremental among its sync modes.`,
    );
  }
}

/** A stream that can be resumed says from where. */
async function tryStates(lab: Lab, facts: StreamFacts, report: Reporter): Promise<void> {
  const { label, isIncremental } = facts;
  if (!facts.recording && lab.egress === "http") return;
  const syncMode = isIncremental ? "incremental" : "full_refresh";
  const declared = isIncremental ? "incremental" : "is_resumable";
  const subject = `${label}: states of a read (${syncMode})`;
  const seen = await lab.undisturbed(lab.readCommand([facts], { syncMode }));
  if (seen.outcome.status !== "succeeded") return report.untried(`${subject}: it fails`);
  report.checked(subject);
  const states = statesOf(seen, label);
  if (states.length === 0)
    return report.fail(
      `${label} declares ${declared}, but its read (${syncMode}) writes no state: there is nothing to resume from.`,
      messageEvidence("Messages", seen, []),
    );
  // A full refresh may end with an empty state: there is nothing left to do.
  const isAlwaysEmpty =
    isIncremental && rowCount(seen) > 0 && states.every(({ state }) => isEmpty(state));
  if (isAlwaysEmpty)
    report.fail(
      `${label} declares incremental, but its states hold nothing (${JSON.stringify(states.at(-1)?.state)}): each run begins anew.`,
      messageEvidence(
        "Messages",
        seen,
        states.map(({ index }) => index),
      ),
    );
}

const rowCount = ({ messages }: Observation) =>
  messages.filter(({ message }) => message.type === "RECORD").length;
const isEmpty = (state: unknown) =>
  state === null || state === "" || (typeof state === "object" && Object.keys(state).length === 0);

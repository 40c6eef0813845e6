import { textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { specProperties } from "../derive/spec/properties.ts";
import { breaksBetween } from "./spec-07.compatibility.ts";

export default defineRule({
  id: "SPEC-07",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Configurations that the published version accepted are still accepted, unless the major version is new.",
  why: "Saved connections stop with the update: nobody edited them, and every customer has to be asked for a setting.",
  fix: "Add settings as optional, widen types and ranges, keep old names and values. Where that cannot be, raise the major version (and publish a new baseline.yaml with it).",
  good: 'region: { type: "string", default: "eu" } // new and optional',
  bad: 'required: ["api_token", "region"] // in version 1.3.0',
  needsProvider: false,
  notApplicable: (lab) =>
    lab.baseline === undefined && lab.target.kind === "container"
      ? "there is no baseline.yaml with what was published"
      : undefined,
  async run(lab, report) {
    if (!lab.baseline)
      return report.missing(
        "There is no baseline.yaml beside the recordings to compare the spec with: `svc record` writes it.",
      );
    const { version, spec } = lab.baseline;
    const own = lab.manifest?.version;
    for (const { path } of specProperties(spec)) report.checked(path);
    report.checked("the spec");
    if (own !== undefined && isMajorStep(version, own)) return;
    for (const { path, what } of breaksBetween(spec, lab.spec, lab.manifest !== undefined)) {
      report.fail(
        `${path === "" ? "The configuration" : `The setting ${path}`} ${what}: configurations saved with version ${version} break, and ${own === undefined ? "the connector does not say that its major version is new" : `${own} is no new major version`}.`,
        textEvidence(`Spec of ${version}`, JSON.stringify(spec, null, 2)),
        textEvidence("Spec now", JSON.stringify(lab.spec, null, 2)),
      );
    }
  },
});

/** Before 1.0.0 the minor version says it (semver.org, item 4). */
function isMajorStep(before: string, now: string): boolean {
  const [oldMajor = 0, oldMinor = 0] = before.split(".").map((part) => Number.parseInt(part, 10));
  const [major = 0, minor = 0] = now.split(".").map((part) => Number.parseInt(part, 10));
  return major > oldMajor || (major === 0 && oldMajor === 0 && minor > oldMinor);
}

/**
 * The order of files in a checkout that has run none of them: those that take longest begin, so
 * that no core waits for one of them at the end. Larger files come before smaller ones, as Vitest
 * has it; afterwards it knows how long each took.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A minute and more in CI, beside others on two cores; each project has its own order. */
export const longest = [
  "tests/image-conformance.long",
  "tests/image-runtime.long",
  "fixtures/broken-postgres/defects.long",
  "tests/author-examples.slow",
  "tests/sync-kills.slow",
  "tests/console-work.slow",
  "tests/replication-history.long",
  "tests/own-connectors.slow",
  "tests/serve.slow",
  "tests/manifests/differential.long",
  "tests/pyairbyte.long",
  "conformance/recorder/record-image.long",
  "control/http/fuzz.long",
  "tests/console-forms.slow",
  "tests/attacks/exhaustion-output.slow",
  "tests/approval-kills.long",
  "tests/reverse-etl-kills.long",
  "control/store/database.slow",
  "conformance/target/container.long",
  "tests/new-source.long",
  "tests/console.slow",
  "tests/attacks/exhaustion-answers.long",
  "tests/source-kill.long",
  "connectors/sources/postgres/replication/unlogged.slow",
  "connectors/sources/postgres/replication/changes.slow",
  "connectors/sources/bankdata/bankdata.long",
  "control/jobs/changes.slow",
  "tests/console-states.long",
  "control/jobs/jobs.slow",
  "tests/credential-refresh.long",
  "fixtures/broken-changes/defects.long",
  "connectors/sources/taskapp/taskapp.slow",
  "control/jobs/two-calls.long",
  "connectors/destinations/postgres/kills.long",
  "tests/cut-off.long",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    if (sorted.some((file) => this.ctx.cache.getTestSpecificationResult(file))) return sorted;
    // Projects stay in their order.
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      const first = longest.flatMap((name) =>
        own.filter(({ moduleId }) => moduleId.endsWith(`/${name}.test.ts`)),
      );
      return [...first, ...own.filter((file) => !first.includes(file))];
    });
  }
}

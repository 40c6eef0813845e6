/**
 * The order of files in a checkout that has run none of them: those that take longest begin, so
 * that no core waits for one of them at the end. Larger files come before smaller ones, as Vitest
 * has it; afterwards it knows how long each took.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** A minute and more in CI, beside others on two cores; each project has its own order. */
export const longest = [
  "fixtures/broken-postgres/defects.long",
  "tests/replication-history.long",
  "tests/sync-kills.slow",
  "tests/serve.slow",
  "control/http/fuzz.long",
  "tests/own-connectors.slow",
  "tests/console-work.slow",
  "tests/author-examples.slow",
  "tests/approval-kills.long",
  "tests/console-states.long",
  "tests/image-conformance.long",
  "tests/new-source.long",
  "tests/pyairbyte.long",
  "tests/reverse-etl-kills.long",
  "tests/credential-refresh.long",
  "tests/attacks/exhaustion-answers.long",
  "control/store/database.slow",
  "tests/source-kill.long",
  "tests/manifests/differential.long",
  "fixtures/broken-changes/defects.long",
  "tests/cut-off.long",
  "tests/oauth-processes.long",
  "tests/attacks/exhaustion-output.slow",
  "control/openapi/clients.long",
  "tests/console.slow",
  "connectors/sources/bankdata/bankdata.long",
  "connectors/sources/taskapp/taskapp.slow",
  "connectors/destinations/postgres/kills.long",
  "control/jobs/two-calls.long",
  "conformance/target/container.long",
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

/**
 * The order of files in a checkout that has run none of them: those that take longest begin, so that
 * no core waits for one of them at the end. Larger files come before smaller ones, as Vitest has it;
 * afterwards it knows how long each took.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** About a minute and more, on two cores. */
export const longest = [
  "tests/pyairbyte.long",
  "tests/attacks/exhaustion-answers.long",
  "tests/image-conformance.long",
  "tests/manifests/differential.long",
  "tests/image-runtime.long",
  "tests/cut-off.long",
  "fixtures/broken-postgres/defects.long",
  "control/http/fuzz.long",
  "tests/source-kill.long",
  "tests/credential-refresh.long",
  "tests/approval-kills.long",
  "connectors/sources/bankdata/bankdata.long",
  "tests/serve.slow",
  "tests/own-connectors.slow",
  "tests/console-work.slow",
  "tests/console.slow",
  "tests/sync-kills.slow",
  "tests/attacks/exhaustion-output.slow",
  "tests/attacks/exhaustion-definitions.slow",
  "tests/author-examples.slow",
  "connectors/sources/taskapp/taskapp.slow",
  "tests/mcp-stdio.slow",
  "tests/serve-postgres.slow",
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

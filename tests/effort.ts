/**
 * How much a run of the tests proves: everything that shows that the product works in minutes, or,
 * in CI and with `npm run test:all`, with whole samples and the long suites besides.
 */
export const isWhole = ["1", "true"].includes(process.env.CI ?? "");

/** A size of a sample, a number of kills or of rounds. */
export const choose = <Value>({
  quick,
  whole,
}: {
  readonly quick: Value;
  readonly whole: Value;
}) => (isWhole ? whole : quick);

/** The kit on sources in this process; in CI it also tries them whole, built and sandboxed. */
export const kitOptions = { effort: 0.1, profiles: ["core"] } as const;

/** The long suites' own tests in files that also run quickly: `await skipUnlessWhole(context)`. */
export function skipUnlessWhole({ skip }: { skip(note: string): void }): void {
  if (!isWhole) skip("takes long: runs in CI and with npm run test:all");
}

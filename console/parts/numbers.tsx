/** A few numbers, each in a box with its name. */
export const Numbers = ({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, value: string])[];
}) => (
  <dl className="numbers">
    {facts.map(([name, value]) => (
      <div key={name} className="panel">
        <dt className="dim">{name}</dt>
        <dd className="big">{value}</dd>
      </div>
    ))}
  </dl>
);

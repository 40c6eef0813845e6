import {
  type ActivationObject,
  identifyingOperations,
  type QueryColumn,
  type RowOperation,
} from "svc-connectors/host";
import { type FieldFault, refuseFields } from "../contract/reasons.ts";

/** A column of the model and the destination's field that gets it. */
export interface Mapping {
  readonly from: string;
  readonly to: string;
  readonly isPrimaryIdentifier: boolean;
}

const fault = (path: string, message: string): FieldFault => ({
  path,
  reason: "invalid_mapping",
  message,
});

/** Faults of mappings, as far as the model can tell. */
export function modelFaults(
  mappings: readonly Mapping[],
  operation: RowOperation,
  columns: readonly Pick<QueryColumn, "name">[],
): FieldFault[] {
  const names = new Set(columns.map(({ name }) => name));
  const seen = new Set<string>();
  const faults: FieldFault[] = [];
  for (const [index, { from, to }] of mappings.entries()) {
    if (!names.has(from)) faults.push(fault(`mappings.${index}.from`, "is no column of the model"));
    if (seen.has(to)) faults.push(fault(`mappings.${index}.to`, "is mapped twice"));
    seen.add(to);
  }
  const identifiers = mappings.flatMap(({ isPrimaryIdentifier }, index) =>
    isPrimaryIdentifier ? [index] : [],
  );
  if (identifyingOperations.includes(operation)) {
    if (identifiers.length === 0)
      faults.push(
        fault("mappings", `one must have isPrimaryIdentifier: ${operation} finds rows by it`),
      );
    for (const index of identifiers.slice(1))
      faults.push(
        fault(`mappings.${index}.isPrimaryIdentifier`, "is the second one: there can be only one"),
      );
  } else {
    for (const index of identifiers)
      faults.push(
        fault(
          `mappings.${index}.isPrimaryIdentifier`,
          `does not go with ${operation}, which finds no rows`,
        ),
      );
  }
  return faults;
}

/** Faults of mappings, as far as the destination can tell. */
export function objectFaults(
  mappings: readonly Mapping[],
  operation: RowOperation,
  object: ActivationObject,
): FieldFault[] {
  if (!object.operations.includes(operation))
    return [
      {
        path: "operation",
        reason: "invalid_mapping",
        message: `must be one of ${object.operations.join(", ")}`,
      },
    ];
  const hasIdentifiers = object.fields.some(({ isIdentifier }) => isIdentifier);
  const faults = mappings.flatMap(({ to, isPrimaryIdentifier }, index) => {
    const field = object.fields.find(({ name }) => name === to);
    if (!field && !object.isOpen)
      return [fault(`mappings.${index}.to`, "is no field of the destination")];
    const isFound = field?.isIdentifier ?? false;
    const mustBe = hasIdentifiers || !object.isOpen;
    return isPrimaryIdentifier && mustBe && !isFound
      ? [
          fault(
            `mappings.${index}.isPrimaryIdentifier`,
            "is no field by which the destination finds a row",
          ),
        ]
      : [];
  });
  const mapped = new Set(mappings.map(({ to }) => to));
  const missing =
    operation === "update"
      ? []
      : object.fields.filter(({ name, isRequired }) => isRequired && !mapped.has(name));
  return [...faults, ...missing.map(({ name }) => fault("mappings", `need the field ${name}`))];
}

/** @throws invalid_mapping with the places */
export function requireNone(faults: readonly FieldFault[]): void {
  if (faults.length > 0) throw refuseFields("invalid_mapping", faults.slice(0, 20));
}

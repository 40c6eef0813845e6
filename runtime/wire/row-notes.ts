/** Where the notes of a bare row stand. */
export const metaField = "_svc_meta";
/** Most notes that one row has. */
export const maxNotesPerRow = 20;

/**
 * The note of a row on a value that did not fit: AirbyteRecordMessageMeta. Of the protocol's
 * reasons, "could not be read or written" is the one for a value of another type.
 */
export function noteOf(field: string) {
  return { field, change: "NULLED", reason: "SOURCE_SERIALIZATION_ERROR" } as const;
}

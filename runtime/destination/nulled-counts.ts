import { type StreamDescriptor, streamKey } from "../contract/catalog.ts";

/** Values that the place of a destination could not hold and that are null there. */
export interface NulledCounts {
  add(stream: StreamDescriptor, count: number): void;
  of(stream: StreamDescriptor): number;
}

export function createNulledCounts(): NulledCounts {
  const counts = new Map<string, number>();
  const of = (stream: StreamDescriptor) => counts.get(streamKey(stream)) ?? 0;
  return {
    of,
    add(stream, count) {
      if (count > 0) counts.set(streamKey(stream), of(stream) + count);
    },
  };
}

/** Doubles of 32 bits have fewer digits than this below 2^-126. */
const smallestNormal = 2 ** -126;

const floats = new Float32Array(1);
const bits = new Int32Array(floats.buffer);

/**
 * The double that is written with the fewest digits that mean this float of 32 bits and no other,
 * as the server writes it: 0.1, and not 0.10000000149011612.
 */
export function shortestFloat(float: number): number {
  if (Number.isInteger(float) ? Math.abs(float) < 2 ** 24 : !Number.isFinite(float)) return float;
  for (let digits = Math.abs(float) < smallestNormal ? 1 : 6; digits < 9; digits++) {
    const candidate = Number(float.toPrecision(digits));
    if (Math.fround(candidate) === float && !isBetweenFloats(candidate, float)) return candidate;
  }
  return Number(float.toPrecision(9));
}

/** Half-way to the next float: who reads it may round it to that. */
function isBetweenFloats(candidate: number, float: number): boolean {
  floats[0] = float;
  bits[0] = (bits[0] as number) + (Math.abs(candidate) > Math.abs(float) ? 1 : -1);
  return candidate === (float + (floats[0] as number)) / 2;
}

/** Tells stretches of bytes apart without keeping them. */

/** A print of bytes: equal bytes have equal prints, and other bytes nearly always another. FNV-1a over 32 bits, with the length. */
export function printOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return (hash >>> 0) * 2 ** 20 + (bytes.length % 2 ** 20);
}

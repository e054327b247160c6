/** Bounds of the live controller; those of the protocol are in contract.ts. */

/** The window in which a stop, an acknowledgement or a rebuilt commit is written: they end something, so no expired permission bars them. */
export const handoffStopWindowMs = 5000;

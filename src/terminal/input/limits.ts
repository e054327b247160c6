/** The bounds of input. Each has a test at its limit. */

/** How long an Escape may be the start of a sequence before it is the key. */
export const escapeMs = 50;

/** How long the rest of a sequence may stay away before its start is taken for a key, or for nothing. */
export const brokenOffMs = 1_000;

/** How long a paste may pause before it is taken for ended: without its end mark no key would ever be heard again. */
export const pastePauseMs = 10_000;

/** Units of one control sequence; a longer one is swallowed to its end. */
export const sequenceUnitsMax = 256;

/** Units of one string sequence (OSC, DCS, APC); what is beyond is swallowed. */
export const stringUnitsMax = 4_096;

/** Units of one paste: four times what a prompt may hold. What is beyond is left out, and the key says how much. */
export const pasteUnitsMax = 4_000_000;

/** How long the end of the program waits for an answer that is still on its way. */
export const settleMs = 100;

/** How long an answer that came too late is still taken for the answer of its own question. */
export const lateMs = 2_000;

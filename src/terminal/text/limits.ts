/** The caps of the text layer. Each has a test at its limit. */

/** Combining marks kept on one base character; what follows in the same run is counted and told. */
export const combiningMarksMax = 16;

/** Equal control characters in a row that are shown one by one; a longer run is shown once with its count. */
export const repeatsShownMax = 3;

/** Characters shown of the payload of an escape string (OSC, DCS, APC, PM, SOS); the rest is counted. */
export const payloadShownMax = 48;

/** Code units looked at to decide whether a text is mostly binary. */
export const binarySampleUnits = 4_096;

/** The bounds of talking to an agent in the terminal. Each has a test at its limit. */

/** A question takes no answer within this time after it appeared, or after the last key that was typed into the prompt. */
export const answerGuardMs = 500;

/** Ways to answer that have a key and a row. */
export const optionsMax = 9;

/** Steps of the plan that are shown at once. */
export const planRowsMax = 5;

/** Prompts shown that wait for the running turn, and those remembered. */
export const queuedRowsMax = 3;
export const queuedPromptsMax = 100;

/** A second press of the key that leaves counts for this long. */
export const leaveAgainMs = 3_000;

/** Prompts of the session that Up brings back from before it was opened. */
export const seedPromptsMax = 100;

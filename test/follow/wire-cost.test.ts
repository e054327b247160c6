import { expect, it } from "vitest";
import { makeAnswer, payloadRatio, wireCost } from "../../bench/follow-wire.ts";

it.each([
  [4, 1],
  [4, 8],
  [200, 1],
])("an answer in deltas of %i characters, %i a look, crosses once", (chars, looks) => {
  const cost = wireCost(makeAnswer(), chars, looks);
  expect(payloadRatio(cost)).toBeLessThanOrEqual(1.3);
  expect(payloadRatio(cost)).toBeGreaterThanOrEqual(1);
  expect(cost.fixedBytes).toBeLessThan(160);
  expect(cost.wholeBytes).toBeGreaterThan(cost.appendBytes * 4);
});

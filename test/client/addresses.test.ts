import { afterAll, expect, it } from "vitest";
import { apiKeyStamper, createClient } from "../../src/client/index.js";
import { startLab } from "../../src/lab/index.js";
const lab = await startLab();
afterAll(() => lab.close());
it("works", async () => {
  const client = createClient({ baseUrl: lab.baseUrl, organizationId: lab.organizationId, stamper: await apiKeyStamper(lab.apiKey) });
  const steps: string[] = [];
  const rows = [];
  for await (const row of client.withVerification(lab.policy).addresses({ onProgress: ({ step }) => steps.push(step) })) rows.push(row);
  console.log(rows, steps);
  expect(rows).toHaveLength(2);
});

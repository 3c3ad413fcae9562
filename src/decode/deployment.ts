/**
 * What the service says of a deployment of an application of one's own (client/README.md, "Applications of your own").
 * It is signed by nobody, except for the approvals.
 */
import { type ReadOf, flag, list, nonEmptyText, nullish, number, openObject, text } from "./shapes.js";

const operatorShape = openObject({ id: nullish(text), name: nullish(text), publicKey: nullish(text) });

const operatorSetShape = openObject({
  id: nullish(text),
  name: nullish(text),
  organizationId: nullish(text),
  operators: nullish(list(operatorShape)),
  threshold: nullish(number),
});

/** The members without times. `manifest.manifest` and `approval` are base64. */
export const DEPLOYMENT_MEMBERS = {
  id: nonEmptyText,
  organizationId: nonEmptyText,
  appId: nonEmptyText,
  manifestSet: nullish(operatorSetShape),
  shareSet: nullish(operatorSetShape),
  manifest: openObject({ id: nullish(text), manifest: nonEmptyText }),
  manifestApprovals: nullish(list(openObject({ operator: nullish(operatorShape), approval: nullish(text) }))),
  qosVersion: nullish(text),
  pivotContainer: nullish(openObject({ containerUrl: nullish(text), path: nullish(text), args: nullish(list(text)) })),
  delete: nullish(flag),
  debugMode: nullish(flag),
  provisioningState: nullish(text),
};

export const deploymentShape = /* @__PURE__ */ openObject(DEPLOYMENT_MEMBERS);
export interface DeploymentAnswer extends ReadOf<typeof deploymentShape> {}
